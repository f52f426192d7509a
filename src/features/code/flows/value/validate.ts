/**
 * What must hold of a flow before it is stored: it has a form, and each step an id of its own. What cannot run is stored
 * and given back as it was sent, and fails the run that comes to it (runnable.ts).
 */
import { BadRequest } from "../../../../lib/errors.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { bodiesOf, everyStep, ownId, type Stored, type StoredFlow } from "./tree.ts";

/** It stands in URLs and in logs. */
const MAX_ID_LENGTH = 100;
const MAX_STEPS = 1_000;
/** Each level of steps inside of steps is a job of its own when it runs. */
const MAX_DEPTH = 20;

/** The error of a field of a step. */
export function stepFault(id: string, field: string, problem: string): BadRequest {
  return new BadRequest(`step ${id}, \`${field}\`: ${problem}`);
}

/** @throws BadRequest naming the place */
export function validateFlow(flow: StoredFlow): void {
  checkList(flow.modules, "value.modules");
  for (const field of ["failure_module", "preprocessor_module"]) {
    const module = flow[field] ?? undefined;
    if (module !== undefined && !isJsonObject(module)) throw noStep(`value.${field}`, module);
  }
  const places = new Map<string, string>();
  for (const { id, module, at, depth } of everyStep(flow)) {
    checkId(module, at);
    const twin = places.get(id);
    if (twin !== undefined) {
      throw new BadRequest(`\`${at}.id\`: there is a step ${id} already, at \`${twin}\``);
    }
    places.set(id, at);
    if (places.size > MAX_STEPS) throw new BadRequest(`the flow has more than ${MAX_STEPS} steps`);
    if (depth >= MAX_DEPTH) {
      throw new BadRequest(`step ${id}: steps stand inside of steps more than ${MAX_DEPTH} deep`);
    }
    for (const { field, modules } of bodiesOf(module)) checkList(modules ?? [], `${at}.value.${field}`);
  }
}

function checkList(modules: unknown, at: string): void {
  if (!Array.isArray(modules)) throw new BadRequest(`\`${at}\`: must be an array of steps`);
  const index = modules.findIndex((module) => !isJsonObject(module));
  if (index >= 0) throw noStep(`${at}.${index}`, modules[index]);
}

function noStep(at: string, found: unknown): BadRequest {
  return new BadRequest(
    `\`${at}\`: must be a step, an object, and is ${JSON.stringify(found).slice(0, 100)}`,
  );
}

function checkId(module: Stored, at: string): void {
  const id = ownId(module);
  if (id === undefined) return;
  const isSpecial = id === "preprocessor" && at !== "value.preprocessor_module";
  if (isSpecial) {
    throw new BadRequest(`\`${at}.id\`: preprocessor is reserved for the flow's \`preprocessor_module\``);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that no database and no log keeps
  if (id.length <= MAX_ID_LENGTH && !/[\u0000-\u001f\u007f]/.test(id) && !(id in Object.prototype)) return;
  throw new BadRequest(
    `\`${at}.id\`: ${JSON.stringify(id.slice(0, MAX_ID_LENGTH))} cannot be the id of a step: use ${MAX_ID_LENGTH} characters at most, none of them a control character, and no name that every object has`,
  );
}
