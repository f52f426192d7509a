/**
 * Validates a flow before it is stored: it must have the basic form and unique step ids. Steps that cannot run are
 * stored as they were sent, and fail the run that reaches them (`to-runnable.ts`).
 */
import { BadRequest } from "../../../../lib/errors.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { findOwnId, listStepLists, type StoredFlow, type StoredObject, walkSteps } from "./walk-steps.ts";

/** Ids appear in URLs and logs. */
const MAX_ID_CHARS = 100;
const MAX_STEPS = 1_000;
/** Each level of nesting is a job of its own. */
const MAX_DEPTH = 20;

/** Creates the error of a step's field. */
export function createStepError(id: string, field: string, problem: string): BadRequest {
  return new BadRequest(`step ${id}, \`${field}\`: ${problem}`);
}

/** Checks the basic form of a flow and that its step ids are unique. @throws BadRequest naming the position */
export function validateFlow(flow: StoredFlow): void {
  requireStepList(flow.modules, "value.modules");
  for (const field of ["failure_module", "preprocessor_module"]) {
    const module = flow[field] ?? undefined;
    if (module !== undefined && !isJsonObject(module)) throw createNotAStepError(`value.${field}`, module);
  }
  const places = new Map<string, string>();
  for (const { id, module, place, depth } of walkSteps(flow)) {
    requireValidId(module, place);
    const twin = places.get(id);
    if (twin !== undefined) {
      throw new BadRequest(`\`${place}.id\`: there is a step ${id} already, at \`${twin}\``);
    }
    places.set(id, place);
    if (places.size > MAX_STEPS) throw new BadRequest(`the flow has more than ${MAX_STEPS} steps`);
    if (depth >= MAX_DEPTH) {
      throw new BadRequest(`step ${id}: steps are nested more than ${MAX_DEPTH} deep`);
    }
    for (const { field, modules } of listStepLists(module))
      requireStepList(modules ?? [], `${place}.value.${field}`);
  }
}

function requireStepList(modules: unknown, at: string): void {
  if (!Array.isArray(modules)) throw new BadRequest(`\`${at}\`: must be an array of steps`);
  const index = modules.findIndex((module) => !isJsonObject(module));
  if (index >= 0) throw createNotAStepError(`${at}.${index}`, modules[index]);
}

function createNotAStepError(at: string, found: unknown): BadRequest {
  return new BadRequest(
    `\`${at}\`: must be a step, an object, and is ${JSON.stringify(found).slice(0, 100)}`,
  );
}

function requireValidId(module: StoredObject, at: string): void {
  const id = findOwnId(module);
  if (id === undefined) return;
  const isSpecial = id === "preprocessor" && at !== "value.preprocessor_module";
  if (isSpecial) {
    throw new BadRequest(`\`${at}.id\`: preprocessor is reserved for the flow's \`preprocessor_module\``);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those that no database and no log keeps
  if (id.length <= MAX_ID_CHARS && !/[\u0000-\u001f\u007f]/.test(id) && !(id in Object.prototype)) return;
  throw new BadRequest(
    `\`${at}.id\`: ${JSON.stringify(id.slice(0, MAX_ID_CHARS))} cannot be the id of a step: use ${MAX_ID_CHARS} characters at most, none of them a control character, and no name that every object has`,
  );
}
