/**
 * Report of a push, for users who move a workspace to this server: which items were accepted, were changed, or will not
 * run.
 */

import { findRuntime } from "../../src/engines/languages/languages.ts";
import { describeMissingPackages } from "../../src/engines/languages/programs/packages.ts";
import { findRuntimeOfCode } from "../../src/engines/languages/programs/table.ts";
import { describeNotRun } from "../../src/features/triggers/common/stored/kinds.ts";
import { existsResource, existsVariable } from "../client/operations/assets.ts";
import { analyseCode } from "../client/operations/code.ts";
import { print, toOneLine } from "../terminal/text/output.ts";
import { type Deployment, isStored } from "./deploy/deployment.ts";
import type { StepResult } from "./options.ts";
import { compareItems, isUnsetSecret } from "./read/canonical.ts";
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
  const programs = new MissingPrograms(at);
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
        ...(await programs.of(item))
          .filter((problem) => !error?.includes(problem))
          .map((problem) => `will not run: ${problem}`),
        ...(isUnsetSecret(item) && there === undefined ? [NO_SECRET] : []),
        ...unlistedTags(item),
        ...(await missing.of(item)),
      ],
    });
  }
  for (const { kind, path } of folder.left_secrets)
    if (!(await missing.exists("variable", path)))
      entries.push({ kind, path, taken: false, changed: [], problems: [LEFT_SECRET] });
  return entries;
}

const NO_SECRET = "a secret that is to be set: its file has no value";
const LEFT_SECRET = "a secret that is to be set: the push leaves values of secrets out without --secrets";

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
  const codes = listCode({ kind, fields });
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

const listCode = ({ kind, fields }: Pick<Item, "kind" | "fields">): Fields[] =>
  kind === "script" ? [fields] : kind === "flow" ? listFlowCode(fields.value).map(({ code }) => code) : [];

/** Asks the server for programs that code runs with and that it lacks, once for each of them. */
class MissingPrograms {
  readonly #at: Deployment;
  readonly #found = new Map<string, Promise<string | undefined>>();

  constructor(at: Deployment) {
    this.#at = at;
  }

  async of(item: Item): Promise<string[]> {
    const missing = new Set<string>();
    for (const { language, content } of listCode(item)) {
      const code = { language: String(language), content: String(content) };
      const runtime = findRuntimeOfCode(code.language, code.content, []);
      if (runtime === undefined) continue;
      if (!this.#found.has(runtime)) this.#found.set(runtime, this.#ask(code));
      const problem = await this.#found.get(runtime);
      if (problem !== undefined) missing.add(problem);
    }
    return [...missing];
  }

  async #ask(body: { language: string; content: string }): Promise<string | undefined> {
    const { client, workspace } = this.#at;
    return (await client.call(analyseCode, { workspace, body } as never)).missing_program;
  }
}

const REFERENCES = [
  { kind: "variable", pattern: /\$var:([ufg]\/[\w/-]+)/g },
  {
    kind: "variable",
    pattern: /\b(?:get_variable|getVariable)\(\s*\\?["']([ufg]\/[\w/-]+)/g,
  },
  { kind: "resource", pattern: /\$res:([ufg]\/[\w/-]+)/g },
  {
    kind: "resource",
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
    for (const { kind, pattern } of REFERENCES)
      for (const [, path = ""] of text.matchAll(pattern))
        if (!(await this.exists(kind, path))) missing.add(`needs ${kind} ${path}, which is to be set`);
    return [...missing];
  }

  async exists(kind: "variable" | "resource", path: string): Promise<boolean> {
    const name = `${kind} ${path}`;
    const operation = kind === "variable" ? existsVariable : existsResource;
    if (!this.#exists.has(name)) this.#exists.set(name, this.#ask(operation, path));
    return (await this.#exists.get(name)) ?? false;
  }

  #ask(operation: typeof existsVariable | typeof existsResource, path: string): Promise<boolean> {
    const { client, workspace } = this.#at;
    return client.call(operation, { workspace, path } as never) as Promise<boolean>;
  }
}
