/** Dependency jobs: find the lock of a deployed version and make it ready, or of code that a client is about to deploy. */

import { mergePackages } from "../../../../engines/languages/packages.ts";
import { analyseScript } from "../../../../engines/languages/reading/analyse.ts";
import type { Language, Packages } from "../../../../engines/languages/types.ts";
import { Forbidden, NotFound, SvcError } from "../../../../lib/errors.ts";
import type { App, Member } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { relockReason } from "../../../code/scripts/imports/importers.ts";
import {
  ImportError,
  type Importing,
  loadImports,
  resolveImports,
} from "../../../code/scripts/imports/imports.ts";
import { settleLock } from "../../../code/scripts/imports/locking.ts";
import type { PinnedImport, Script } from "../../../code/scripts/tables.ts";
import { findVersion } from "../../../code/scripts/versions.ts";
import { memberOfJob } from "../../../tenancy/people/members.ts";
import type { Output } from "../job-output.ts";
import { type Ending, failure } from "../outcome.ts";

export async function resolveDependencies(
  app: App,
  job: Job,
  output: Output,
  signal: AbortSignal,
): Promise<Ending> {
  const reason = relockReason(job);
  if (reason) output.log(`locked again: ${reason}\n`);
  try {
    const { lock, imports } = await findLock(app, job, { onLog: output.log, signal });
    return {
      status: "success",
      result: JSON.stringify({ lock }),
      also: (tx) => settleLock(app, tx, job, { lock, imports }, reason),
    };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    output.log(`${error.message}\n`);
    const missing = error instanceof ImportError ? error.candidates : [];
    return {
      ...failure({ name: error.name, message: error.message }),
      also: (tx) => settleLock(app, tx, job, { error: error.message, missing }),
    };
  }
}

interface LockOptions {
  onLog: (text: string) => void;
  signal: AbortSignal;
}

async function findLock(
  app: App,
  job: Job,
  options: LockOptions,
): Promise<{ lock: string; imports: PinnedImport[] }> {
  const { code, row } = await codeOf(app, job);
  const member = await deployerOf(app, job);
  const { pins, packages, warning } = await resolveImports(app, member, code);
  if (warning) options.onLog(`${warning}\n`);
  const kept = row?.lock != null && (!row.ready || (await needsTheSame(app, code, row, packages)));
  return { lock: kept ? row.lock! : await lockFor(app, packages, options), imports: pins };
}

/** Whether what a version imported before needs the same packages: its lock is as good as it was. */
async function needsTheSame(
  app: App,
  code: Importing,
  row: Script,
  packages: Packages | undefined,
): Promise<boolean> {
  const imported = await loadImports(app, row.workspace_id, row.imports ?? []);
  let before = (await analyseScript(code.language, code.content)).packages;
  for (const { language, content } of imported) {
    before = mergePackages(before, (await analyseScript(language, content)).packages);
  }
  return Bun.deepEquals(before, packages);
}

/** Whose rights count for what is imported. @throws Forbidden when the person has left the workspace */
export async function deployerOf(app: App, job: Job): Promise<Member> {
  const member = await memberOfJob(app, job);
  if (!member) throw new Forbidden(`${job.email} is no member of workspace ${job.workspace_id}`);
  return member;
}

/** The job carries code that is not deployed itself, or names a version. */
async function codeOf(app: App, job: Job): Promise<{ code: Importing; row: Script | undefined }> {
  const { workspace_id } = job;
  if (job.raw_code !== null) {
    const path = job.script_path ?? undefined;
    return {
      code: { workspace_id, path, language: job.language as Language, content: job.raw_code },
      row: undefined,
    };
  }
  const row = await findVersion(app.db.read, workspace_id, job.script_hash ?? "");
  if (!row) throw new NotFound(`script with hash ${job.script_hash}`);
  const { path, content } = row;
  return { code: { workspace_id, path, language: row.language as Language, content }, row };
}

/** Resolves packages to a lock text; "" for none. @throws DependencyError naming the package */
export function lockFor(
  app: App,
  packages: Packages | undefined,
  options: { onLog: (text: string) => void; signal?: AbortSignal },
): Promise<string> {
  return packages ? app.runner.lockPackages(packages, options) : Promise.resolve("");
}
