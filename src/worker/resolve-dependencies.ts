/** Dependency jobs: find the lock of a deployed version and make it ready, or of code that a client is about to deploy. */
import type { App } from "../context.ts";
import { NotFound, SvcError } from "../errors.ts";
import { settleLock } from "../features/scripts/service.ts";
import { findVersion } from "../features/scripts/versions.ts";
import { analyseScript } from "../languages/analyse.ts";
import type { Language, Packages } from "../languages/types.ts";
import type { Job } from "../queue/tables.ts";
import { type Ending, failure } from "./ending.ts";
import type { Output } from "./job-output.ts";

export async function resolveDependencies(
  app: App,
  job: Job,
  output: Output,
  signal: AbortSignal,
): Promise<Ending> {
  const { packages, warning } = await analyseScript(job.language as Language, await codeOf(app, job));
  if (warning) output.log(`${warning}\n`);
  try {
    const lock = await lockFor(app, packages, { onLog: output.log, signal });
    return {
      status: "success",
      result: JSON.stringify({ lock }),
      also: (tx) => settleLock(app, tx, job, { lock }),
    };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    output.log(`${error.message}\n`);
    return failure({ name: error.name, message: error.message });
  }
}

/** The job carries code that is not deployed itself. */
async function codeOf(app: App, job: Job): Promise<string> {
  if (job.raw_code !== null) return job.raw_code;
  const row = await findVersion(app.db.read, job.workspace_id, job.script_hash ?? "");
  if (!row) throw new NotFound(`script with hash ${job.script_hash}`);
  return row.content;
}

/** Resolves packages to a lock text; "" for none. @throws DependencyError naming the package */
export function lockFor(
  app: App,
  packages: Packages | undefined,
  options: { onLog: (text: string) => void; signal?: AbortSignal },
): Promise<string> {
  return packages ? app.runner.lockPackages(packages, options) : Promise.resolve("");
}
