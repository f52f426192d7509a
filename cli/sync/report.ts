/**
 * Report of a push, for users who move a workspace to this server: which items were accepted, were changed, or will not
 * run.
 */
import { findRuntime } from "../../src/engines/languages/languages.ts";
import { describeMissingPackages } from "../../src/engines/languages/programs/packages.ts";
import { existsResource } from "../../src/features/assets/resources/operations.ts";
import { existsVariable } from "../../src/features/assets/variables/operations.ts";
import { describeNotRun } from "../../src/features/triggers/common/stored/kinds.ts";
import { print, toOneLine } from "../terminal/text/output.ts";
import { type Deployment, isStored } from "./deploy/deployment.ts";
import type { StepResult } from "./options.ts";
import { compareItems } from "./read/canonical.ts";
import type { LocalFolder } from "./read/folder.ts";
import { listFlowCode } from "./read/inline.ts";
import { type Fields, findStoredKind, getItemKey, type Item } from "./read/items.ts";
import { listChangedFields, pluralize } from "./show/show-plan.ts";
import { createTagCheck } from "./unlisted-tags.ts";

export interface ReportEntry {
  kind: string;
  path: string;
  taken: boolean;
  /** Fields that the server stores differently from the file. */
  changed: string[];
  /** Why it was rejected, or will not run. */
  problems: string[];
}

/** Creates the report of a push. @param remote the items on the server after the push */
export async function createReport(
  at: Deployment,
  folder: LocalFolder,
  done: StepResult[],
  remote: Map<string, Item>,
): Promise<ReportEntry[]> {
  const errors = new Map(done.map(({ step, error }) => [getItemKey(step.item), error]));
  const missing = new MissingReferences(at);
  const unlistedTags = await createTagCheck(at);
  const entries: ReportEntry[] = [];
  for (const [key, item] of folder.items) {
    const error = errors.get(key);
    const there = remote.get(key);
    const compared = there && compareItems(item, there);
    entries.push({
      kind: item.kind,
      path: item.path,
      taken: there !== undefined && (error === undefined || isStored(error)),
      changed: error === undefined && compared ? listChangedFields(compared.local, compared.remote) : [],
      problems: [
        ...(error === undefined ? [] : [error]),
        ...findObstacles(item),
        ...unlistedTags(item),
        ...(await missing.of(item)),
      ],
    });
  }
  return entries;
}

/** Prints the report: items with remarks one by one, and the number of the others. */
export function showReport(entries: ReportEntry[]): void {
  for (const { kind, path, taken, changed, problems } of entries) {
    if (taken && changed.length === 0 && problems.length === 0) continue;
    print(toOneLine(`${taken ? "taken" : "not taken"}: ${kind} ${path}`));
    if (changed.length > 0) print(toOneLine(`  changed by the server: ${changed.join(", ")}`));
    for (const problem of problems) print(toOneLine(`  ${problem}`));
  }
  const taken = entries.filter((entry) => entry.taken);
  const hindered = taken.filter(({ problems }) => problems.length > 0);
  print(
    `${taken.length} of ${pluralize(entries.length, "item")} taken, ${hindered.length} of them with something to be done before all of it runs`,
  );
}

/** Lists problems that are known to prevent an item from running here. */
function findObstacles({ kind, fields }: Item): string[] {
  const stored = findStoredKind(kind);
  if (stored) return [describeNotRun(stored)];
  const codes =
    kind === "script" ? [fields] : kind === "flow" ? listFlowCode(fields.value).map(({ code }) => code) : [];
  const languages = new Set(codes.map(({ language }) => String(language)));
  const obstacles = [...languages]
    .filter((language) => findRuntime(language) === undefined)
    .map((language) => `will not run: ${language} is stored, but not offered`);
  for (const { language, content } of codes) {
    const missing = describeMissingPackages(String(language), String(content));
    if (missing) obstacles.push(`will not run: ${missing}`);
  }
  const hub = kind === "flow" ? JSON.stringify(fields.value ?? null).matchAll(/"(hub\/[^"]+)"/g) : [];
  for (const path of new Set([...hub].map((match) => match[1])))
    obstacles.push(`will not run: a step runs ${path}, and scripts of the hub are not offered`);
  return obstacles;
}

const REFERENCES = [
  { kind: "variable", operation: existsVariable, pattern: /\$var:([ufg]\/[\w/-]+)/g },
  {
    kind: "variable",
    operation: existsVariable,
    pattern: /\b(?:get_variable|getVariable)\(\s*\\?["']([ufg]\/[\w/-]+)/g,
  },
  { kind: "resource", operation: existsResource, pattern: /\$res:([ufg]\/[\w/-]+)/g },
  {
    kind: "resource",
    operation: existsResource,
    pattern: /\b(?:get_resource|getResource)\(\s*\\?["']([ufg]\/[\w/-]+)/g,
  },
] as const;

/** Finds the variables and resources that items refer to by a literal path and that do not exist. */
class MissingReferences {
  readonly #at: Deployment;
  readonly #exists = new Map<string, Promise<boolean>>();

  constructor(at: Deployment) {
    this.#at = at;
  }

  async of({ fields }: Item): Promise<string[]> {
    const text = JSON.stringify(fields satisfies Fields);
    const missing = new Set<string>();
    for (const { kind, operation, pattern } of REFERENCES)
      for (const [, path = ""] of text.matchAll(pattern)) {
        const name = `${kind} ${path}`;
        if (!this.#exists.has(name)) this.#exists.set(name, this.#ask(operation, path));
        if (!(await this.#exists.get(name))) missing.add(`needs ${name}, which is to be set`);
      }
    return [...missing];
  }

  #ask(operation: typeof existsVariable | typeof existsResource, path: string): Promise<boolean> {
    const { client, workspace } = this.#at;
    return client.call(operation, { workspace, path } as never) as Promise<boolean>;
  }
}
