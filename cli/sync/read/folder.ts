/** Reads the items of a workspace from a folder of files. */
import { dirname, join } from "node:path";
import { readInlineFile } from "../../jobs/flow-file.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { bundleApp } from "./apps/bundle-app.ts";
import { readCodeApp } from "./apps/code-app.ts";
import { completePolicy } from "./apps/stored-policy.ts";
import { type ItemSelection, isSelected } from "./archive.ts";
import { type SyncTarget, toBranchName, toPlainName } from "./branch-items.ts";
import { bundleScript, digestCodebase } from "./codebase.ts";
import {
  type Codebase,
  type FolderSettings,
  findCodebase,
  isIncluded,
  readSettings,
} from "./folder-settings.ts";
import {
  type CodePlace,
  detectNaming,
  listAppCode,
  listFlowCode,
  type Naming,
  parseInlineReference,
} from "./inline.ts";
import {
  type Fields,
  getItemKey,
  type Item,
  isItemPath,
  parseDependenciesName,
  parseItemName,
  parseScriptName,
} from "./items.ts";
import { isInLayout, listNames } from "./layout.ts";
import { parseFile } from "./parse-file.ts";
import { readSettingsForm } from "./settings-form.ts";

/** An item with the files it was read from. */
export interface LocalItem extends Item {
  /** Names below the folder: the file that describes the item, and its code files. */
  files: string[];
  /** Code files of a flow's steps, by step id. */
  inline: Map<string, string>;
  /** Of settings: whether their file has the form of newer clients. */
  is_grouped?: true;
}

export interface LocalFolder {
  root: string;
  naming: Naming;
  items: Map<string, LocalItem>;
  /** Items that could not be read. */
  problems: FileProblem[];
  /** Files in item folders that belong to no item. */
  strays: string[];
  /** Secrets whose values the selection leaves out. */
  left_secrets: LocalItem[];
  settings: FolderSettings;
}

export interface FileProblem {
  file: string;
  reason: string;
}

/** Files inside the folder of a flow or app, in both naming styles. */
const INSIDE_FOLDER = /(?:\.|__)(flow|app|raw_app)\//;

/** Reads a folder. Invalid files are reported as problems; the rest is read. */
export async function readFolder(
  root: string,
  selection: ItemSelection,
  target: SyncTarget,
): Promise<LocalFolder> {
  const settings = await readSettings(root, target);
  const names = (await listNames(root)).filter((name) => isIncluded(settings, name));
  const reader = new FolderReader(root, new Set(names), settings);
  const items = new Map<string, LocalItem>();
  const problems: FileProblem[] = [];
  const known = new Set<string>();
  const left_secrets: LocalItem[] = [];
  for (const name of names) {
    try {
      const item = await reader.read(name);
      if (!item) continue;
      for (const file of [name, ...item.files]) known.add(file);
      if (!isSelected(item, selection)) {
        if (isSelected(item, { ...selection, secrets: "plain" }) && item.kind === "variable")
          left_secrets.push(item);
        continue;
      }
      const before = items.get(getItemKey(item));
      if (before) {
        throw createUsageError(
          `${item.kind} ${item.path} is described twice: ${before.files[0]}, ${item.files[0]}`,
        );
      }
      items.set(getItemKey(item), item);
    } catch (cause) {
      if (!(cause instanceof CliError)) throw cause;
      known.add(name);
      if (!problems.some(({ reason }) => reason === cause.message)) {
        problems.push({ file: name, reason: cause.message });
      }
    }
  }
  const strays = names.filter((name) => ITEM_PLACES.test(name) && !known.has(name) && !reader.isPart(name));
  return {
    root,
    naming: detectNaming(settings.new_names, names),
    items,
    problems,
    strays,
    left_secrets,
    settings,
  };
}

/** Folders that contain items. */
const ITEM_PLACES = /^[ufg]\/|^(?:groups|users|dependencies)\/|^encryption_key\./;

