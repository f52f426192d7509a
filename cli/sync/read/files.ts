/** Writes items as files, with the names and formats of existing clients, so that both can share a folder. */
import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { isFileExtension } from "../../../src/features/assets/resources/types.ts";
import { createCodeAppFiles } from "./apps/code-app.ts";
import { toBranchName } from "./branch-items.ts";
import { listCodeOwners, RUNS_OWN_CODE, toCanonicalFields } from "./canonical.ts";
import type { LocalFolder, LocalItem } from "./folder.ts";
import { findCodebase } from "./folder-settings.ts";
import { compareBySortKey, extractCode, listAppCode, listFlowCode, type Naming } from "./inline.ts";
import {
  DEPENDENCIES_FOLDER,
  type Fields,
  getFileEnding,
  getItemSuffix,
  type Item,
  type Kind,
  parseScriptName,
} from "./items.ts";
import { resolveItemFile } from "./layout.ts";
import { type FileFormat, preserveFormatting } from "./preserve-formatting.ts";
import { groupSettings } from "./settings-form.ts";

/** File ending by resource type, without the dot, for types that are stored as files. */
export type FileTypes = Record<string, string>;

export interface FileStyle {
  folder: Pick<LocalFolder, "naming" | "settings">;
  file_types: FileTypes;
}

/**
 * Creates the files of an item, by name below the folder.
 * @param before the item in the folder, whose file names are kept
 */
export function createItemFiles(item: Item, style: FileStyle, before?: LocalItem): Map<string, string> {
  const fields = structuredClone(item.fields);
  const { kind, path } = item;
  const asJson = before?.files[0]?.endsWith(".json") ?? false;
  const write = (name: string, content: Fields): [string, string] =>
    asJson
      ? [`${name}.json`, `${JSON.stringify(content, undefined, 2)}\n`]
      : [`${name}.yaml`, formatYaml(content)];
  switch (kind) {
    case "script":
      return createScriptFiles(path, fields, write, style, before);
    case "flow": {
      const folder = `${path}${folderSuffix(".flow", style.folder.naming)}`;
      const files = extractCode(listFlowCode(fields.value), style.folder.naming, before?.inline ?? new Map());
      return new Map([write(`${folder}/flow`, fields), ...prefixNames(folder, files)]);
    }
    case "app":
      return createAppFiles(path, fields, write, style.folder.naming);
    case "raw app": {
      const folder = `${path}${folderSuffix(".raw_app", style.folder.naming)}`;
      const bundle = String(fields.value);
      return new Map([
        write(`${folder}/raw_app`, { ...fields, value: "!inline bundle.js" }),
        [`${folder}/bundle.js`, bundle],
      ]);
    }
    case "code app": {
      const folder = `${path}${folderSuffix(".raw_app", style.folder.naming)}`;
      const { settings } = style.folder;
      const policy = toCanonicalFields(item).policy as Fields | undefined;
      const isOther = policy && !Bun.deepEquals(policy, { execution_mode: "anonymous" });
      return new Map([
        ...prefixNames(folder, createCodeAppFiles(fields, settings.default_ts, formatYaml)),
        ...(isOther ? [write(`${path}.policy`, policy)] : []),
      ]);
    }
    case "resource":
      return createResourceFiles(path, fields, write, style.file_types);
    case "encryption key":
      return new Map([[`encryption_key.${asJson ? "json" : "yaml"}`, `${JSON.stringify(fields.key)}\n`]]);
    case "dependencies":
      return new Map([[DEPENDENCIES_FOLDER + path, String(fields.content)]]);
    case "settings":
      return new Map([write("settings", before?.is_grouped ? groupSettings(fields) : fields)]);
    default:
      return new Map([write(itemName(kind, path), fields)]);
  }
}

type FileWriter = (name: string, content: Fields) => [name: string, text: string];

const folderSuffix = (suffix: string, { dotted }: Naming): string =>
  dotted ? suffix : suffix.replace(".", "__");

const prefixNames = (folder: string, files: Map<string, string>): [string, string][] =>
  [...files].map(([name, text]) => [`${folder}/${name}`, text]);

function itemName(kind: Kind, path: string): string {
  if (kind === "folder") return `f/${path}/folder.meta`;
  if (kind === "group") return `groups/${path}.group`;
  return path + getItemSuffix(kind);
}

