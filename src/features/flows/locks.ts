/** The locks of the scripts that are written in a flow itself. */
import { and, eq, isNull, lt, or } from "drizzle-orm";
import type { App } from "../../context.ts";
import type { Tx } from "../../database/database.ts";
import { BadRequest } from "../../errors.ts";
import type { FlowValue } from "../../flow-engine/types.ts";
import { analyseScript, usableLock } from "../../languages/analyse.ts";
import type { Language, Packages } from "../../languages/types.ts";
import type { Job } from "../../queue/tables.ts";
import { settleLock } from "../scripts/service.ts";
import { stepFault } from "./check.ts";
import { flows, flowVersions } from "./tables.ts";
import { rawScripts } from "./tree.ts";
import { forgetFlow } from "./versions.ts";

export interface LockedFlow {
  value: FlowValue;
  /** No script of it has dependencies without a lock. */
  complete: boolean;
}

/**
 * Reads the flow's own scripts. Those without dependencies get the lock "".
 * @returns the flow with the locks that are known
 * @throws BadRequest naming the step, for a syntax error (line and column) and a lock that is none
 */
export function lockWhatNeedsNothing(value: FlowValue): Promise<LockedFlow> {
  return fillLocks(value, async (packages) => (packages ? undefined : ""));
}

/**
 * Gives each script without a lock the one that `lockOf` finds for its dependencies.
 * @param lockOf undefined leaves the script without
 * @throws BadRequest naming the step
 */
export async function fillLocks(
  value: FlowValue,
  lockOf: (packages: Packages | undefined) => Promise<string | undefined>,
): Promise<LockedFlow> {
  const filled = structuredClone(value);
  let complete = true;
  for (const { id, script } of rawScripts(filled)) {
    const language = script.language as Language;
    const { packages } = await ofStep(id, "content", () => analyseScript(language, script.content));
    const { lock } = script;
    if (await usableLock(language, lock)) continue;
    const found = await ofStep(id, "content", () => lockOf(packages));
    if (found === undefined) complete = false;
    else script.lock = found;
  }
  return { value: filled, complete };
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

/** Stores what the job of a version found: its steps with their locks, or why there are none. */
export async function settleFlowLocks(
  app: App,
  tx: Tx,
  job: Pick<Job, "workspace_id" | "flow_version">,
  outcome: { value: FlowValue } | { error: string },
): Promise<void> {
  const set =
    "value" in outcome
      ? { value: outcome.value, ready: true, lock_error_logs: null }
      : { lock_error_logs: outcome.error };
  const [row] = await tx
    .update(flowVersions)
    .set(set)
    .where(and(eq(flowVersions.workspace_id, job.workspace_id), eq(flowVersions.id, job.flow_version ?? 0)))
    .returning({ id: flowVersions.id, path: flowVersions.path });
  if (!row) return;
  if ("value" in outcome) {
    const isNewer = or(isNull(flows.ready_version), lt(flows.ready_version, row.id));
    await tx
      .update(flows)
      .set({ ready_version: row.id })
      .where(and(eq(flows.workspace_id, job.workspace_id), eq(flows.path, row.path), isNewer));
  }
  tx.afterCommit(() => forgetFlow(app, job.workspace_id, row.path));
}

/** Stores why a job that was to find locks has found none; nothing for jobs of other kinds. */
export async function settleWithoutLock(
  app: App,
  tx: Tx,
  job: Pick<Job, "kind" | "workspace_id" | "script_hash" | "flow_version">,
  error: string,
): Promise<void> {
  if (job.kind === "dependencies") await settleLock(app, tx, job, { error });
  else if (job.kind === "flowdependencies") await settleFlowLocks(app, tx, job, { error });
}