class FolderReader {
  readonly root: string;
  readonly names: Set<string>;
  readonly settings: FolderSettings;
  /** Code files by the path of their script. */
  readonly #sources = new Map<string, string[]>();
  readonly #digests = new Map<Codebase, Promise<string>>();

  constructor(root: string, names: Set<string>, settings: FolderSettings) {
    this.root = root;
    this.names = names;
    this.settings = settings;
    for (const name of names) {
      const script = INSIDE_FOLDER.test(name) ? undefined : parseScriptName(name);
      if (script) this.#sources.set(script.path, [...(this.#sources.get(script.path) ?? []), name]);
    }
  }

  /** Whether the file is a script's code, or inside a codebase or the folder of a flow or app. */
  isPart(name: string): boolean {
    return (
      this.settings.codebases.some(({ path }) => name.startsWith(`${path}/`)) ||
      INSIDE_FOLDER.test(name) ||
      parseScriptName(name) !== undefined ||
      /\.(?:script\.lock|policy\.yaml)$/.test(name)
    );
  }

  /** Reads the item that this file describes; undefined for all other files. */
  async read(name: string): Promise<LocalItem | undefined> {
    if (INSIDE_FOLDER.test(name)) return this.#readInside(name);
    const list = parseDependenciesName(name);
    if (list) {
      const content = await Bun.file(join(this.root, name)).text();
      return { ...list, fields: { content }, files: [name], inline: new Map() };
    }
    const plain = toPlainName(this.settings.branch_items, name);
    if (plain === undefined) return undefined;
    const stem = /^(.*)\.(?:yaml|json)$/.exec(plain)?.[1];
    const at = stem === undefined ? undefined : parseItemName(stem);
    if (at?.kind === "encryption key") {
      const key = await parseFile(this.root, name, "string");
      return { ...at, fields: { key }, files: [name], inline: new Map() };
    }
    if (at?.kind === "script") return this.#readScript(at.path, name);
    if (at && at.kind !== "flow" && at.kind !== "app" && at.kind !== "raw app") {
      const fields = await parseFile(this.root, name);
      const files = [name];
      if (at.kind === "settings") return { ...at, ...readSettingsForm(fields), files, inline: new Map() };
      if (at.kind === "resource") await this.#readFileOf(fields, files, plain);
      return { ...at, fields, files, inline: new Map() };
    }
    const script = parseScriptName(name);
    const isDescribed =
      script && ["yaml", "json"].some((as) => this.names.has(`${script.path}.script.${as}`));
    return script && !isDescribed ? this.#readScript(script.path) : undefined;
  }

