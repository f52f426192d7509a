/**
 * Flows as files: OpenFlow in YAML or JSON. The code or lock of a step may be `!inline <file>`, which is read from that
 * file in the flow's folder.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseSchemaJson } from "../../src/lib/json/json.ts";
import { type CliError, createUsageError } from "../terminal/text/failure.ts";

const FLOW_FILE_NAMES = ["flow.yaml", "flow.yml", "flow.json"];
const INLINE_PREFIX = "!inline ";

/** The parsed file; the service validates it. */
export interface FlowFile extends Record<string, unknown> {
  path?: unknown;
  value: unknown;
}

/**
 * Reads a flow.
 * @param given the file, or a folder with a flow.yaml or flow.json
 * @throws a usage error that names the file
 */
export async function readFlowFile(given: string): Promise<FlowFile> {
  const file = await findFlowFile(given);
  const parsed = await parse(file, await readText(file, `there is no file ${file}`));
  if (typeof parsed !== "object" || parsed === null || !("value" in parsed)) {
    throw createUsageError(`${file} is not a flow: it must be an object with the key \`value\``);
  }
  return (await insertInlineFiles(parsed, dirname(file), undefined)) as FlowFile;
}

/** Parses a flow's path from its folder: `f/shop/order.flow/flow.yaml` is f/shop/order. */
export function parseFolderPath(given: string): string | undefined {
  const folder = isFolder(given) ? resolve(given) : dirname(resolve(given));
  const start = /^(.+)(?:\.|__)flow$/.exec(folder)?.[1];
  if (start === undefined) return undefined;
  const path = relative(process.cwd(), start).split(sep).join("/");
  return /^[ufg]\//.test(path) ? path : undefined;
}

async function findFlowFile(given: string): Promise<string> {
  if (!isFolder(given)) return given;
  for (const name of FLOW_FILE_NAMES)
    if (await Bun.file(join(given, name)).exists()) return join(given, name);
  throw createUsageError(`the folder ${given} holds none of ${FLOW_FILE_NAMES.join(", ")}`);
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

async function readText(file: string, missing: string): Promise<string> {
  try {
    return await Bun.file(file).text();
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    throw createUsageError(code === "ENOENT" ? missing : `${file} cannot be read: ${message}`);
  }
}

async function parse(file: string, text: string): Promise<unknown> {
  const isJson = file.endsWith(".json");
  try {
    return isJson ? parseSchemaJson(text) : await parseYaml(text);
  } catch (cause) {
    throw createParseError(file, cause as Error);
  }
}

/** Parses YAML in which `!inline <file>` may be unquoted: YAML then treats it as a tag. */
export async function parseYaml(text: string): Promise<unknown> {
  const yaml = await import("yaml");
  const inline = { tag: "!inline", resolve: (name: string) => INLINE_PREFIX + name };
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { customTags: [inline], lineCounter, prettyErrors: false });
  const [error] = document.errors;
  if (!error) return document.toJS({ maxAliasCount: 100 });
  const { line, col } = lineCounter.linePos(error.pos[0]);
  throw new SyntaxError(`line ${line}, column ${col}: ${error.message}`);
}

/**
 * Creates the error for a file that cannot be parsed. It does not quote the file's content, which may be secret: the
 * error may be printed into a build log.
 */
export function createParseError(file: string, { message }: Error): CliError {
  const plain = message
    .replace(/"[^"]*"?|'[^']*'?|`[^`]*`?/g, "…")
    .replace(/\b(alias|anchor|tag)\b[^:]*: .*/s, "$1");
  return createUsageError(`${file} is not ${file.endsWith(".json") ? "JSON" : "YAML"}: ${plain.trimEnd()}`);
}

/**
 * Replaces `!inline` references in a value by the contents of their files, at any depth.
 * @param step id of the step that contains the value
 */
async function insertInlineFiles(value: unknown, folder: string, step: string | undefined): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => insertInlineFiles(each, folder, step)));
  if (typeof value !== "object" || value === null) return value;
  const id = "id" in value && typeof value.id === "string" ? value.id : step;
  const isScript = "type" in value && value.type === "rawscript";
  const entries = Object.entries(value).map(async ([name, inner]) => {
    const isInline = isScript && typeof inner === "string" && inner.startsWith(INLINE_PREFIX);
    if (!isInline || (name !== "content" && name !== "lock")) {
      return [name, await insertInlineFiles(inner, folder, id)];
    }
    return [
      name,
      await readInlineFile(inner.slice(INLINE_PREFIX.length).trim(), folder, `step ${id}, \`${name}\``),
    ];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * Reads the file that replaces a value.
 * @throws a usage error if it does not exist, or is outside the folder
 */
export async function readInlineFile(name: string, folder: string, where: string): Promise<string> {
  const file = join(folder, name);
  if (isOutside(folder, file) || isOutside(resolveLinks(folder), resolveLinks(file))) {
    throw createUsageError(`${where}: ${name} is outside of the flow's folder`);
  }
  if (
    relative(folder, file)
      .split(sep)
      .some((part) => part.startsWith("."))
  ) {
    throw createUsageError(`${where}: ${name} is hidden, so it cannot be the code of a step`);
  }
  return readText(file, `${where}: there is no file ${file}`);
}

/** Whether the file is outside the folder. A downloaded flow must not read other files, by name or through links. */
function isOutside(folder: string, file: string): boolean {
  return relative(folder, file).split(sep)[0] === "..";
}

/** Resolves symbolic links; a missing path is only made absolute. */
function resolveLinks(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}
