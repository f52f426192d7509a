/** Going through the steps of a flow as it is stored, which may lack anything. */

import { isJsonObject } from "../../../../lib/json/json.ts";

/** A flow as it was sent. */
export interface StoredFlow {
  modules: unknown[];
  [field: string]: unknown;
}

export type Stored = Record<string, unknown>;

export interface StoredStep {
  /** Its own or, where it has none, the one that it is given. */
  id: string;
  module: Stored;
  /** Where it stands, such as `value.modules.0.value.default.2`. */
  at: string;
  /** How many steps are around it. */
  depth: number;
}

/** A list of steps, with the name of its field: it may be anything. */
interface Body {
  field: string;
  modules: unknown;
}

/** An empty list for what is none. */
export function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The lists of steps inside of a step. */
export function bodiesOf({ value }: Stored): Body[] {
  if (!isJsonObject(value)) return [];
  const ofBranches = listIn(value.branches).map((branch, index) => ({
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

/** Every step, outer ones before what they hold; the failure step and the preprocessor come last. */
export function* everyStep(flow: StoredFlow): Generator<StoredStep> {
  const ids = idsOf(flow);
  for (const place of places(flow)) yield { ...place, id: ids.get(place.module)! };
}

/** The id of each step: those that have none are given the first letters (a, b, … z, aa, …) that no other has. */
export function idsOf(flow: StoredFlow): Map<Stored, string> {
  const all = [...places(flow)];
  const taken = new Set(all.map(({ module }) => ownId(module)));
  const ids = new Map<Stored, string>();
  let next = 0;
  for (const { module, at } of all) {
    let id = ownId(module) ?? SPECIAL.get(at);
    while (id === undefined || (id !== ownId(module) && taken.has(id))) id = letters(next++);
    taken.add(id);
    ids.set(module, id);
  }
  return ids;
}

const SPECIAL = new Map([
  ["value.failure_module", "failure"],
  ["value.preprocessor_module", "preprocessor"],
]);

/** The id that a step was sent with, if any. */
export function ownId({ id }: Stored): string | undefined {
  if (typeof id === "number") return String(id);
  return typeof id === "string" && id !== "" ? id : undefined;
}

function letters(n: number): string {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : letters(Math.floor(n / 26) - 1) + last;
}

type Placed = Omit<StoredStep, "id">;

function* places({ modules, failure_module, preprocessor_module }: StoredFlow): Generator<Placed> {
  yield* inList(modules, "value.modules", 0);
  if (isJsonObject(failure_module)) yield* within(failure_module, "value.failure_module", 0);
  if (isJsonObject(preprocessor_module)) yield* within(preprocessor_module, "value.preprocessor_module", 0);
}

function* inList(modules: unknown, at: string, depth: number): Generator<Placed> {
  for (const [index, module] of listIn(modules).entries()) {
    if (isJsonObject(module)) yield* within(module, `${at}.${index}`, depth);
  }
}

function* within(module: Stored, at: string, depth: number): Generator<Placed> {
  yield { module, at, depth };
  for (const { field, modules } of bodiesOf(module)) {
    yield* inList(modules, `${at}.value.${field}`, depth + 1);
  }
}

/** A script that is written in the flow itself, as it is stored. */
export interface StoredScript extends Stored {
  content: string;
  language: string;
}

/** The scripts that are written in the flow and have code, with the ids of their steps. */
export function* rawScripts(flow: StoredFlow): Generator<{ id: string; script: StoredScript }> {
  for (const { id, module } of everyStep(flow)) {
    const { value } = module;
    if (!isJsonObject(value) || value.type !== "rawscript") continue;
    if (typeof value.content !== "string" || value.content.trim() === "") continue;
    if (typeof value.language === "string") yield { id, script: value as StoredScript };
  }
}
