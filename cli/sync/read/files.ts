/** Items as files, named and written as existing clients do, so that a folder can be theirs as well. */
import { mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { isExtension } from "../../../src/features/assets/resources/types.ts";
import { ownersOfCode, RUNS_OWN_CODE } from "./canonical.ts";
import type { LocalItem } from "./folder.ts";
import { byRank, type Naming, placesOfApp, placesOfFlow, takeOut } from "./inline.ts";
import { endingOf, type Fields, type Item, type Kind, scriptAt, suffixOf } from "./items.ts";
import { placeOf } from "./layout.ts";

/** By resource type, for those that are a file: its ending, without the dot. */
export type FileTypes = Record<string, string>;

export interface Style {
  naming: Naming;
  file_types: FileTypes;
}

/**
 * The files of an item, by name below the folder.
 * @param before how it lies there now: its files keep their names
 */
export function filesOf(item: Item, style: Style, before?: LocalItem): Map<string, string> {
  const fields = structuredClone(item.fields);
  const { kind, path } = item;
  const asJson = before?.files[0]?.endsWith(".json") ?? false;
  const write = (name: string, content: Fields): [string, string] =>
    asJson
      ? [`${name}.json`, `${JSON.stringify(content, undefined, 2)}\n`]
      : [`${name}.yaml`, toYaml(content)];
  switch (kind) {
    case "script":
      return scriptFiles(path, fields, write, before);
    case "flow": {
      const folder = `${path}${inFolder(".flow", style.naming)}`;
      const files = takeOut(placesOfFlow(fields.value), style.naming, before?.inline ?? new Map());
      return new Map([write(`${folder}/flow`, fields), ...below(folder, files)]);
    }
    case "app":
      return appFiles(path, fields, write, style.naming);
    case "raw app": {
      const folder = `${path}${inFolder(".raw_app", style.naming)}`;
      const bundle = String(fields.value);
      return new Map([
        write(`${folder}/raw_app`, { ...fields, value: "!inline bundle.js" }),
        [`${folder}/bundle.js`, bundle],
      ]);
    }
    case "resource":
      return resourceFiles(path, fields, write, style.file_types);
    default:
      return new Map([write(nameOf(kind, path), fields)]);
  }
}

type Write = (name: string, content: Fields) => [name: string, text: string];

const inFolder = (suffix: string, { dotted }: Naming): string =>
  dotted ? suffix : suffix.replace(".", "__");

const below = (folder: string, files: Map<string, string>): [string, string][] =>
  [...files].map(([name, text]) => [`${folder}/${name}`, text]);

function nameOf(kind: Kind, path: string): string {
  if (kind === "settings") return "settings";
  if (kind === "folder") return `f/${path}/folder.meta`;
  if (kind === "group") return `groups/${path}.group`;
  return path + suffixOf(kind);
}

function scriptFiles(path: string, fields: Fields, write: Write, before?: LocalItem): Map<string, string> {
  const { content, language, ...described } = fields;
  const source = before?.files.find((name) => scriptAt(name)?.language === language);
  const files = new Map([[source ?? `${path}${endingOf(String(language))}`, String(content)]]);
  if (described.lock) {
    files.set(`${path}.script.lock`, String(described.lock));
    described.lock = `!inline ${path}.script.lock`;
  }
  return new Map([write(`${path}.script`, described), ...files]);
}

/** Existing clients make the policy anew from what the app runs; what was said of it is kept in a file of its own. */
function appFiles(path: string, fields: Fields, write: Write, naming: Naming): Map<string, string> {
  const folder = `${path}${inFolder(".app", naming)}`;
  const { policy, ...described } = fields;
  for (const owner of ownersOfCode(described.value)) if (owner.type === RUNS_OWN_CODE) delete owner.type;
  const files = takeOut(placesOfApp(described.value), naming, new Map());
  const isPublic = (policy as Fields | undefined)?.execution_mode === "anonymous";
  const main = write(`${folder}/app`, { ...described, ...(isPublic && { public: true }) });
  const beside = policy === undefined ? [] : [write(`${path}.policy`, policy as Fields)];
  return new Map([main, ...below(folder, files), ...beside]);
}

function resourceFiles(path: string, fields: Fields, write: Write, types: FileTypes): Map<string, string> {
  const type = String(fields.resource_type);
  const ending = Object.hasOwn(types, type) ? types[type] : undefined;
  const value = fields.value as Fields | null;
  if (!isExtension(ending) || typeof value?.content !== "string") {
    return new Map([write(`${path}.resource`, fields)]);
  }
  const file = `${path}.resource.file.${ending}`;
  const { content } = value;
  value.content = `!inline ${file}`;
  return new Map([write(`${path}.resource`, fields), [file, content]]);
}

export function toYaml(content: Fields): string {
  return stringify(content, {
    sortMapEntries: (a, b) => byRank(String(a.key), String(b.key)),
    aliasDuplicateObjects: false,
    singleQuote: true,
  });
}

/** Puts the item's files into the folder, and takes away those that it had and has no more. */
export async function writeItem(root: string, item: Item, style: Style, before?: LocalItem): Promise<void> {
  const files = filesOf(item, style, before);
  // All names are looked at before one file is written.
  const places = [...files].map(([name, text]) => ({ name, text, file: placeOf(root, name) }));
  for (const { name, text, file } of places) {
    mkdirSync(dirname(file), { recursive: true });
    await Bun.write(placeOf(root, name), text);
  }
  if (before)
    removeFiles(
      root,
      before.files.filter((name) => !files.has(name)),
    );
}

/** Takes the files away, and folders that are empty then. */
export function removeFiles(root: string, names: readonly string[]): void {
  for (const name of names) {
    rmSync(placeOf(root, name), { force: true });
    for (let folder = dirname(name); folder !== "."; folder = dirname(folder)) {
      try {
        rmdirSync(join(root, folder));
      } catch {
        break;
      }
    }
  }
}
