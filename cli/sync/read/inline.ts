/** Code of flows and apps in separate files, named as existing clients do: `!inline <file>` refers to it. */
import { getFileEnding, isLanguage, LANGUAGES_BY_ENDING } from "../../../src/engines/languages/languages.ts";
import type { Fields } from "./items.ts";

/** A script inside a flow (a step) or an app (a component). */
export interface CodePlace {
  /** The step's id; undefined for components. */
  id: string | undefined;
  /** Text from which its file name is created. */
  title: string;
  /** The object with `content`, `language`, and perhaps `lock`. */
  code: Fields;
}

/** Parses `!inline <file>` and returns the file. */
export function parseInlineReference(value: unknown): string | undefined {
  return typeof value === "string" && value.startsWith("!inline ")
    ? value.slice("!inline ".length).trim()
    : undefined;
}

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const toObjects = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Lists the scripts inside a flow's value, in the order in which their files are named. */
export function listFlowCode(value: unknown): CodePlace[] {
  if (!isObject(value)) return [];
  const ends = [value.failure_module, value.preprocessor_module].filter(isObject);
  return [...toObjects(value.modules), ...ends].flatMap(listStepCode);
}

function listStepCode(step: Fields): CodePlace[] {
  const { value } = step;
  if (!isObject(value)) return [];
  switch (value.type) {
    case "rawscript":
      return [{ id: String(step.id), title: String(step.summary ?? step.id), code: value }];
    case "forloopflow":
    case "whileloopflow":
      return toObjects(value.modules).flatMap(listStepCode);
    case "branchall":
    case "branchone":
      return [
        ...toObjects(value.branches).flatMap(({ modules }) => toObjects(modules)),
        ...toObjects(value.default),
      ].flatMap(listStepCode);
    case "aiagent":
      return toObjects(value.tools).flatMap(listStepCode);
    default:
      return [];
  }
}

/** Lists the scripts inside an app's value. */
export function listAppCode(value: unknown): CodePlace[] {
  if (!isObject(value)) return [];
  const entries = Object.entries(value);
  if (!Array.isArray(value)) entries.sort(([a], [b]) => compareBySortKey(a, b));
  return entries.flatMap(([name, inner]) => {
    if (name !== "inlineScript" || !isObject(inner)) return listAppCode(inner);
    return [{ id: undefined, title: String((value as Fields).name ?? ""), code: inner }];
  });
}

/** Sort keys of existing clients, which put descriptive fields first; other names sort by themselves. */
const SORT_KEYS: Record<string, string> = {
  id: "aa",
  version: "aaa",
  type: "ab",
  summary: "ad",
  name: "ae",
  display_name: "af",
  description: "ag",
  value: "ah",
  content: "ai",
  modules: "aj",
  failure_module: "ak",
  input_transforms: "al",
  lock: "az",
  locks: "azz",
};
const sortKey = (name: string): string => (Object.hasOwn(SORT_KEYS, name) ? SORT_KEYS[name]! : name);

export const compareBySortKey = (a: string, b: string): number => sortKey(a).localeCompare(sortKey(b));

/** File extensions that differ from those of scripts. */
const INLINE_ENDINGS: Record<string, string> = {
  bun: "ts",
  bunnative: "ts",
  deno: "deno.ts",
  nativets: "native.ts",
  frontend: "frontend.js",
};

/** Returns the ending of a file with code of this language, without the leading dot. */
export function getInlineEnding(language: string, default_ts: "bun" | "deno" = "bun"): string {
  if (default_ts === "deno" && language === "deno") return "ts";
  if (default_ts === "deno" && language === "bun") return "bun.ts";
  if (Object.hasOwn(INLINE_ENDINGS, language)) return INLINE_ENDINGS[language]!;
  return isLanguage(language) ? getFileEnding(language) : "no_ext";
}

const LANGUAGES_BY_INLINE_ENDING: readonly [ending: string, language: string][] = [
  ...Object.entries(INLINE_ENDINGS).map(([language, ending]): [string, string] => [ending, language]),
  ...LANGUAGES_BY_ENDING,
]
  .filter(([ending]) => ending !== "ts")
  .sort(([a], [b]) => b.length - a.length);

/** Parses the name of a file with code; undefined for other files. */
export function parseCodeFileName(
  name: string,
  default_ts: "bun" | "deno",
): { stem: string; language: string } | undefined {
  const found = LANGUAGES_BY_INLINE_ENDING.find(([ending]) => name.endsWith(`.${ending}`));
  const [ending, language] = found ?? ["ts", default_ts];
  return name.endsWith(`.${ending}`) ? { stem: name.slice(0, -ending.length - 1), language } : undefined;
}

/** Naming style of folders: with dots (the older style) or without (`nonDottedPaths`). */
export interface Naming {
  dotted: boolean;
}

/** @param new_names whether `wmill.yaml` asks for names without dots */
export function detectNaming(new_names: boolean, names: string[]): Naming {
  return { dotted: !(new_names || names.some((name) => /__(flow|app)\//.test(name))) };
}

const UNSAFE_CHARACTERS = /[/\\:*?"<>|\p{C}]|~(?=\d)/gu;
const RESERVED_NAMES = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

function toFileName(title: string): string {
  const name = title
    .replaceAll(" ", "_")
    .replace(UNSAFE_CHARACTERS, "")
    .replace(/_+/g, "_")
    .replace(/^[._]+|[._]+$/g, "")
    .toLowerCase();
  return RESERVED_NAMES.test(name) ? `_${name}` : name;
}

/**
 * Moves code into files and inserts `!inline` references.
 * @param known existing files of steps, by step id
 * @returns the files, by name
 */
export function extractCode(
  places: CodePlace[],
  naming: Naming,
  known: Map<string, string>,
): Map<string, string> {
  const files = new Map<string, string>();
  const taken = new Set<string>();
  let counter = 0;
  for (const { id, title, code } of places) {
    const language = String(code.language);
    const asked = toFileName(title);
    let name = asked || "inline_script_0";
    while (taken.has(name)) {
      counter++;
      name = `${asked || "inline_script"}_${counter}`;
    }
    taken.add(name);
    const ending = getInlineEnding(language);
    const own = id === undefined ? undefined : known.get(id);
    const file = own ?? `${name}${naming.dotted ? ".inline_script" : ""}.${ending}`;
    const stem = file.endsWith(`.${ending}`) ? file.slice(0, -ending.length) : `${file}.`;
    if (typeof code.content === "string" && (id !== undefined || code.content !== "")) {
      files.set(file, code.content);
      code.content = `!inline ${file}`;
    }
    if (typeof code.lock === "string" && code.lock !== "") {
      files.set(`${stem}lock`, code.lock);
      code.lock = `!inline ${stem}lock`;
    }
  }
  return files;
}
