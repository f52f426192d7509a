/** Inline scripts of flows. */

import type { FlowValue, RawScript } from "../../../../engines/flow-engine/types.ts";
import { requireRuntime } from "../../../../engines/languages/languages.ts";
import { findRuntimeOfCode } from "../../../../engines/languages/programs/table.ts";
import { analyseScript, findUsableLock, isEmptyLock } from "../../../../engines/languages/reading/analyse.ts";
import type { Language, ScriptAnalysis } from "../../../../engines/languages/types.ts";
import type { ImportedScript, RunnableVersion } from "../../../../engines/runner/types.ts";
import { Cache } from "../../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../../lib/async/per-app.ts";
import { Internal } from "../../../../lib/errors.ts";
import { sha256 } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { formatInlineScriptPath } from "../../../code/flows/locks.ts";
import { findFlowImports, findFlowPath, getFlowValue } from "../../../code/flows/versions.ts";
import { loadImports } from "../../../code/scripts/imports/imports.ts";
import { findLeafModule, indexModules } from "../modules.ts";

/** Packages (lock) and imported scripts that code runs with. */
export interface ResolvedCode {
  lock: string;
  imports: ImportedScript[];
}

/** Resolves the dependencies of undeployed code. @throws DependencyError, ImportError */
export type CodeResolver = (code: InlineCode) => Promise<ResolvedCode>;

export interface InlineCode {
  language: Language;
  content: string;
  /** The script's path, which relative imports are resolved against. */
  path: string | undefined;
  /** The lock stored with the code. */
  lock: string | undefined;
}

/** Analyses by workspace and digest of the code: analysing on each run would cost more than the run. */
const analysisCacheOf = memoizePerApp((_: App) => new Cache<ScriptAnalysis>({ max: MAX_CACHED_ANALYSES }));
const MAX_CACHED_ANALYSES = 10_000;

/** Versions that depend only on their script. The keys are script objects of deployed flows, which are never mutated. */
const versionsOf = memoizePerApp((_: App) => new WeakMap<RawScript, RunnableVersion>());

/**
 * Returns the version that a step's process loads. Synchronous for a step of a deployed flow that has run before.
 * @param resolve for an undeployed flow, whose scripts may have no lock yet
 */
export function getInlineVersion(
  app: App,
  job: Job,
  resolve: CodeResolver,
): RunnableVersion | Promise<RunnableVersion> {
  if (job.raw_code !== null) {
    const path = job.script_path ?? undefined;
    const code = { content: job.raw_code, path, lock: job.raw_lock ?? undefined };
    return createInlineVersion(app, job, { language: job.language as Language, ...code }, resolve);
  }
  const value = getFlowValue(app, job.workspace_id, job.flow_version ?? 0);
  const script = value instanceof Promise ? undefined : findScript(value, job);
  const known = script && versionsOf(app).get(script);
  // The path differs after the flow was renamed.
  if (known && known.path === (job.script_path ?? undefined)) return known;
  return createDeployedVersion(app, job, value, resolve);
}

async function createDeployedVersion(
  app: App,
  job: Job,
  value: FlowValue | Promise<FlowValue>,
  resolve: CodeResolver,
): Promise<RunnableVersion> {
  const script = findScript(await value, job);
  const { content, lock } = script;
  const { workspace_id, flow_version, flow_step_id } = job;
  const flow = await findFlowPath(app, workspace_id, flow_version ?? 0);
  const path = formatInlineScriptPath(flow, flow_step_id ?? "");
  const code = { language: job.language as Language, content, path, lock };
  const version = await createInlineVersion(app, job, code, resolve);
  const isLocked = version.lock === "" || version.lock === lock;
  if (isLocked && !version.imports) versionsOf(app).set(script, version);
  return version;
}

/** Returns the script of the step that a job runs. @throws Internal if the step is none */
function findScript(value: FlowValue, { flow_step_id }: Job): RawScript {
  const module = indexModules(value).get(flow_step_id ?? "");
  const leaf = module && findLeafModule(module);
  if (leaf?.value.type !== "rawscript") throw new Internal(`step ${flow_step_id} is not a script`);
  return leaf.value;
}

/** Equal code in the same language is one version, whichever flow contains it. */
async function createInlineVersion(
  app: App,
  job: Job,
  code: InlineCode,
  resolve: CodeResolver,
): Promise<RunnableVersion> {
  const { language, content } = code;
  const analysis = await analyseCached(app, job.workspace_id, code);
  const { lock, imports } = await resolveDependenciesOf(app, job, code, analysis, resolve);
  const sources = imports.map((each) => [each.path, sha256(each.content)]);
  const id = sha256(
    `${language}\n${lock}\n${content}${imports.length > 0 ? JSON.stringify([code.path, sources]) : ""}`,
  );
  const { parameters, preprocessor } = analysis.signature;
  return {
    id: id.slice(0, 32),
    workspace_id: job.workspace_id,
    path: (imports.length > 0 ? code.path : job.script_path) ?? undefined,
    language: findRuntimeOfCode(language, content, imports) ?? requireRuntime(language),
    content,
    imports: imports.length > 0 ? imports : undefined,
    lock,
    parameters,
    preprocessor_parameters: preprocessor,
    envs: [],
    isolation: "shared",
  };
}

async function analyseCached(
  app: App,
  workspace_id: string,
  { language, content }: InlineCode,
): Promise<ScriptAnalysis> {
  const analyses = analysisCacheOf(app);
  const id = sha256(`${workspace_id}\n${language}\n${content}`);
  return (
    analyses.get(id) ?? analyses.load(id, () => analyseScript(language, content, { owner: workspace_id }))
  );
}

async function resolveDependenciesOf(
  app: App,
  job: Job,
  code: InlineCode,
  analysis: ScriptAnalysis,
  resolve: CodeResolver,
): Promise<ResolvedCode> {
  const { workspace_id, flow_version } = job;
  const isEmpty = code.lock === "" || (analysis.packages === undefined && isEmptyLock(code.lock));
  const lock = isEmpty ? "" : await findUsableLock(code.language, code.lock);
  if (analysis.imports.length === 0 && lock !== undefined) return { lock, imports: [] };
  const pins = flow_version === null ? undefined : await findFlowImports(app, workspace_id, flow_version);
  if (lock !== undefined && pins) return { lock, imports: await loadImports(app, workspace_id, pins) };
  return resolveOnce(app, job.root_job, { ...code, lock }, resolve);
}

const MAX_CACHED_RESOLUTIONS = 1_000;
/** Cache time: longer than it takes to start all steps of most runs. */
const RESOLUTION_TTL_MS = 300_000;
const resolutionCacheOf = memoizePerApp(
  (app: App) =>
    new Cache<ResolvedCode>({
      max: MAX_CACHED_RESOLUTIONS,
      ttl_ms: RESOLUTION_TTL_MS,
      now: () => app.clock().getTime(),
    }),
);

/** Resolves dependencies once for all iterations of a loop in one run. @throws DependencyError, ImportError */
async function resolveOnce(
  app: App,
  root_job: string | null,
  code: InlineCode,
  resolve: CodeResolver,
): Promise<ResolvedCode> {
  const found = resolutionCacheOf(app);
  const name = sha256(`${root_job}\n${code.path}\n${code.language}\n${code.content}`);
  return found.get(name) ?? found.load(name, () => resolve(code));
}
