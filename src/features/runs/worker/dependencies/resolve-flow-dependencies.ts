/** Jobs that find the locks of the scripts written in a flow: of a deployed version, or of a flow a client is about to deploy. */

import type { Packages } from "../../../../engines/languages/types.ts";
import { NotFound, SvcError } from "../../../../lib/errors.ts";
import { parseFields } from "../../../../lib/json/json.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { fillLocks, inlinePath, settleFlowLocks } from "../../../code/flows/locks.ts";
import type { StoredFlow } from "../../../code/flows/value/tree.ts";
import { findVersion } from "../../../code/flows/versions.ts";
import { relockReason } from "../../../code/scripts/imports/importers.ts";
import { ImportError, resolveImports } from "../../../code/scripts/imports/imports.ts";
import type { PinnedImport } from "../../../code/scripts/tables.ts";
import type { Output } from "../job-output.ts";
import { type Ending, failure } from "../outcome.ts";
import { deployerOf, lockFor } from "./resolve-dependencies.ts";

export async function resolveFlowDependencies(
  app: App,
  job: Job,
  output: Output,
  signal: AbortSignal,
): Promise<Ending> {
  const reason = relockReason(job);
  if (reason) output.log(`locked again: ${reason}\n`);
  try {
    const { value, imports } = await findLocks(app, job, { onLog: output.log, signal }, reason !== undefined);
    if (job.flow_version === null) {
      return { status: "success", result: JSON.stringify({ updated_flow_value: value }) };
    }
    return {
      status: "success",
      result: JSON.stringify({ version: job.flow_version }),
      also: (tx) => settleFlowLocks(app, tx, job, { value, imports }, reason),
    };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    output.log(`${error.message}\n`);
    const missing = error instanceof ImportError ? error.candidates : [];
    return {
      ...failure({ name: error.name, message: error.message }),
      also: (tx) => settleFlowLocks(app, tx, job, { error: error.message, missing }),
    };
  }
}

/** @param anew the locks of scripts that import others are found again */
async function findLocks(
  app: App,
  job: Job,
  options: { onLog: (text: string) => void; signal: AbortSignal },
  anew: boolean,
): Promise<{ value: StoredFlow; imports: PinnedImport[] }> {
  const { workspace_id, script_path } = job;
  const find = onceEach((packages) => lockFor(app, packages, options));
  const pins = new Map<string, PinnedImport>();
  const { value } = await fillLocks(await flowOf(app, job), async (script) => {
    const { id, language, content, analysis, lock } = script;
    if (analysis.imports.length === 0) return lock ?? find(analysis.packages);
    const path = inlinePath(script_path ?? undefined, id);
    const code = { workspace_id, path, language, content };
    const resolved = await resolveImports(app, await deployerOf(app, job), code);
    for (const pin of resolved.pins) pins.set(pin.path, pin);
    return (anew ? undefined : lock) ?? find(resolved.packages);
  });
  return { value, imports: [...pins.values()].sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** The job carries a flow that is not deployed itself. */
async function flowOf(app: App, job: Job): Promise<StoredFlow> {
  if (job.flow_version === null) return parseFields(job.raw_flow ?? "") as StoredFlow;
  const row = await findVersion(app.db.read, job.workspace_id, job.flow_version);
  if (!row) throw new NotFound(`flow version ${job.flow_version}`);
  return row.version.value;
}

/** Steps that need the same packages share one lock. */
function onceEach(lockOf: (packages: Packages | undefined) => Promise<string>) {
  const found = new Map<string, Promise<string>>();
  return (packages: Packages | undefined): Promise<string> => {
    const key = JSON.stringify(packages ?? null);
    const lock = found.get(key) ?? lockOf(packages);
    found.set(key, lock);
    return lock;
  };
}