function createScriptFiles(
  path: string,
  fields: Fields,
  write: FileWriter,
  { folder }: FileStyle,
  before?: LocalItem,
): Map<string, string> {
  const { content, language, ...described } = fields;
  const there = before?.files.find((name) => parseScriptName(name)?.language === language);
  const source = there ?? `${path}${getFileEnding(String(language))}`;
  const files = new Map([[source, String(content)]]);
  // It is computed from the folder's files.
  if (findCodebase(folder.settings, source)) delete described.codebase;
  if (described.lock) {
    files.set(`${path}.script.lock`, String(described.lock));
    described.lock = `!inline ${path}.script.lock`;
  }
  return new Map([write(`${path}.script`, described), ...files]);
}

/** Creates an app's files. Existing clients compute the policy from the code, so it is kept in a separate file. */
function createAppFiles(
  path: string,
  fields: Fields,
  write: FileWriter,
  naming: Naming,
): Map<string, string> {
  const folder = `${path}${folderSuffix(".app", naming)}`;
  const { policy, ...described } = fields;
  for (const owner of listCodeOwners(described.value)) if (owner.type === RUNS_OWN_CODE) delete owner.type;
  const files = extractCode(listAppCode(described.value), naming, new Map());
  const isPublic = (policy as Fields | undefined)?.execution_mode === "anonymous";
  const main = write(`${folder}/app`, { ...described, ...(isPublic && { public: true }) });
  const beside = policy === undefined ? [] : [write(`${path}.policy`, policy as Fields)];
  return new Map([main, ...prefixNames(folder, files), ...beside]);
}

function createResourceFiles(
  path: string,
  fields: Fields,
  write: FileWriter,
  types: FileTypes,
): Map<string, string> {
  const type = String(fields.resource_type);
  const ending = Object.hasOwn(types, type) ? types[type] : undefined;
  const value = fields.value as Fields | null;
  if (!isFileExtension(ending) || typeof value?.content !== "string") {
    return new Map([write(`${path}.resource`, fields)]);
  }
  const file = `${path}.resource.file.${ending}`;
  const { content } = value;
  value.content = `!inline ${file}`;
  return new Map([write(`${path}.resource`, fields), [file, content]]);
}

export function formatYaml(content: Fields): string {
  return stringify(content, {
    sortMapEntries: (a, b) => compareBySortKey(String(a.key), String(b.key)),
    aliasDuplicateObjects: false,
    singleQuote: true,
  });
}

/** Writes the item's files, and removes files that it no longer has. Hand-written YAML keeps its form. */
export async function writeItem(
  root: string,
  item: Item,
  style: FileStyle,
  before?: LocalItem,
): Promise<void> {
  const { branch_items } = style.folder.settings;
  const files = new Map(
    [...createItemFiles(item, style, before)].map(([name, text]) => [toBranchName(branch_items, name), text]),
  );
  // All names are checked before the first file is written.
  const places = [...files].map(([name, text]) => ({ name, text, file: resolveItemFile(root, name) }));
  for (const { name, text, file } of places) {
    mkdirSync(dirname(file), { recursive: true });
    const there = Bun.file(resolveItemFile(root, name));
    const isKept = name.endsWith(".yaml") && before?.files.includes(name) && (await there.exists());
    await there.write(
      isKept ? preserveFormatting(await there.text(), text, createFileFormat(item, name)) : text,
    );
  }
  if (before)
    removeItemFiles(
      root,
      before.files.filter((name) => !files.has(name)),
    );
}

/** Returns how an item's YAML file is compared and formatted. What is in other files of the item is not compared. */
function createFileFormat({ kind, path }: Item, name: string): FileFormat {
  const isPolicy = name.endsWith(".policy.yaml");
  const elsewhere = kind === "script" ? { content: "", language: "bun" } : {};
  return {
    format: formatYaml,
    toCanonical: (fields) =>
      isPolicy ? fields : toCanonicalFields({ kind, path, fields: { ...fields, ...elsewhere } }),
  };
}

/** Removes the files, and folders that become empty. */
export function removeItemFiles(root: string, names: readonly string[]): void {
  for (const name of names) {
    rmSync(resolveItemFile(root, name), { force: true });
    for (let folder = dirname(name); folder !== "."; folder = dirname(folder)) {
      try {
        rmdirSync(join(root, folder));
      } catch {
        break;
      }
    }
  }
}
