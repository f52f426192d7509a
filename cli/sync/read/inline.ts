/**
 * Code that is part of a flow or an app stands in files of its own beside it, under the names that existing clients give
 * them: `!inline <file>` is in its place.
 */
import type { Fields } from "./items.ts";

/** Where code stands: a step of a flow, or what a component of an app runs. */
export interface Place {
  /** The step's id; components of apps have none. */
  id: string | undefined;
  /** What its file is called after. */
  title: string;
  /** Has `content`, `language`, and maybe `lock`. */
  code: Fields;
}

/** The file that is named in the place of a value. */
export function ownFile(value: unknown): string | undefined {
  return typeof value === "string" && value.startsWith("!inline ")
    ? value.slice("!inline ".length).trim()
    : undefined;
}

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The scripts inside a flow's value, in the order in which their files are named. */
export function placesOfFlow(value: unknown): Place[] {
  if (!isObject(value)) return [];
  const ends = [value.failure_module, value.preprocessor_module].filter(isObject);
  return [...listOf(value.modules), ...ends].flatMap(placesOfStep);
}

function placesOfStep(step: Fields): Place[] {
  const { value } = step;
  if (!isObject(value)) return [];
  switch (value.type) {
    case "rawscript":
      return [{ id: String(step.id), title: String(step.summary ?? step.id), code: value }];
    case "forloopflow":
    case "whileloopflow":
      return listOf(value.modules).flatMap(placesOfStep);
    case "branchall":
    case "branchone":
      return [
        ...listOf(value.branches).flatMap(({ modules }) => listOf(modules)),
        ...listOf(value.default),
      ].flatMap(placesOfStep);
    case "aiagent":
      return listOf(value.tools).flatMap(placesOfStep);
    default:
      return [];
  }
}

/** The scripts inside an app's value. */
export function placesOfApp(value: unknown): Place[] {
  if (!isObject(value)) return [];
  const entries = Object.entries(value);
  if (!Array.isArray(value)) entries.sort(([a], [b]) => byRank(a, b));
  return entries.flatMap(([name, inner]) => {
    if (name !== "inlineScript" || !isObject(inner)) return placesOfApp(inner);
    return [{ id: undefined, title: String((value as Fields).name ?? ""), code: inner }];
  });
}

/** What existing clients sort names by, where it is not the name itself: what tells most stands first. */
const RANKS: Record<string, string> = {
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
const rankOf = (name: string): string => (Object.hasOwn(RANKS, name) ? RANKS[name]! : name);

export const byRank = (a: string, b: string): number => rankOf(a).localeCompare(rankOf(b));

const ENDINGS: Record<string, string> = {
  bun: "ts",
  bunnative: "ts",
  deno: "deno.ts",
  nativets: "native.ts",
  frontend: "frontend.js",
  bash: "sh",
  python3: "py",
  postgresql: "pg.sql",
  mysql: "my.sql",
  graphql: "gql",
};

/** How the folder's files are named: with dots, as they were first, or without (`nonDottedPaths`). */
export interface Naming {
  dotted: boolean;
}

const UNSAFE = /[/\\:*?"<>|\p{C}]|~(?=\d)/gu;
const RESERVED = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

function fileNameOf(title: string): string {
  const name = title
    .replaceAll(" ", "_")
    .replace(UNSAFE, "")
    .replace(/_+/g, "_")
    .replace(/^[._]+|[._]+$/g, "")
    .toLowerCase();
  return RESERVED.test(name) ? `_${name}` : name;
}

/**
 * Takes the code out of the places and puts `!inline` there instead.
 * @param known files of steps that have one already, by the steps' ids
 * @returns the files, by name
 */
export function takeOut(places: Place[], naming: Naming, known: Map<string, string>): Map<string, string> {
  const files = new Map<string, string>();
  const taken = new Set<string>();
  let counter = 0;
  for (const { id, title, code } of places) {
    const language = String(code.language);
    const asked = fileNameOf(title);
    let name = asked || "inline_script_0";
    while (taken.has(name)) {
      counter++;
      name = `${asked || "inline_script"}_${counter}`;
    }
    taken.add(name);
    const ending = Object.hasOwn(ENDINGS, language) ? ENDINGS[language]! : "no_ext";
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
