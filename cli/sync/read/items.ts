/** Items of a workspace as files: their kinds and names. */

import { LANGUAGES_BY_ENDING } from "../../../src/engines/languages/languages.ts";

export type Fields = Record<string, unknown>;

/** Returns the strings of a list; none for other values. */
export const filterStrings = (value: unknown): string[] =>
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

/** An item in the form of the archive. A script's code is in `content`, beside its language. */
export interface Item {
  kind: Kind;
  /** The item's path; the name of a folder, group or resource type; empty for the settings. */
  path: string;
  fields: Fields;
}

/** In order of deployment: items before those that refer to them. */
export const SYNCED_KINDS: readonly Kind[] = [
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

export const itemKey = ({ kind, path }: Pick<Item, "kind" | "path">): string => `${kind} ${path}`;

/** Endings of items' files, before `.yaml` or `.json`. */
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

export const itemSuffix = (kind: Kind): string => SUFFIXES.find(([, of]) => of === kind)![0];

/** Parses the name of a file, without `.yaml` or `.json`, into the item it describes; undefined if none. */
export function parseItemName(stem: string): Pick<Item, "kind" | "path"> | undefined {
  if (stem === "settings") return { kind: "settings", path: "" };
  const folder = /^f\/([^/]+)\/folder\.meta$/.exec(stem)?.[1];
  if (folder !== undefined) return { kind: "folder", path: folder };
  const group = /^groups\/([^/]+)\.group$/.exec(stem)?.[1];
  if (group !== undefined) return { kind: "group", path: group };
  const [suffix, kind] = SUFFIXES.find(([ending]) => stem.endsWith(ending)) ?? [];
  if (!suffix || !kind) return undefined;
  const path = stem.slice(0, -suffix.length);
  const isNamed = kind === "resource type" ? !path.includes("/") : isItemPath(path);
  return isNamed ? { kind, path } : undefined;
}

/** Returns the name that globs match for an item. */
export function itemPlace({ kind, path }: Pick<Item, "kind" | "path">): string {
  if (kind === "settings" || kind === "group" || kind === "resource type") return kind;
  if (kind === "folder") return `f/${path}/folder.meta.yaml`;
  return `${path}${itemSuffix(kind)}.yaml`;
}

/** Returns whether the service accepts the text as an item's path. */
export function isItemPath(path: string): boolean {
  return /^[ufg](\/[\w-]+){2,}$/.test(path);
}

/** Languages by file ending; longer endings first, because `.pg.sql` is not `.sql`. */
export const SCRIPT_ENDINGS: [ending: string, language: string][] = [
  ...LANGUAGES_BY_ENDING.map(([ending, language]): [string, string] => [`.${ending}`, language]),
  [".ts", "bun"],
];

/** Returns the ending of a new script's file. */
export function fileEnding(language: string): string {
  if (language === "bun") return ".ts";
  return SCRIPT_ENDINGS.find(([, of]) => of === language)?.[0] ?? `.${language}`;
}

/** Parses the name of a code file into its script; undefined if it is none. */
export function parseScriptName(
  name: string,
): { path: string; ending: string; language: string } | undefined {
  for (const [ending, language] of SCRIPT_ENDINGS) {
    if (!name.endsWith(ending)) continue;
    const path = name.slice(0, -ending.length);
    if (isItemPath(path)) return { path, ending, language };
  }
  return undefined;
}
