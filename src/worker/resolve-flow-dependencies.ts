/** Jobs that find the locks of the scripts written in a flow: of a deployed version, or of a flow a client is about to deploy. */
import type { App } from "../context.ts";
import { NotFound, SvcError } from "../errors.ts";
import { fillLocks, settleFlowLocks } from "../features/flows/locks.ts";
import { findVersion } from "../features/flows/versions.ts";
import type { FlowValue } from "../flow-engine/types.ts";
import type { Packages } from "../languages/types.ts";
import type { Job } from "../queue/tables.ts";
import { type Ending, failure } from "./ending.ts";
import type { Output } from "./job-output.ts";
import { lockFor } from "./resolve-dependencies.ts";

export async function resolveFlowDependencies(
  app: App,
  job: Job,
  output: Output,
  signal: AbortSignal,
): Promise<Ending> {
  const find = onceEach((packages) => lockFor(app, packages, { onLog: output.log, signal }));
  try {
    const { value } = await fillLocks(await flowOf(app, job), find);
    if (job.flow_version === null) {
      return { status: "success", result: JSON.stringify({ updated_flow_value: value }) };
    }
    return {
      status: "success",
      result: JSON.stringify({ version: job.flow_version }),
      also: (tx) => settleFlowLocks(app, tx, job, { value }),
    };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    output.log(`${error.message}\n`);
    return failure({ name: error.name, message: error.message });
  }
}

/** The job carries a flow that is not deployed itself. */
async function flowOf(app: App, job: Job): Promise<FlowValue> {
  if (job.flow_version === null) return JSON.parse(job.raw_flow ?? "") as FlowValue;
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
