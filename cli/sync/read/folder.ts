/** A workspace as a folder of files has it. */
import { dirname, join } from "node:path";
import { parseFields } from "../../../src/lib/json/json.ts";
import { parseYaml, readInline } from "../../jobs/flow-file.ts";
import { CliError, usageError } from "../../terminal/text/failure.ts";
import { isSelected, type Selection } from "./archive.ts";
import { type Naming, ownFile, type Place, placesOfApp, placesOfFlow } from "./inline.ts";
import { type Fields, type Item, itemAt, keyOf, scriptAt } from "./items.ts";
import { isInLayout } from "./layout.ts";
import { codebaseOf, type FolderSettings, isIncluded, toSettings } from "./wmill-settings.ts";

/** An item with the files that it was read from. */
export interface LocalItem extends Item {
  /** Names below the folder: the one that describes it, and those of its code. */
  files: string[];
  /** Of a flow's steps that have a file of their own: which one, by the steps' ids. */
  inline: Map<string, string>;
}

export interface Folder {
  root: string;
  naming: Naming;
  items: Map<string, LocalItem>;
  /** What could not be read as the item that it should be. */
  problems: Problem[];
  /** Files among those of items that belong to none. */
  strays: string[];
  settings: FolderSettings;
}

export interface Problem {
  file: string;
  reason: string;
}

/** The folders in which a flow or an app lies, by both namings. */
const INSIDE = /(?:\.|__)(flow|app|raw_app)\//;

/** What cannot be understood is told as a problem; the rest is read all the same. */
export async function readFolder(root: string, selection: Selection): Promise<Folder> {
  const settings = await settingsOf(root);
  const names = (await namesIn(root)).filter((name) => isIncluded(settings, name));
  const reader = new Reader(root, new Set(names), settings);
  const items = new Map<string, LocalItem>();
  const problems: Problem[] = [];
  const known = new Set<string>();
  for (const name of names) {
    try {
      const item = await reader.read(name);
      if (!item) continue;
      for (const file of [name, ...item.files]) known.add(file);
      if (!isSelected(item, selection)) continue;
      const before = items.get(keyOf(item));
      if (before) {
        throw usageError(
          `${item.kind} ${item.path} is described twice: ${before.files[0]}, ${item.files[0]}`,
        );
      }
      items.set(keyOf(item), item);
    } catch (cause) {
      if (!(cause instanceof CliError)) throw cause;
      known.add(name);
      if (!problems.some(({ reason }) => reason === cause.message)) {
        problems.push({ file: name, reason: cause.message });
      }
    }
  }
  const strays = names.filter((name) => IN_PLACE.test(name) && !known.has(name) && !reader.isPart(name));
  return { root, naming: namingOf(settings, names), items, problems, strays, settings };
}

/** Where the files of items lie. */
const IN_PLACE = /^[ufg]\/|^(?:groups|users|dependencies)\/|^encryption_key\./;

async function namesIn(root: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const name of new Bun.Glob("**/*").scan({ cwd: root })) {
      if (!/(^|\/)node_modules\//.test(name) && !name.startsWith("wmill")) names.push(name);
    }
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    if (code !== "ENOENT") throw new CliError("Folder", `${root} cannot be read: ${code ?? message}`);
  }
  return names.sort();
}