  async #readScript(path: string, description?: string): Promise<LocalItem> {
    const sources = this.#sources.get(path) ?? [];
    const [source] = sources;
    if (source === undefined) throw createUsageError(`${description}: there is no code beside it`);
    if (sources.length > 1) throw createUsageError(`script ${path} has several files: ${sources.join(", ")}`);
    const codebase = findCodebase(this.settings, source);
    const fields = description ? await parseFile(this.root, description) : {};
    const files = description ? [description, source] : [source];
    const lock = /^!inline (.+)$/.exec(String(fields.lock ?? ""))?.[1]?.trim();
    const beside = `${path}.script.lock`;
    if (lock !== undefined && !this.names.has(lock) && isInLayout(lock)) {
      // The lock of a bundled codebase is recomputed.
      delete fields.lock;
    } else if (lock !== undefined) {
      fields.lock = await readInlineFile(lock, this.root, `${description}, \`lock\``);
      files.push(lock);
    } else if (Array.isArray(fields.lock)) fields.lock = fields.lock.join("\n");
    else if (!description && this.names.has(beside)) {
      fields.lock = await Bun.file(join(this.root, beside)).text();
      files.push(beside);
    }
    fields.content = await Bun.file(join(this.root, source)).text();
    const { ending, language } = parseScriptName(source)!;
    fields.language = ending === ".ts" ? this.settings.default_ts : language;
    const item: LocalItem = { kind: "script", path, fields, files, inline: new Map() };
    if (codebase === undefined || fields.language !== "bun") return item;
    fields.codebase = await this.#digest(codebase);
    return { ...item, bundle: () => bundleScript(this.root, source, codebase) };
  }

  /** Computes the digest of a codebase once. */
  #digest(codebase: Codebase): Promise<string> {
    const digest = this.#digests.get(codebase) ?? digestCodebase(this.root, codebase);
    this.#digests.set(codebase, digest);
    return digest;
  }

  /** Reads the content of a resource whose type is stored as a file. @param plain name of the resource's file */
  async #readFileOf(fields: Fields, files: string[], plain: string): Promise<void> {
    const value = fields.value as Fields | null | undefined;
    const file = parseInlineReference(value?.content);
    // Only a reference to the file beside it counts; any other text that looks like one is a value.
    if (!value || !file?.startsWith(`${plain.replace(/\.(yaml|json)$/, "")}.file.`)) return;
    const own = toBranchName(this.settings.branch_items, file);
    const there = this.names.has(own) ? own : file;
    if (!isInLayout(there)) return;
    value.content = await readInlineFile(there, this.root, `${files[0]}, \`content\``);
    files.push(there);
  }

  /** Reads a flow or app: one file in its folder describes it. */
  async #readInside(name: string): Promise<LocalItem | undefined> {
    const match = /^(.+?)(?:\.|__)(flow|app|raw_app)\/(flow|app|raw_app)\.(?:yaml|json)$/.exec(name);
    if (!match) return undefined;
    const [, path = "", type] = match;
    if (!isItemPath(path)) return undefined;
    const fields = await parseFile(this.root, name);
    const folder = dirname(name);
    const files = [name];
    const inline = new Map<string, string>();
    const kind = type === "raw_app" ? "raw app" : type === "app" ? "app" : "flow";
    if (kind === "raw app" && fields.value === undefined) return this.#readCodeApp(path, name, fields);
    const parts = kind === "raw app" ? ["value"] : ["content", "lock"];
    for (const { id, title, code } of listCodePlaces(kind, fields)) {
      for (const part of parts) {
        const file = parseInlineReference(code[part]);
        if (file === undefined) continue;
        const isHiddenOrOutside = /(?:^|\/)\./.test(file);
        if (part === "lock" && !this.names.has(`${folder}/${file}`) && !isHiddenOrOutside) {
          delete code.lock;
          continue;
        }
        code[part] = await readInlineFile(file, join(this.root, folder), `${name}, ${title}, \`${part}\``);
        files.push(`${folder}/${file}`);
        if (part === "content" && id !== undefined) inline.set(id, file);
      }
    }
    const item: LocalItem = { kind, path, fields, files, inline };
    if (kind === "app") await this.#readPolicy(item);
    return item;
  }

  async #readCodeApp(path: string, name: string, described: Fields): Promise<LocalItem> {
    const { root, names, settings } = this;
    const folder = dirname(name);
    const read = await readCodeApp({ root, folder, names, default_ts: settings.default_ts }, described);
    const item: LocalItem = {
      kind: "code app",
      path,
      fields: read.fields,
      files: [name, ...read.files],
      inline: new Map(),
      build: () => bundleApp(join(root, folder), folder),
    };
    await this.#readPolicy(item);
    return item;
  }

  /** Reads the policy of an app from the file beside its folder. */
  async #readPolicy({ path, fields, files }: LocalItem): Promise<void> {
    const policy = `${path}.policy.yaml`;
    if (this.names.has(policy)) {
      fields.policy = await parseFile(this.root, policy);
      files.push(policy);
    } else if (fields.public === true) fields.policy = { execution_mode: "anonymous" };
    else if (fields.policy) fields.policy = completePolicy(fields.value, fields.policy as Fields);
  }
}

function listCodePlaces(kind: "flow" | "app" | "raw app", fields: Fields): CodePlace[] {
  if (kind === "raw app") return [{ id: undefined, title: "bundle", code: fields }];
  return kind === "flow" ? listFlowCode(fields.value) : listAppCode(fields.value);
}
