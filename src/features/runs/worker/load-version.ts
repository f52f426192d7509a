import { requireRuntime } from "../../../engines/languages/languages.ts";
import { findRuntimeOfCode } from "../../../engines/languages/programs/table.ts";
import { analyseScript } from "../../../engines/languages/reading/analyse.ts";
import type { Language, Packages } from "../../../engines/languages/types.ts";
import type { RunnableVersion } from "../../../engines/runner/types.ts";
import type { StopRequest } from "../../../lib/async/sleep.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { loadImports, type Modules, resolveImports } from "../../code/scripts/imports/imports.ts";
import { type DeployedScript, getDeployedScriptByHash, withImports } from "../../code/scripts/versions.ts";
import { getInlineVersion, type InlineCode, type ResolvedCode } from "../flows/drive/inline-scripts.ts";
import { getDeployer, resolveLock } from "./dependencies/resolve-dependencies.ts";
import type { OutputWriter } from "./job-output.ts";
import type { JobSlot } from "./job-slot.ts";

/** Code of a preview or of a step, with the modules that came with it. */
type UndeployedCode = InlineCode & { modules?: Modules | undefined };

/** What the code of a job needs if it is resolved when the job runs. */
interface LoadOptions {
  stop: StopRequest;
  output: OutputWriter;
  slot: JobSlot;
}

/**
 * Loads the code of a job: a deployed version, the code of a preview, or an inline script of a flow. Synchronous for a
 * deployed version, or the script of a deployed flow, that has run before and imports no other script.
 * @throws (or rejects with) NotFound, BadRequest for a language that this machine cannot run
 */
export function loadVersion(
  app: App,
  job: Job,
  options: LoadOptions,
): RunnableVersion | Promise<RunnableVersion> {
  if (job.kind === "flowscript")
    return getInlineVersion(app, job, (code) => resolveCode(app, job, code, options));
  if (!job.script_hash) return loadPreview(app, job, options);
  const found = getDeployedScriptByHash(app, job.workspace_id, job.script_hash);
  if (found instanceof Promise || found.pins) return loadWithImports(app, job, found);
  requireRuntime(found.version.language);
  return isolate(job, found.version);
}

async function loadWithImports(
  app: App,
  job: Job,
  found: DeployedScript | Promise<DeployedScript>,
): Promise<RunnableVersion> {
  const script = await found;
  const { version, pins } = script;
  requireRuntime(version.language);
  if (!pins) return isolate(job, version);
  return isolate(job, withImports(script, await loadImports(app, job.workspace_id, pins)));
}

/** Files written by a run that leaves no trace must not outlive it, so it gets its own process. */
function isolate({ delete_after_use }: Job, version: RunnableVersion): RunnableVersion {
  return delete_after_use ? { ...version, isolation: "fresh" } : version;
}

async function loadPreview(app: App, job: Job, options: LoadOptions): Promise<RunnableVersion> {
  const content = job.raw_code ?? "";
  const language = job.language as Language;
  const analysis = await analyseScript(language, content, { owner: job.workspace_id });
  const path = job.script_path ?? undefined;
  const modules = job.raw_modules === null ? undefined : (parseSchemaJson(job.raw_modules) as Modules);
  const code = { language, content, path, lock: job.raw_lock ?? undefined, modules };
  const { lock, imports } = await resolveCode(app, job, code, options);
  return {
    id: sha256(JSON.stringify([language, lock, content, imports])).slice(0, 32),
    workspace_id: job.workspace_id,
    path,
    language: findRuntimeOfCode(language, content, imports) ?? requireRuntime(language),
    content,
    imports: imports.length > 0 ? imports : undefined,
    lock,
    parameters: analysis.signature.parameters,
    preprocessor_parameters: undefined,
    envs: [],
    isolation: "fresh",
  };
}

/** Resolves the lock and the imports of undeployed code, with the rights of the user the job runs as. */
async function resolveCode(
  app: App,
  job: Job,
  code: UndeployedCode,
  { output, stop, slot }: LoadOptions,
): Promise<ResolvedCode> {
  const { workspace_id } = job;
  const analysis = await analyseScript(code.language, code.content, { owner: workspace_id });
  const lockOf = async (packages: Packages | undefined) => {
    if (code.lock || !packages) return code.lock ?? "";
    const takeBack = slot.yield();
    try {
      return await resolveLock(app, packages, {
        owner: workspace_id,
        onLog: output.log,
        signal: stop.signal,
      });
    } finally {
      takeBack();
    }
  };
  if (analysis.imports.length === 0) return { lock: await lockOf(analysis.packages), imports: [] };
  const found = await resolveImports(app, await getDeployer(app, job), { ...code, workspace_id });
  return { lock: await lockOf(found.packages), imports: found.imported };
}

/** Returns a version that runs the function `preprocessor` instead of main. */
export function toPreprocessorVersion(version: RunnableVersion): RunnableVersion {
  const id = sha256(`${version.id}\npreprocessor`).slice(0, 32);
  const { preprocessor_parameters: parameters = [] } = version;
  return { ...version, id, parameters, preprocessor_parameters: undefined };
}
