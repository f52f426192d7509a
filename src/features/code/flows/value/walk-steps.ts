/** Walks the steps of a stored flow, any part of which may be missing or malformed. */

import { isJsonObject } from "../../../../lib/json/json.ts";

/** A flow as the client sent it. */
export interface StoredFlow {
  modules: unknown[];
  [field: string]: unknown;
}

export type StoredObject = Record<string, unknown>;

export interface StoredStep {
  /** Its own id, or the assigned one. */
  id: string;
  module: StoredObject;
  /** Its position, such as `value.modules.0.value.default.2`. */
  place: string;
  /** Number of enclosing steps. */
  depth: number;
}

/** A nested list of steps with the name of its field; `modules` is not validated. */
interface StepList {
  field: string;
  modules: unknown;
}

/** Returns the value if it is an array, else an empty one. */
export function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the lists of steps nested in a step. */
export function listStepLists({ value }: StoredObject): StepList[] {
  if (!isJsonObject(value)) return [];
  const ofBranches = toArray(value.branches).map((branch, index) => ({
    field: `branches.${index}.modules`,
    modules: isJsonObject(branch) ? branch.modules : undefined,
  }));
  switch (value.type) {
    case "forloopflow":
    case "whileloopflow":
      return [{ field: "modules", modules: value.modules }];
    case "branchone":
      return [...ofBranches, { field: "default", modules: value.default }];
    case "branchall":
      return ofBranches;
    default:
      return [];
  }
}

/** Yields every step, outer ones before nested ones; the failure module and the preprocessor come last. */
export function* walkSteps(flow: StoredFlow): Generator<StoredStep> {
  const ids = assignStepIds(flow);
  for (const place of walkPlaces(flow)) yield { ...place, id: ids.get(place.module)! };
}

/** Assigns an id to each step. Steps without one get the first unused letters (a, b, … z, aa, …). */
export function assignStepIds(flow: StoredFlow): Map<StoredObject, string> {
  const all = [...walkPlaces(flow)];
  const taken = new Set(all.map(({ module }) => findOwnId(module)));
  const ids = new Map<StoredObject, string>();
  let next = 0;
  for (const { module, place } of all) {
    let id = findOwnId(module) ?? RESERVED_IDS.get(place);
    while (id === undefined || (id !== findOwnId(module) && taken.has(id))) id = formatLetters(next++);
    taken.add(id);
    ids.set(module, id);
  }
  return ids;
}

const RESERVED_IDS = new Map([
  ["value.failure_module", "failure"],
  ["value.preprocessor_module", "preprocessor"],
]);

/** Returns the id sent with the step, if any. */
export function findOwnId({ id }: StoredObject): string | undefined {
  if (typeof id === "number") return String(id);
  return typeof id === "string" && id !== "" ? id : undefined;
}

function formatLetters(n: number): string {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : formatLetters(Math.floor(n / 26) - 1) + last;
}

type PlacedStep = Omit<StoredStep, "id">;

function* walkPlaces({ modules, failure_module, preprocessor_module }: StoredFlow): Generator<PlacedStep> {
  yield* walkList(modules, "value.modules", 0);
  if (isJsonObject(failure_module)) yield* walkModule(failure_module, "value.failure_module", 0);
  if (isJsonObject(preprocessor_module))
    yield* walkModule(preprocessor_module, "value.preprocessor_module", 0);
}

function* walkList(modules: unknown, at: string, depth: number): Generator<PlacedStep> {
  for (const [index, module] of toArray(modules).entries()) {
    if (isJsonObject(module)) yield* walkModule(module, `${at}.${index}`, depth);
  }
}

function* walkModule(module: StoredObject, at: string, depth: number): Generator<PlacedStep> {
  yield { module, place: at, depth };
  for (const { field, modules } of listStepLists(module)) {
    yield* walkList(modules, `${at}.value.${field}`, depth + 1);
  }
}

/** An inline script as it is stored. */
export interface StoredInlineScript extends StoredObject {
  content: string;
  language: string;
}

/** Yields the inline scripts that have code, with the ids of their steps. */
export function* walkInlineScripts(flow: StoredFlow): Generator<{ id: string; script: StoredInlineScript }> {
  for (const { id, module } of walkSteps(flow)) {
    const { value } = module;
    if (!isJsonObject(value) || value.type !== "rawscript") continue;
    if (typeof value.content !== "string" || value.content.trim() === "") continue;
    if (typeof value.language === "string") yield { id, script: value as StoredInlineScript };
  }
}
