/** The locks of the scripts that are written in a flow itself. */
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { isLanguage } from "../../../engines/languages/languages.ts";
import { analyseScript, usableLock } from "../../../engines/languages/reading/analyse.ts";
import type { Language, ScriptAnalysis } from "../../../engines/languages/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { copyJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { storeImports } from "../scripts/imports/importers.ts";
import { settleLock } from "../scripts/imports/locking.ts";
import type { PinnedImport } from "../scripts/tables.ts";
import { type FlowVersion, flows, flowVersions } from "./tables.ts";
import { rawScripts, type StoredFlow } from "./value/tree.ts";
import { stepFault } from "./value/validate.ts";
import { forgetFlow } from "./versions.ts";

export interface LockedFlow {
  value: StoredFlow;
  /** No script of it has dependencies without a lock. */
  complete: boolean;
}

/**
 * Reads the flow's own scripts. Those that need no packages and import no script get the lock "".
 * @returns the flow with the locks that are known
 * @throws BadRequest naming the step, for a syntax error (line and column)
 */
export function lockWhatNeedsNothing(value: StoredFlow): Promise<LockedFlow> {
  return fillLocks(value, async ({ analysis, lock }) => {
    if (analysis.imports.length > 0) return undefined;
    return lock ?? (analysis.packages ? undefined : "");
  });
}

/** Where a script that is written in a flow stands: relative imports are meant from there. */
export function inlinePath(flow_path: string | undefined, step_id: string): string | undefined {
  return flow_path === undefined || flow_path === "" ? undefined : `${flow_path}/${step_id}`;
}

/** A script that is written in a flow. */
export interface InlineScript {
  /** Id of its step. */
  id: string;
  language: Language;
  content: string;
  analysis: ScriptAnalysis;
  /** The lock that came with it, if it can be used. */
  lock: string | undefined;
}

/**
 * Gives each script of the flow the lock that `lockOf` finds.
 * @param lockOf undefined leaves the script as it is, and the flow incomplete
 * @throws BadRequest naming the step
 */
export async function fillLocks(
  value: StoredFlow,
  lockOf: (script: InlineScript) => Promise<string | undefined>,
): Promise<LockedFlow> {
  const filled = copyJson(value);
  let complete = true;
  for (const { id, script } of rawScripts(filled)) {
    if (!isLanguage(script.language)) continue;
    const { language } = script;
    const { content } = script;
    const found = await ofStep(id, "content", async () => {
      const analysis = await analyseScript(language, content);
      return lockOf({ id, language, content, analysis, lock: await knownLock(language, script.lock) });
    });
    if (found === undefined) complete = false;
    else script.lock = found;
  }
  return { value: filled, complete };
}

/** "" says that the script needs nothing. */
async function knownLock(language: Language, lock: unknown): Promise<string | undefined> {
  if (typeof lock !== "string") return undefined;
  return lock === "" ? "" : usableLock(language, lock);
}

/** What is wrong with a step's script is said of the step. */
async function ofStep<T>(id: string, field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof BadRequest) throw stepFault(id, field, cause.message);
    throw cause;
  }
}

/** What a job found: the steps with their locks and what they import, or why there are none. */
type FlowLockOutcome = { value: StoredFlow; imports: PinnedImport[] } | { error: string; missing?: string[] };

/** Stores how the locking of a version ended. A version that could run already is superseded when anything differs. */
export async function settleFlowLocks(
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
  const found = "error" in outcome ? outcome.missing : outcome.imports.map(({ path }) => path);
  const importer = { workspace_id, kind: "flow", path: row.path } as const;
  if ("error" in outcome) {
    await tx.update(flowVersions).set({ lock_error_logs: outcome.error }).where(which);
    await storeImports(tx, importer, found ?? []);
  } else if (row.ready) await supersede(tx, row, outcome, reason);
  else {
    const { value, imports } = outcome;
    await tx.update(flowVersions).set({ value, imports, ready: true, lock_error_logs: null }).where(which);
    await storeImports(tx, importer, found ?? []);
    const isNewer = or(isNull(flows.ready_version), lt(flows.ready_version, row.id));
    await tx
      .update(flows)
      .set({ ready_version: row.id })
      .where(and(flowAt(row), isNewer));
  }
  tx.afterCommit(() => forgetFlow(app, workspace_id, row.path));
}

/** Another version with the same steps, locked against what is there now; none when somebody has deployed meanwhile. */
async function supersede(
  tx: Tx,
  row: FlowVersion,
  { value, imports }: { value: StoredFlow; imports: PinnedImport[] },
  reason = "an imported script was deployed",
): Promise<void> {
  if (Bun.deepEquals(row.value, value) && Bun.deepEquals(row.imports ?? [], imports)) return;
  const { id, ...copy } = row;
  const isNewest = and(flowAt(row), eq(flows.version, id));
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

const flowAt = ({ workspace_id, path }: FlowVersion) =>
  and(eq(flows.workspace_id, workspace_id), eq(flows.path, path));

/** Stores why a job that was to find locks has found none; nothing for jobs of other kinds. */
export async function settleWithoutLock(app: App, tx: Tx, job: Job, error: string): Promise<void> {
  if (job.kind === "dependencies") await settleLock(app, tx, job, { error });
  else if (job.kind === "flowdependencies") await settleFlowLocks(app, tx, job, { error });
}
