/** Items of a workspace as files: their kinds and names. */

import { LANGUAGES_BY_ENDING } from "../../../src/engines/languages/languages.ts";
import { parseDependencyFileName } from "../../../src/features/code/dependencies/dependency-files.ts";
import {
  STORED_KINDS,
  type StoredKind,
  type StoredKindName,
} from "../../../src/features/triggers/common/stored/kinds.ts";

export type Fields = Record<string, unknown>;

/** Returns the strings in a list; empty for other values. */
export const filterStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

export type Kind =
  | "folder"
  | "resource type"
  | "dependencies"
  | "encryption key"
  | "group"
  | "variable"
  | "resource"
  | "script"
  | "flow"
  | "app"
  | "raw app"
  | "code app"
  | "schedule"
  | "http trigger"
  | "websocket trigger"
  | StoredTriggerKind
  | "settings";

/** Triggers that the service stores and does not run. */
type StoredTriggerKind = `${StoredKindName} trigger`;

const STORED_TRIGGERS = STORED_KINDS.map((each) => ({ ...each, item: `${each.kind} trigger` as const }));

/** Returns the kind of a trigger that the service does not run; undefined for other items. */
export const findStoredKind = (kind: Kind): (StoredKind & { kind: StoredKindName }) | undefined =>
  STORED_TRIGGERS.find(({ item }) => item === kind);

/** Kinds of triggers, except schedules. */
export const TRIGGER_KINDS: readonly Kind[] = [
  "http trigger",
  "websocket trigger",
  ...STORED_TRIGGERS.map(({ item }) => item),
];

/** An item in the form of the archive. `content` is a script's code or a list of dependencies, with its language. */
export interface Item {
  kind: Kind;
  /**
   * The item's path; or the name of a folder, group, resource type or dependency file; empty for kinds of which a
   * workspace has one.
   */
  path: string;
  fields: Fields;
  /** Bundles a script of a codebase with everything it imports. @throws CliError */
  bundle?: () => Promise<string>;
  /** Builds the page of an app of code. @throws CliError */
  build?: () => Promise<AppBundle>;
}

/** Files that a browser loads for an app of code. */
export interface AppBundle {
  js: string;
  css: string;
}

/** Kinds in order of deployment: items before those that refer to them. */
export const SYNCED_KINDS: readonly Kind[] = [
  "folder",
  "resource type",
  "dependencies",
  "encryption key",
  "group",
  "variable",
  "resource",
  "script",
  "flow",
  "app",
  "raw app",
  "code app",
  "schedule",
  ...TRIGGER_KINDS,
  "settings",
];

export const getItemKey = ({ kind, path }: Pick<Item, "kind" | "path">): string => `${kind} ${path}`;

/** Endings of items' files, before `.yaml` or `.json`. */
const SUFFIXES: [suffix: string, kind: Kind][] = [
  [".script", "script"],
  [".flow", "flow"],
  [".app", "app"],
  [".raw_app", "raw app"],
  [".raw_app", "code app"],
  [".resource", "resource"],
  [".resource-type", "resource type"],
  [".variable", "variable"],
  [".schedule", "schedule"],
  ...TRIGGER_KINDS.map((kind): [string, Kind] => [`.${kind.replace(" ", "_")}`, kind]),
];

export const getItemSuffix = (kind: Kind): string => SUFFIXES.find(([, of]) => of === kind)![0];

/** Parses the name of a file, without `.yaml` or `.json`, into the item it describes; undefined if none. */
export function parseItemName(stem: string): Pick<Item, "kind" | "path"> | undefined {
  if (stem === "settings") return { kind: "settings", path: "" };
  if (stem === "encryption_key") return { kind: "encryption key", path: "" };
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

export const DEPENDENCIES_FOLDER = "dependencies/";

/** Parses the name of a file with workspace dependencies into its item; undefined for other files. */
export function parseDependenciesName(file: string): Pick<Item, "kind" | "path"> | undefined {
  return parseDependencyFileName(file)
    ? { kind: "dependencies", path: file.slice(DEPENDENCIES_FOLDER.length) }
    : undefined;
}

/** Returns the name that globs match for an item. */
export function getGlobName({ kind, path }: Pick<Item, "kind" | "path">): string {
  if (kind === "settings" || kind === "encryption key" || kind === "group" || kind === "resource type")
    return kind;
  if (kind === "folder") return `f/${path}/folder.meta.yaml`;
  if (kind === "dependencies") return DEPENDENCIES_FOLDER + path;
  return `${path}${getItemSuffix(kind)}.yaml`;
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
export function getFileEnding(language: string): string {
  if (language === "bun") return ".ts";
  return SCRIPT_ENDINGS.find(([, of]) => of === language)?.[0] ?? `.${language}`;
}

/** Parses the name of a code file into its script; undefined for other files. */
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
