/** What a workspace consists of when it is kept as files: kinds of items, and what they are called there. */

import { LANGUAGES_BY_ENDING } from "../../../src/engines/languages/languages.ts";

export type Fields = Record<string, unknown>;

/** The texts of a list; none for what is no list. */
export const asStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

export type Kind =
  | "folder"
  | "resource type"
  | "group"
  | "variable"
  | "resource"
  | "script"
  | "flow"
  | "app"
  | "raw app"
  | "schedule"
  | "http trigger"
  | "websocket trigger"
  | "settings";

/** One thing of a workspace, as the archive has it; a script has its code in `content` and its language beside it. */
export interface Item {
  kind: Kind;
  /** The path of an item; the name of a folder, a group or a resource type; empty for the settings. */
  path: string;
  fields: Fields;
}

/** In the order in which they are deployed: what is named comes before what names it. */
export const KINDS: readonly Kind[] = [
  "folder",
  "resource type",
  "group",
  "variable",
  "resource",
  "script",
  "flow",
  "app",
  "raw app",
  "schedule",
  "http trigger",
  "websocket trigger",
  "settings",
];

export const keyOf = ({ kind, path }: Pick<Item, "kind" | "path">): string => `${kind} ${path}`;

/** What the file of an item ends in, before `.yaml` or `.json`. */
const SUFFIXES: [suffix: string, kind: Kind][] = [
  [".script", "script"],
  [".flow", "flow"],
  [".app", "app"],
  [".raw_app", "raw app"],
  [".resource", "resource"],
  [".resource-type", "resource type"],
  [".variable", "variable"],
  [".schedule", "schedule"],
  [".http_trigger", "http trigger"],
  [".websocket_trigger", "websocket trigger"],
];

export const suffixOf = (kind: Kind): string => SUFFIXES.find(([, of]) => of === kind)![0];

/** Which item a file describes, by its name without `.yaml` or `.json`; undefined where it describes none. */
export function itemAt(stem: string): Pick<Item, "kind" | "path"> | undefined {
  if (stem === "settings") return { kind: "settings", path: "" };
  const folder = /^f\/([^/]+)\/folder\.meta$/.exec(stem)?.[1];
  if (folder !== undefined) return { kind: "folder", path: folder };
  const group = /^groups\/([^/]+)\.group$/.exec(stem)?.[1];
  if (group !== undefined) return { kind: "group", path: group };
  const [suffix, kind] = SUFFIXES.find(([ending]) => stem.endsWith(ending)) ?? [];
  if (!suffix || !kind) return undefined;
  const path = stem.slice(0, -suffix.length);
  const isNamed = kind === "resource type" ? !path.includes("/") : isPath(path);
  return isNamed ? { kind, path } : undefined;
}

/** The file that describes an item, as globs see it. */
export function placeOfItem({ kind, path }: Pick<Item, "kind" | "path">): string {
  if (kind === "settings" || kind === "group" || kind === "resource type") return kind;
  if (kind === "folder") return `f/${path}/folder.meta.yaml`;
  return `${path}${suffixOf(kind)}.yaml`;
}

/** What the service takes for the path of an item. */
export function isPath(path: string): boolean {
  return /^[ufg](\/[\w-]+){2,}$/.test(path);
}

/** By the ending of a script's file. The longer ones come first: `.pg.sql` is no `.sql`. */
export const SCRIPT_ENDINGS: [ending: string, language: string][] = [
  ...LANGUAGES_BY_ENDING.map(([ending, language]): [string, string] => [`.${ending}`, language]),
  [".ts", "bun"],
];

/** The ending of a new script's file. */
export function endingOf(language: string): string {
  if (language === "bun") return ".ts";
  return SCRIPT_ENDINGS.find(([, of]) => of === language)?.[0] ?? `.${language}`;
}

/** The script whose code a file is; undefined where it is none's. */
export function scriptAt(name: string): { path: string; ending: string; language: string } | undefined {
  for (const [ending, language] of SCRIPT_ENDINGS) {
    if (!name.endsWith(ending)) continue;
    const path = name.slice(0, -ending.length);
    if (isPath(path)) return { path, ending, language };
  }
  return undefined;
}
