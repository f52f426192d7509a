import { requireRuntime } from "../../../engines/languages/languages.ts";
import { findRuntimeOfCode } from "../../../engines/languages/programs/table.ts";
import { analyseScript } from "../../../engines/languages/reading/analyse.ts";
import type { Language, Packages } from "../../../engines/languages/types.ts";
import type { ImportedScript, RunnableVersion } from "../../../engines/runner/types.ts";
import type { StopRequest } from "../../../lib/async/sleep.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { loadImports, type Modules, resolveImports } from "../../code/scripts/imports/imports.ts";
import { getDeployedScriptByHash } from "../../code/scripts/versions.ts";
import { createInlineVersion, type InlineCode, type ResolvedCode } from "../flows/drive/inline-scripts.ts";
import { getDeployer, resolveLock } from "./dependencies/resolve-dependencies.ts";
import type { OutputWriter } from "./job-output.ts";
import type { JobSlot } from "./job-slot.ts";

/** Code of a preview or of a step, with the modules that came with it. */
type UndeployedCode = InlineCode & { modules?: Modules | undefined };

/** Loads the code of a job: a deployed version, the code of a preview, or an inline script of a flow. */
export async function loadVersion(
  app: App,
  job: Job,
  stop: StopRequest,
  output: OutputWriter,
  slot: JobSlot,
): Promise<RunnableVersion> {
  const resolve = (code: UndeployedCode) => resolveCode(app, job, code, { output, stop, slot });
  if (job.kind === "flowscript") return createInlineVersion(app, job, resolve);
  if (job.script_hash) {
    const found = getDeployedScriptByHash(app, job.workspace_id, job.script_hash);
    const { version, pins, language } = found instanceof Promise ? await found : found;
    requireRuntime(version.language);
    const whole = pins
      ? withImports(version, language, await loadImports(app, job.workspace_id, pins))
      : version;
    // Files written by the run must not outlive it, so it gets its own process.
    return job.delete_after_use ? { ...whole, isolation: "fresh" } : whole;
  }
  const content = job.raw_code ?? "";
  const language = job.language as Language;
  const analysis = await analyseScript(language, content, { owner: job.workspace_id });
  const path = job.script_path ?? undefined;
  const modules = job.raw_modules === null ? undefined : (parseSchemaJson(job.raw_modules) as Modules);
  const code = { language, content, path, lock: job.raw_lock ?? undefined, modules };
  const { lock, imports } = await resolve(code);
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

function withImports(version: RunnableVersion, language: string, imports: ImportedScript[]): RunnableVersion {
  return {
    ...version,
    imports,
    language: findRuntimeOfCode(language, version.content, imports) ?? version.language,
  };
}

/** Resolves the lock and the imports of undeployed code, with the rights of the user the job runs as. */
async function resolveCode(
  app: App,
  job: Job,
  code: UndeployedCode,
  { output, stop, slot }: { output: OutputWriter; stop: StopRequest; slot: JobSlot },
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
