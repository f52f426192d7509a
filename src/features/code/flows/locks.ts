/** Locks of the inline scripts of flows. */
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { AnalysisOwner } from "../../../engines/languages/analysis-slots.ts";
import { isLanguage } from "../../../engines/languages/languages.ts";
import { analyseScript, findUsableLock, isEmptyLock } from "../../../engines/languages/reading/analyse.ts";
import type { Language, ScriptAnalysis } from "../../../engines/languages/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { copyJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { storeImports } from "../scripts/imports/importers.ts";
import { completeLock } from "../scripts/imports/locking.ts";
import type { PinnedImport } from "../scripts/tables.ts";
import { type FlowVersion, flows, flowVersions } from "./tables.ts";
import { createStepError } from "./value/validate.ts";
import { type StoredFlow, walkInlineScripts } from "./value/walk-steps.ts";
import { invalidateFlow } from "./versions.ts";

export interface LockedFlow {
  value: StoredFlow;
  /** False if a script has dependencies but no lock. */
  complete: boolean;
}

/**
 * Locks the inline scripts that need no dependency job, for a request. Scripts without packages and imports get the
 * lock "".
 * @returns the flow with the known locks
 * @throws BadRequest naming the step, for a syntax error (line and column); TooManyRequests
 */
export function lockTrivialScripts(workspace_id: string, value: StoredFlow): Promise<LockedFlow> {
  return fillLocks(value, { owner: workspace_id, for_request: true }, async ({ analysis, lock }) => {
    if (analysis.imports.length > 0) return undefined;
    return lock ?? (analysis.packages ? undefined : "");
  });
}

/** Returns the virtual path of an inline script, which relative imports are resolved against. */
export function formatInlineScriptPath(flow_path: string | undefined, step_id: string): string | undefined {
  return flow_path === undefined || flow_path === "" ? undefined : `${flow_path}/${step_id}`;
}

/** A script written inside a flow. */
export interface FlowInlineScript {
  /** Id of its step. */
  id: string;
  language: Language;
  content: string;
  analysis: ScriptAnalysis;
  /** The lock sent with the script, if it is usable. */
  lock: string | undefined;
  /** The lock as it was sent. */
  sent_lock: unknown;
}

/**
 * Sets the lock of each inline script to the result of `lockOf`.
 * @param owner for whom the scripts are analysed
 * @param lockOf undefined leaves the script unlocked, and the flow incomplete
 * @throws BadRequest naming the step
 */
export async function fillLocks(
  value: StoredFlow,
  owner: AnalysisOwner,
  lockOf: (script: FlowInlineScript) => Promise<string | undefined>,
): Promise<LockedFlow> {
  const filled = copyJson(value);
  let complete = true;
  for (const { id, script } of walkInlineScripts(filled)) {
    if (!isLanguage(script.language)) continue;
    const { language } = script;
    const { content } = script;
    const found = await withStepErrors(id, "content", async () => {
      const analysis = await analyseScript(language, content, owner);
      const lock = await parseUsableLock(language, script.lock);
      return lockOf({ id, language, content, analysis, lock, sent_lock: script.lock });
    });
    if (found === undefined) complete = false;
    // It means the same as "", and is returned as it was sent.
    else if (found !== "" || !isEmptyLock(script.lock)) script.lock = found;
  }
  return { value: filled, complete };
}

/** Returns the usable lock of a script. The lock "" means that the script has no dependencies. */
async function parseUsableLock(language: Language, lock: unknown): Promise<string | undefined> {
  if (typeof lock !== "string") return undefined;
  return lock === "" ? "" : findUsableLock(language, lock);
}

/** Rethrows errors of a step's script as errors of that step. */
async function withStepErrors<T>(id: string, field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof BadRequest) throw createStepError(id, field, cause.message);
    throw cause;
  }
}

/** The result of a lock job: the locked flow with its imports, or the error. */
type FlowLockOutcome = { value: StoredFlow; imports: PinnedImport[] } | { error: string; imports?: string[] };

/**
 * Stores the result of a version's lock job. If the version could already run and its locks differ, a new version is
 * inserted.
 */
export async function completeFlowLocks(
  app: App,
  tx: Tx,
  job: Pick<Job, "workspace_id" | "flow_version">,
  outcome: FlowLockOutcome,
  reason?: string,
): Promise<void> {
  const { workspace_id } = job;
  const which = and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.id, job.flow_version ?? 0));
  const [row] = await tx.select().from(flowVersions).where(which);
  if (!row || (row.ready && "error" in outcome)) return;
  const found = "error" in outcome ? outcome.imports : outcome.imports.map(({ path }) => path);
  const importer = { workspace_id, kind: "flow", path: row.path } as const;
  if ("error" in outcome) {
    await tx.update(flowVersions).set({ lock_error_logs: outcome.error }).where(which);
    await storeImports(tx, importer, found ?? []);
  } else if (row.ready) await insertRelockedVersion(tx, row, outcome, reason);
  else {
    const { value, imports } = outcome;
    await tx.update(flowVersions).set({ value, imports, ready: true, lock_error_logs: null }).where(which);
    await storeImports(tx, importer, found ?? []);
    const isNewer = or(isNull(flows.ready_version), lt(flows.ready_version, row.id));
    await tx
      .update(flows)
      .set({ ready_version: row.id })
      .where(and(whereFlow(row), isNewer));
  }
  tx.afterCommit(() => invalidateFlow(app, workspace_id, row.path));
}

/** Inserts a version with the same steps and new locks, unless another version was deployed meanwhile. */
async function insertRelockedVersion(
  tx: Tx,
  row: FlowVersion,
  { value, imports }: { value: StoredFlow; imports: PinnedImport[] },
  reason = "an imported script was deployed",
): Promise<void> {
  if (Bun.deepEquals(row.value, value) && Bun.deepEquals(row.imports ?? [], imports)) return;
  const { id, ...copy } = row;
  const isNewest = and(whereFlow(row), eq(flows.version, id));
  const [flow] = await tx.select({ version: flows.version }).from(flows).where(isNewest);
  if (!flow) return;
  const deployment_msg = `locked again: ${reason}`;
  const [next] = await tx
    .insert(flowVersions)
    .values({ ...copy, value, imports, deployment_msg })
    .returning({ id: flowVersions.id });
  await tx.update(flows).set({ version: next!.id, ready_version: next!.id }).where(isNewest);
  const paths = imports.map(({ path }) => path);
  await storeImports(tx, { workspace_id: row.workspace_id, kind: "flow", path: row.path }, paths);
}

const whereFlow = ({ workspace_id, path }: FlowVersion) =>
  and(eq(flows.workspace_id, workspace_id), eq(flows.path, path));

/** Stores why a lock job failed; does nothing for jobs of other kinds. */
export async function failLocking(app: App, tx: Tx, job: Job, error: string): Promise<void> {
  if (job.kind === "dependencies") await completeLock(app, tx, job, { error });
  else if (job.kind === "flowdependencies") await completeFlowLocks(app, tx, job, { error });
}
