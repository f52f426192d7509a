/** The code of scripts that are written inside flows. */

import type { RawScript } from "../../../../engines/flow-engine/types.ts";
import { requireRuntime } from "../../../../engines/languages/languages.ts";
import { analyseScript, usableLock } from "../../../../engines/languages/reading/analyse.ts";
import type { Language, ScriptAnalysis } from "../../../../engines/languages/types.ts";
import type { ImportedScript, RunnableVersion } from "../../../../engines/runner/types.ts";
import { Cache } from "../../../../lib/async/cache.ts";
import { perApp } from "../../../../lib/async/per-app.ts";
import { Internal } from "../../../../lib/errors.ts";
import { sha256 } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { inlinePath } from "../../../code/flows/locks.ts";
import { flowImportsOf, flowPathOf, flowValueOf } from "../../../code/flows/versions.ts";
import { loadImports } from "../../../code/scripts/imports/imports.ts";
import { leafOf, moduleIndex } from "../modules.ts";

/** What code runs with: the packages of its lock, and the scripts that it imports. */
export interface ResolvedCode {
  lock: string;
  imports: ImportedScript[];
}

/** Finds what code needs that is not deployed. @throws DependencyError, ImportError */
export type ResolveCode = (code: Code) => Promise<ResolvedCode>;

export interface Code {
  language: Language;
  content: string;
  /** From which relative imports are meant. */
  path: string | undefined;
  /** The lock that came with it. */
  lock: string | undefined;
}

/** Analyses by a digest of the code: reading the source on each run would cost more than the run. */
const analysesOf = perApp((_: App) => new Cache<ScriptAnalysis>({ max: MAX_ANALYSES }));
const MAX_ANALYSES = 10_000;

/**
 * What a step's process loads. The same code in the same language is the same version, whichever flow it stands in.
 * @param resolve for a script of a flow that is not deployed, which may have no lock yet
 */
export async function flowScriptVersion(app: App, job: Job, resolve: ResolveCode): Promise<RunnableVersion> {
  const code = await codeOf(app, job);
  const { language, content } = code;
  const analysis = await analyse(app, code);
  const { lock, imports } = await resolved(app, job, code, analysis, resolve);
  const sources = imports.map((each) => [each.path, sha256(each.content)]);
  const id = sha256(
    `${language}\n${lock}\n${content}${imports.length > 0 ? JSON.stringify([code.path, sources]) : ""}`,
  );
  const { parameters, preprocessor } = analysis.signature;
  return {
    id: id.slice(0, 32),
    workspace_id: job.workspace_id,
    path: (imports.length > 0 ? code.path : job.script_path) ?? undefined,
    language: requireRuntime(language),
    content,
    imports: imports.length > 0 ? imports : undefined,
    lock,
    parameters,
    preprocessor_parameters: preprocessor,
    envs: [],
    isolation: "shared",
  };
}

async function analyse(app: App, { language, content }: Code): Promise<ScriptAnalysis> {
  const analyses = analysesOf(app);
  const id = sha256(`${language}\n${content}`);
  return analyses.get(id) ?? analyses.load(id, () => analyseScript(language, content));
}

async function resolved(
  app: App,
  job: Job,
  code: Code,
  analysis: ScriptAnalysis,
  resolve: ResolveCode,
): Promise<ResolvedCode> {
  const { workspace_id, flow_version } = job;
  const lock = code.lock === "" ? "" : await usableLock(code.language, code.lock);
  if (analysis.imports.length === 0 && lock !== undefined) return { lock, imports: [] };
  const pins = flow_version === null ? undefined : await flowImportsOf(app, workspace_id, flow_version);
  if (lock !== undefined && pins) return { lock, imports: await loadImports(app, workspace_id, pins) };
  return resolveOnce(app, job.root_job, { ...code, lock }, resolve);
}

const MAX_RESOLVED = 1_000;
/** How long one is kept: longer than it takes to begin all steps of most runs. */
const RESOLVED_MS = 300_000;
const resolvedBy = perApp(
  (app: App) =>
    new Cache<ResolvedCode>({ max: MAX_RESOLVED, ttl_ms: RESOLVED_MS, now: () => app.clock().getTime() }),
);

/** Found once for all iterations of a loop of one run. @throws DependencyError, ImportError */
async function resolveOnce(
  app: App,
  root_job: string | null,
  code: Code,
  resolve: ResolveCode,
): Promise<ResolvedCode> {
  const found = resolvedBy(app);
  const name = sha256(`${root_job}\n${code.path}\n${code.language}\n${code.content}`);
  return found.get(name) ?? found.load(name, () => resolve(code));
}

async function codeOf(app: App, job: Job): Promise<Code> {
  const { workspace_id, flow_version } = job;
  const language = job.language as Language;
  if (job.raw_code !== null) {
    const path = job.script_path ?? undefined;
    return { language, content: job.raw_code, path, lock: job.raw_lock ?? undefined };
  }
  const value = await flowValueOf(app, workspace_id, flow_version ?? 0);
  const step = job.flow_step_id ?? "";
  const module = moduleIndex(value).get(step);
  const leaf = module && leafOf(module);
  if (leaf?.value.type !== "rawscript") throw new Internal(`step ${job.flow_step_id} is no script`);
  const { content, lock } = leaf.value satisfies RawScript;
  return {
    language,
    content,
    path: inlinePath(await flowPathOf(app, workspace_id, flow_version ?? 0), step),
    lock,
  };
}
