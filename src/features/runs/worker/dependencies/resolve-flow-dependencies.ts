/**
 * Dependency jobs of flows: resolve the locks of inline scripts, of a deployed version or of a flow that a client is
 * about to deploy.
 */

import { applyLockVersions } from "../../../../engines/languages/packages.ts";
import type { Packages } from "../../../../engines/languages/types.ts";
import type { LockOptions } from "../../../../engines/runner/types.ts";
import { NotFound, SvcError } from "../../../../lib/errors.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { completeFlowLocks, fillLocks, formatInlineScriptPath } from "../../../code/flows/locks.ts";
import type { StoredFlow } from "../../../code/flows/value/walk-steps.ts";
import { findFlowVersion } from "../../../code/flows/versions.ts";
import { formatRelockReason } from "../../../code/scripts/imports/importers.ts";
import { ImportError, resolveImports } from "../../../code/scripts/imports/imports.ts";
import type { PinnedImport } from "../../../code/scripts/tables.ts";
import type { OutputWriter } from "../job-output.ts";
import { createFailure, type JobOutcome } from "../outcome.ts";
import { getDeployer, resolveLock } from "./resolve-dependencies.ts";

export async function resolveFlowDependencies(
  app: App,
  job: Job,
  output: OutputWriter,
  signal: AbortSignal,
): Promise<JobOutcome> {
  const reason = formatRelockReason(job);
  if (reason) output.log(`locked again: ${reason}\n`);
  const pins = new Map<string, PinnedImport>();
  try {
    const { value, imports } = await resolveLocks(
      app,
      job,
      { owner: job.workspace_id, onLog: output.log, signal },
      { anew: reason !== undefined, pins },
    );
    if (job.flow_version === null) {
      return { status: "success", result: JSON.stringify({ updated_flow_value: value }) };
    }
    return {
      status: "success",
      result: JSON.stringify({ version: job.flow_version }),
      inTransaction: (tx) => completeFlowLocks(app, tx, job, { value, imports }, reason),
    };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    output.log(`${error.message}\n`);
    const others = error instanceof ImportError ? [...error.found, ...error.candidates] : [];
    const imports = [...pins.keys(), ...others];
    return {
      ...createFailure({ name: error.name, message: error.message }),
      inTransaction: (tx) => completeFlowLocks(app, tx, job, { error: error.message, imports }),
    };
  }
}

/**
 * Resolves the locks of a flow's inline scripts.
 * @param anew ignores the existing locks of scripts that import others
 * @param pins receives the imports, also before a failure
 */
async function resolveLocks(
  app: App,
  job: Job,
  options: LockOptions,
  { anew, pins }: { anew: boolean; pins: Map<string, PinnedImport> },
): Promise<{ value: StoredFlow; imports: PinnedImport[] }> {
  const { workspace_id, script_path } = job;
  const find = memoizeByPackages((packages) => resolveLock(app, packages, options));
  const { value } = await fillLocks(await loadFlow(app, job), { owner: workspace_id }, async (script) => {
    const { id, language, content, analysis, lock, sent_lock } = script;
    if (analysis.imports.length === 0) return lock ?? find(applyLockVersions(analysis.packages, sent_lock));
    const path = formatInlineScriptPath(script_path ?? undefined, id);
    const code = { workspace_id, path, language, content };
    const resolved = await resolveImports(app, await getDeployer(app, job), code);
    for (const pin of resolved.pins) pins.set(pin.path, pin);
    return (anew ? undefined : lock) ?? find(applyLockVersions(resolved.packages, sent_lock));
  });
  return { value, imports: [...pins.values()].sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** Loads the job's flow: an undeployed one in its row, or a deployed version. */
async function loadFlow(app: App, job: Job): Promise<StoredFlow> {
  if (job.flow_version === null) return parseSchemaJson(job.raw_flow ?? "") as StoredFlow;
  const row = await findFlowVersion(app.db.read, job.workspace_id, job.flow_version);
  if (!row) throw new NotFound(`flow version ${job.flow_version}`);
  return row.version.value;
}

/** Shares one lock between steps that need the same packages. */
function memoizeByPackages(lockOf: (packages: Packages | undefined) => Promise<string>) {
  const found = new Map<string, Promise<string>>();
  return (packages: Packages | undefined): Promise<string> => {
    const key = JSON.stringify(packages ?? null);
    const lock = found.get(key) ?? lockOf(packages);
    found.set(key, lock);
    return lock;
  };
}
