/**
 * A flow as it lies on the disk: OpenFlow in YAML or JSON. Where the code of a step (or its lock) is `!inline <file>`,
 * it is read from that file in the flow's folder.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseFields } from "../../src/lib/json/json.ts";
import { usageError } from "../terminal/text/failure.ts";

const NAMES = ["flow.yaml", "flow.yml", "flow.json"];
const INLINE = "!inline ";

/** What a file holds; the service checks it. */
export interface FlowFile extends Record<string, unknown> {
  path?: unknown;
  value: unknown;
}

/**
 * @param given the file, or a folder with a flow.yaml or flow.json
 * @throws a usage error that names the file
 */
export async function readFlowFile(given: string): Promise<FlowFile> {
  const file = await findFile(given);
  const parsed = await parse(file, await readText(file, `there is no file ${file}`));
  if (typeof parsed !== "object" || parsed === null || !("value" in parsed)) {
    throw usageError(`${file} is no flow: it must be an object with the key \`value\``);
  }
  return (await withInlineFiles(parsed, dirname(file), undefined)) as FlowFile;
}

/** `f/shop/order.flow/flow.yaml` stands for f/shop/order. */
export function pathOfFolder(given: string): string | undefined {
  const folder = isFolder(given) ? resolve(given) : dirname(resolve(given));
  if (!folder.endsWith(".flow")) return undefined;
  const path = relative(process.cwd(), folder.slice(0, -".flow".length)).split(sep).join("/");
  return /^[ufg]\//.test(path) ? path : undefined;
}

async function findFile(given: string): Promise<string> {
  if (!isFolder(given)) return given;
  for (const name of NAMES) if (await Bun.file(join(given, name)).exists()) return join(given, name);
  throw usageError(`the folder ${given} holds none of ${NAMES.join(", ")}`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

async function readText(file: string, missing: string): Promise<string> {
  try {
    return await Bun.file(file).text();
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    throw usageError(code === "ENOENT" ? missing : `${file} cannot be read: ${message}`);
  }
}

async function parse(file: string, text: string): Promise<unknown> {
  const isJson = file.endsWith(".json");
  try {
    return isJson ? parseFields(text) : await parseYaml(text);
  } catch (cause) {
    throw usageError(`${file} is not ${isJson ? "JSON" : "YAML"}: ${(cause as Error).message.trimEnd()}`);
  }
}

/** Reads YAML in which `!inline <file>` may stand without quotes: then it is a tag of YAML, and means the same. */
export async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import("yaml");
  const inline = { tag: "!inline", resolve: (name: string) => INLINE + name };
  return yaml.parse(text, { customTags: [inline] });
}

/** @param step id of the step the value is part of */
async function withInlineFiles(value: unknown, folder: string, step: string | undefined): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => withInlineFiles(each, folder, step)));
  if (typeof value !== "object" || value === null) return value;
  const id = "id" in value && typeof value.id === "string" ? value.id : step;
  const isScript = "type" in value && value.type === "rawscript";
  const entries = Object.entries(value).map(async ([name, inner]) => {
    const isInline = isScript && typeof inner === "string" && inner.startsWith(INLINE);
    if (!isInline || (name !== "content" && name !== "lock")) {
      return [name, await withInlineFiles(inner, folder, id)];
    }
    return [name, await readInline(inner.slice(INLINE.length).trim(), folder, `step ${id}, \`${name}\``)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * The text of a file that stands in the place of a value.
 * @throws a usage error when it is not there, or not in the folder
 */
export async function readInline(name: string, folder: string, where: string): Promise<string> {
  const file = join(folder, name);
  if (isOutside(folder, file) || isOutside(real(folder), real(file))) {
    throw usageError(`${where}: ${name} is outside of the flow's folder`);
  }
  if (
    relative(folder, file)
      .split(sep)
      .some((part) => part.startsWith("."))
  ) {
    throw usageError(`${where}: ${name} is hidden, and so no code of a step`);
  }
  return readText(file, `${where}: there is no file ${file}`);
}

/** The file may be somebody else's: what it names, or leads to by links, must not be whatever this person can read. */
function isOutside(folder: string, file: string): boolean {
  return relative(folder, file).split(sep)[0] === "..";
}

/** Where links lead to; what is not there leads nowhere. */
function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}
