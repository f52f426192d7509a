/** Orders scripts so that each is deployed after the scripts it imports. */

import type { Language } from "../../../src/engines/languages/languages.ts";
import { resolveLocalImport } from "../../../src/engines/languages/local-imports.ts";
import type { SyncStep } from "../plan.ts";
import type { Item } from "../read/items.ts";
import { analyseFields } from "./stale-fields.ts";

/**
 * Returns the steps, with the scripts among them in the order of their imports. Scripts that import each other keep the
 * given order; the server locks the first ones again when the others are deployed.
 */
export async function orderByImports(steps: SyncStep[]): Promise<SyncStep[]> {
  const scripts = steps.filter(({ change, item }) => change !== "delete" && item.kind === "script");
  const byPath = new Map(scripts.map((step) => [step.item.path, step]));
  const ordered: SyncStep[] = [];
  const visited = new Set<string>();
  const visit = async (step: SyncStep): Promise<void> => {
    const { item } = step;
    if (visited.has(item.path)) return;
    visited.add(item.path);
    for (const path of await listImportedPaths(item)) {
      const imported = byPath.get(path);
      if (imported) await visit(imported);
    }
    ordered.push(step);
  };
  for (const step of scripts) await visit(step);
  const first = steps.findIndex((step) => scripts.includes(step));
  return first < 0
    ? steps
    : [...steps.slice(0, first), ...ordered, ...steps.slice(first).filter((step) => !scripts.includes(step))];
}

/** Lists the paths that a script's imports may resolve to; empty if the code cannot be parsed. */
async function listImportedPaths({ path, fields }: Item): Promise<string[]> {
  const imports = (await analyseFields(fields))?.imports ?? [];
  return imports.flatMap((specifier) => resolveLocalImport(fields.language as Language, specifier, path));
}
