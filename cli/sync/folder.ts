/** A workspace as a folder of files has it. */
import { dirname, join } from "node:path";
import { parseFields } from "../../src/lib/json.ts";
import { parseYaml, readInline } from "../flow-file.ts";
import { CliError, usageError } from "../terminal/failure.ts";
import { isSelected, type Selection } from "./archive.ts";
import { type Naming, ownFile, type Place, placesOfApp, placesOfFlow } from "./inline.ts";
import { type Fields, type Item, itemAt, keyOf, scriptAt } from "./items.ts";
import { isInLayout } from "./layout.ts";

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
}

/** The folders in which a flow or an app lies, by both namings. */
const INSIDE = /(?:\.|__)(flow|app|raw_app)\//;

/** @throws a usage error that names the file which cannot be understood */
export async function readFolder(root: string, selection: Selection): Promise<Folder> {
  const names = await namesIn(root);
  const reader = new Reader(root, new Set(names));
  const found: LocalItem[] = [];
  for (const name of names) {
    const item = await reader.read(name);
    if (item && isSelected(item, selection)) found.push(item);
  }
  const items = new Map<string, LocalItem>();
  for (const item of found) {
    const before = items.get(keyOf(item));
    if (before) {
      throw usageError(`${item.kind} ${item.path} is described twice: ${before.files[0]}, ${item.files[0]}`);
    }
    items.set(keyOf(item), item);
  }
  return { root, naming: await namingOf(root, names), items };
}

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

/** A folder of the original's command line says in `wmill.yaml` how it names files. */
async function namingOf(root: string, names: string[]): Promise<Naming> {
  const file = Bun.file(join(root, "wmill.yaml"));
  const settings = (await file.exists()) ? await parseFile(root, "wmill.yaml") : {};
  const isNew = settings.nonDottedPaths === true || names.some((name) => /__(flow|app)\//.test(name));
  return { dotted: !isNew };
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
  /** The files of code, by the paths of their scripts. */
  readonly #sources = new Map<string, string[]>();

  constructor(root: string, names: Set<string>) {
    this.root = root;
    this.names = names;
    for (const name of names) {
      const script = INSIDE.test(name) ? undefined : scriptAt(name);
      if (script) this.#sources.set(script.path, [...(this.#sources.get(script.path) ?? []), name]);
    }
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
    const fields = description ? await parseFile(this.root, description) : {};
    const files = description ? [description, source] : [source];
    const lock = /^!inline (.+)$/.exec(String(fields.lock ?? ""))?.[1]?.trim();
    const beside = `${path}.script.lock`;
    if (lock !== undefined) {
      fields.lock = await readInline(lock, this.root, `${description}, \`lock\``);
      files.push(lock);
    } else if (Array.isArray(fields.lock)) fields.lock = fields.lock.join("\n");
    else if (!description && this.names.has(beside)) {
      fields.lock = await Bun.file(join(this.root, beside)).text();
      files.push(beside);
    }
    fields.content = await Bun.file(join(this.root, source)).text();
    fields.language = scriptAt(source)!.language;
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
    const parts = kind === "raw app" ? ["value"] : ["content", "lock"];
    for (const { id, title, code } of placesIn(kind, fields)) {
      for (const part of parts) {
        const file = ownFile(code[part]);
        if (file === undefined) continue;
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
