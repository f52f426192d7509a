/**
 * Dependency jobs of scripts: resolve the lock of a deployed version and prepare it, or of code that a client is about
 * to deploy.
 */

import { applyLockVersions, mergePackages } from "../../../../engines/languages/packages.ts";
import { analyseScript } from "../../../../engines/languages/reading/analyse.ts";
import type { Language, Packages } from "../../../../engines/languages/types.ts";
import type { LockOptions } from "../../../../engines/runner/types.ts";
import { Forbidden, NotFound, SvcError } from "../../../../lib/errors.ts";
import type { App, Member } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { formatRelockReason } from "../../../code/scripts/imports/importers.ts";
import {
  ImportError,
  type ImportingCode,
  loadImports,
  resolveImports,
} from "../../../code/scripts/imports/imports.ts";
import { completeLock } from "../../../code/scripts/imports/locking.ts";
import type { PinnedImport, Script } from "../../../code/scripts/tables.ts";
import { findScriptVersion } from "../../../code/scripts/versions.ts";
import { resolveJobMember } from "../../../tenancy/people/members.ts";
import type { OutputWriter } from "../job-output.ts";
import { createFailure, type JobOutcome } from "../outcome.ts";

export async function resolveDependencies(
  app: App,
  job: Job,
  output: OutputWriter,
  signal: AbortSignal,
): Promise<JobOutcome> {
  const reason = formatRelockReason(job);
  if (reason) output.log(`locked again: ${reason}\n`);
  let found: string[] = [];
  const onImports = (pins: PinnedImport[]) => {
    found = pins.map(({ path }) => path);
  };
  try {
    const { lock, imports } = await createLock(app, job, { onLog: output.log, onImports, signal });
    return {
      status: "success",
      result: JSON.stringify({ lock }),
      inTransaction: (tx) => completeLock(app, tx, job, { lock, imports }, reason),
    };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    output.log(`${error.message}\n`);
    const imports = error instanceof ImportError ? [...error.found, ...error.candidates] : found;
    return {
      ...createFailure({ name: error.name, message: error.message }),
      inTransaction: (tx) => completeLock(app, tx, job, { error: error.message, imports }),
    };
  }
}

interface CreateLockOptions {
  onLog: (text: string) => void;
  /** Called with the imports before the packages are resolved. */
  onImports: (pins: PinnedImport[]) => void;
  signal: AbortSignal;
}

async function createLock(
  app: App,
  job: Job,
  options: CreateLockOptions,
): Promise<{ lock: string; imports: PinnedImport[] }> {
  const { code, row } = await loadCode(app, job);
  const member = await getDeployer(app, job);
  const { pins, packages, warning } = await resolveImports(app, member, code);
  options.onImports(pins);
  if (warning) options.onLog(`${warning}\n`);
  const kept = row?.lock != null && (!row.ready || (await needsSamePackages(app, code, row, packages)));
  const wanted = applyLockVersions(packages, row?.extra?.lock);
  return {
    lock: kept ? row.lock! : await resolveLock(app, wanted, { ...options, owner: job.workspace_id }),
    imports: pins,
  };
}

/** Whether the version's previous imports need the same packages, so that its lock is still valid. */
async function needsSamePackages(
  app: App,
  code: ImportingCode,
  row: Script,
  packages: Packages | undefined,
): Promise<boolean> {
  const imported = await loadImports(app, row.workspace_id, row.imports ?? []);
  const owner = { owner: row.workspace_id };
  let before = (await analyseScript(code.language, code.content, owner)).packages;
  for (const { language, content } of imported) {
    before = mergePackages(before, (await analyseScript(language, content, owner)).packages);
  }
  return Bun.deepEquals(before, packages);
}

/** Returns the member with whose rights imports are read. @throws Forbidden if the user has left the workspace */
export async function getDeployer(app: App, job: Job): Promise<Member> {
  const member = await resolveJobMember(app, job);
  if (!member) throw new Forbidden(`${job.email} is not a member of workspace ${job.workspace_id}`);
  return member;
}

/** Loads the code of the job: undeployed code in its row, or a deployed version by its hash. */
async function loadCode(app: App, job: Job): Promise<{ code: ImportingCode; row: Script | undefined }> {
  const { workspace_id } = job;
  if (job.raw_code !== null) {
    const path = job.script_path ?? undefined;
    return {
      code: { workspace_id, path, language: job.language as Language, content: job.raw_code },
      row: undefined,
    };
  }
  const row = await findScriptVersion(app.db.read, workspace_id, job.script_hash ?? "");
  if (!row) throw new NotFound(`script with hash ${job.script_hash}`);
  const { path, content } = row;
  return { code: { workspace_id, path, language: row.language as Language, content }, row };
}

/** Resolves packages to a lock text; "" for none. @throws DependencyError naming the package */
export function resolveLock(app: App, packages: Packages | undefined, options: LockOptions): Promise<string> {
  return packages ? app.runner.lockPackages(packages, options) : Promise.resolve("");
}
