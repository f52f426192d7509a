/** Checks the arguments of a run against the schema of the script or flow, before a job is created. */

import { analyseScript } from "../../src/engines/languages/reading/analyse.ts";
import { isJsonObject } from "../../src/lib/json/json.ts";
import { getFlowByPath, getScriptByPath } from "../client/operations/code.ts";
import type { ServiceClient } from "../client/transport.ts";
import { describeTypeFault, formatType, type SchemaType } from "../program/argument-types.ts";
import { mergeWords } from "../program/arguments.ts";
import { resolveWorkspace } from "../program/command.ts";
import { askFor, isInteractive } from "../terminal/prompts.ts";
import { createUsageError } from "../terminal/text/failure.ts";
import type { LocalCode } from "./local-modules.ts";
import { isLocal, type RunTarget } from "./start.ts";

interface ArgumentSchema {
  properties: Record<string, { type?: SchemaType; default?: unknown }>;
  required: string[];
}

interface GivenArguments {
  data: Record<string, unknown>;
  /** Words such as `name=Bob`. */
  words: readonly string[];
}

/**
 * Returns the arguments of a run. On a terminal it asks for missing required ones.
 * @throws a usage error for a missing or unknown argument, or one of a wrong type
 */
export async function resolveArguments(
  client: ServiceClient,
  code: RunTarget,
  workspace: string | undefined,
  given: GivenArguments,
): Promise<Record<string, unknown>> {
  if (!isLocal(code)) return completeArguments(await readSchema(client, code, workspace), given);
  return completeArguments("value" in code ? code.schema : await deriveSchema(code), given);
}

/**
 * Returns the arguments of a local script under development: words get the types of its parameters; missing and unknown
 * arguments are allowed.
 * @throws a usage error for a word that is not an argument
 */
export async function readDraftArguments(
  code: LocalCode,
  { data, words }: GivenArguments,
): Promise<Record<string, unknown>> {
  return mergeWords(data, words, typesOf(parseSchema(await deriveSchema(code))));
}

/**
 * Returns the arguments that a schema describes. On a terminal it asks for missing required ones.
 * @param schema JSON Schema of an object; one without properties allows any arguments
 * @throws a usage error for a missing or unknown argument, or one of a wrong type
 */
export async function completeArguments(
  schema: unknown,
  { data, words }: GivenArguments,
): Promise<Record<string, unknown>> {
  const wanted = parseSchema(schema);
  if (!wanted) return mergeWords(data, words);
  const types = typesOf(wanted);
  const args = mergeWords(data, words, types);
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(wanted.properties, name));
  if (unknown !== undefined) {
    throw createUsageError(`there is no argument ${unknown}`, `the arguments are: ${describe(wanted)}`);
  }
  for (const name of wanted.required) {
    const property = wanted.properties[name];
    if (Object.hasOwn(args, name) || property?.default !== undefined) continue;
    if (!isInteractive()) {
      throw createUsageError(`the argument ${name} is missing`, `the arguments are: ${describe(wanted)}`);
    }
    const text = await askFor(undefined, { message: `${name} (${formatType(property?.type)})`, flag: name });
    Object.assign(args, mergeWords({}, [`${name}=${text}`], types));
  }
  for (const [name, value] of Object.entries(args)) {
    const fault = describeTypeFault(value, wanted.properties[name]?.type);
    if (fault === undefined) continue;
    throw createUsageError(`the argument ${name} ${fault}`, `the arguments are: ${describe(wanted)}`);
  }
  return args;
}

function typesOf(schema: ArgumentSchema | undefined): Record<string, string | undefined> {
  const properties = Object.entries(schema?.properties ?? {});
  return Object.fromEntries(properties.map(([name, { type }]) => [name, formatType(type)]));
}

/** Lists the arguments in the form of a signature: `name: string, greeting: string = "Hello"`. */
function describe({ properties, required }: ArgumentSchema): string {
  const each = Object.entries(properties).map(([name, { type, default: preset }]) => {
    const optional = required.includes(name) || preset !== undefined ? "" : "?";
    return `${name}${optional}: ${formatType(type)}${preset === undefined ? "" : ` = ${JSON.stringify(preset)}`}`;
  });
  return each.join(", ");
}

/** Derives the schema of a local script; undefined if the code cannot be parsed, since the run reports that. */
async function deriveSchema({ language, content }: LocalCode): Promise<unknown> {
  return (await analyseScript(language, content, { owner: "" }).catch(() => undefined))?.schema;
}

/** Reads the schema; undefined if there is none, or the caller may not read it. */
async function readSchema(
  client: ServiceClient,
  code: { path: string } | { flow: string },
  given: string | undefined,
): Promise<unknown> {
  const workspace = await resolveWorkspace(client, given);
  const readFlow = async (path: string) => (await client.call(getFlowByPath, { workspace, path })).schema;
  const readScript = async (path: string) =>
    (await client.call(getScriptByPath, { workspace, path, query: {} })).schema;
  const found = "flow" in code ? readFlow(code.flow) : readScript(code.path).catch(() => readFlow(code.path));
  return found.catch(() => undefined);
}

function parseSchema(schema: unknown): ArgumentSchema | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { properties, required } = schema as { properties?: unknown; required?: unknown };
  if (!isJsonObject(properties) || Object.keys(properties as object).length === 0) return undefined;
  return {
    properties: properties as ArgumentSchema["properties"],
    required: Array.isArray(required) ? required.map(String) : [],
  };
}