function namingOf({ new_names }: FolderSettings, names: string[]): Naming {
  return { dotted: !(new_names || names.some((name) => /__(flow|app)\//.test(name))) };
}

/** @throws a usage error for a `wmill.yaml` that cannot be read */
async function settingsOf(root: string): Promise<FolderSettings> {
  const there = await Bun.file(join(root, "wmill.yaml")).exists();
  return toSettings(there ? await parseFile(root, "wmill.yaml") : {});
}

async function parseFile(root: string, name: string): Promise<Fields> {
  const isJson = name.endsWith(".json");
  const text = await Bun.file(join(root, name)).text();
  let parsed: unknown;
  try {
    parsed = isJson ? parseFields(text) : await parseYaml(text);
  } catch (cause) {
    throw usageError(`${name} is not ${isJson ? "JSON" : "YAML"}: ${(cause as Error).message.trimEnd()}`);
  }
  if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Fields;
  throw usageError(`${name}: must be an object`);
}

class Reader {
  readonly root: string;
  readonly names: Set<string>;
  readonly settings: FolderSettings;
  /** The files of code, by the paths of their scripts. */
  readonly #sources = new Map<string, string[]>();

  constructor(root: string, names: Set<string>, settings: FolderSettings) {
    this.root = root;
    this.names = names;
    this.settings = settings;
    for (const name of names) {
      const script = INSIDE.test(name) ? undefined : scriptAt(name);
      if (script) this.#sources.set(script.path, [...(this.#sources.get(script.path) ?? []), name]);
    }
  }

  /** Whether the file is the code of a script, or lies in the folder of a flow or an app. */
  isPart(name: string): boolean {
    return INSIDE.test(name) || scriptAt(name) !== undefined || /\.(?:script\.lock|policy\.yaml)$/.test(name);
  }

  /** The item that this file describes; undefined for all other files. */
  async read(name: string): Promise<LocalItem | undefined> {
    if (INSIDE.test(name)) return this.#readInside(name);
    const stem = /^(.*)\.(?:yaml|json)$/.exec(name)?.[1];
    const at = stem === undefined ? undefined : itemAt(stem);
    if (at?.kind === "script") return this.#readScript(at.path, name);
    if (at && at.kind !== "flow" && at.kind !== "app" && at.kind !== "raw app") {
      const fields = await parseFile(this.root, name);
      const files = [name];
      if (at.kind === "resource") await this.#readFileOf(fields, files);
      return { ...at, fields, files, inline: new Map() };
    }
    const script = scriptAt(name);
    const isDescribed =
      script && ["yaml", "json"].some((as) => this.names.has(`${script.path}.script.${as}`));
    return script && !isDescribed ? this.#readScript(script.path) : undefined;
  }

  async #readScript(path: string, description?: string): Promise<LocalItem> {
    const sources = this.#sources.get(path) ?? [];
    const [source] = sources;
    if (source === undefined) throw usageError(`${description}: there is no code beside it`);
    if (sources.length > 1) throw usageError(`script ${path} has more than one file: ${sources.join(", ")}`);
    const codebase = codebaseOf(this.settings, source);
    if (codebase !== undefined) {
      throw usageError(`${source} is part of the codebase ${codebase}: wmill bundles and deploys it`);
    }
    const fields = description ? await parseFile(this.root, description) : {};
    const files = description ? [description, source] : [source];
    const lock = /^!inline (.+)$/.exec(String(fields.lock ?? ""))?.[1]?.trim();
    const beside = `${path}.script.lock`;
    if (lock !== undefined && !this.names.has(lock) && isInLayout(lock)) {
      // It is found anew.
      delete fields.lock;
    } else if (lock !== undefined) {
      fields.lock = await readInline(lock, this.root, `${description}, \`lock\``);
      files.push(lock);
    } else if (Array.isArray(fields.lock)) fields.lock = fields.lock.join("\n");
    else if (!description && this.names.has(beside)) {
      fields.lock = await Bun.file(join(this.root, beside)).text();
      files.push(beside);
    }
    fields.content = await Bun.file(join(this.root, source)).text();
    const { ending, language } = scriptAt(source)!;
    fields.language = ending === ".ts" ? this.settings.default_ts : language;
    return { kind: "script", path, fields, files, inline: new Map() };
  }

  /** Resources of a type that is a file have their content in one. */
  async #readFileOf(fields: Fields, files: string[]): Promise<void> {
    const value = fields.value as Fields | null | undefined;
    const file = ownFile(value?.content);
    // Of what another server calls a file, only the one beside it is: the rest is a text that looks like one.
    if (!value || !file?.startsWith(`${files[0]!.replace(/\.(yaml|json)$/, "")}.file.`)) return;
    if (!isInLayout(file)) return;
    value.content = await readInline(file, this.root, `${files[0]}, \`content\``);
    files.push(file);
  }

  /** Of the files in the folder of a flow or an app, one describes it. */
  async #readInside(name: string): Promise<LocalItem | undefined> {
    const match = /^(.+?)(?:\.|__)(flow|app|raw_app)\/(flow|app|raw_app)\.(?:yaml|json)$/.exec(name);
    if (!match) return undefined;
    const [, path = "", type] = match;
    const fields = await parseFile(this.root, name);
    const folder = dirname(name);
    const files = [name];
    const inline = new Map<string, string>();
    const kind = type === "raw_app" ? "raw app" : type === "app" ? "app" : "flow";
    if (kind === "raw app" && fields.value === undefined) {
      throw usageError(`${name} is an app of code: wmill builds and deploys it`);
    }
    const parts = kind === "raw app" ? ["value"] : ["content", "lock"];
    for (const { id, title, code } of placesIn(kind, fields)) {
      for (const part of parts) {
        const file = ownFile(code[part]);
        if (file === undefined) continue;
        if (part === "lock" && !this.names.has(`${folder}/${file}`) && isInLayout(`${folder}/${file}`)) {
          delete code.lock;
          continue;
        }
        code[part] = await readInline(file, join(this.root, folder), `${name}, ${title}, \`${part}\``);
        files.push(`${folder}/${file}`);
        if (part === "content" && id !== undefined) inline.set(id, file);
      }
    }
    const policy = `${folder.replace(/(\.|__)app$/, "")}.policy.yaml`;
    if (kind === "app" && this.names.has(policy)) {
      fields.policy = await parseFile(this.root, policy);
      files.push(policy);
    } else if (kind === "app" && fields.public === true) fields.policy = { execution_mode: "anonymous" };
    return { kind, path, fields, files, inline };
  }
}

function placesIn(kind: "flow" | "app" | "raw app", fields: Fields): Place[] {
  if (kind === "raw app") return [{ id: undefined, title: "bundle", code: fields }];
  return kind === "flow" ? placesOfFlow(fields.value) : placesOfApp(fields.value);
}
