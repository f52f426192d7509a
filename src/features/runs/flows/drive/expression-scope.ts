/** The scope of a frame's expressions. Values are fetched only if an expression mentions them. */
import { and, eq } from "drizzle-orm";
import { ExpressionTimeout } from "../../../../engines/expressions/error.ts";
import { evaluateExpression } from "../../../../engines/expressions/evaluate.ts";
import { type ExpressionScope, JsonText, Members } from "../../../../engines/expressions/parse/scope.ts";
import { findOnlyLeaf } from "../../../../engines/flow-engine/iterations.ts";
import type {
  EngineEnvironment,
  FrameState,
  Iteration,
  ModuleState,
  ResultRef,
  FrameScope as StepScope,
} from "../../../../engines/flow-engine/state.ts";
import { isJsonList, toErrorValue } from "../../../../engines/flow-engine/values.ts";
import { Secrets } from "../../../../engines/runner/output/secrets.ts";
import { NotFound } from "../../../../lib/errors.ts";
import { createUuid } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { interpolateResource } from "../../../assets/interpolate.ts";
import { escapeComputedReferences } from "../../arguments/computed-references.ts";
import { encryptTextsWithSecrets } from "../../arguments/password-arguments.ts";
import {
  createReferenceReader,
  mayContainReferences,
  type ReferenceReader,
} from "../../arguments/references.ts";
import { type FlowRun, formatItemsKey, type LiveFlow, type LiveFrame } from "../live-run.ts";
import { getApproverName, listAnswers } from "./approval-answers.ts";
import { findStepResult } from "./step-results.ts";

/** Creates the engine's environment for one frame. */
export function createEngineEnvironment(app: App, run: FlowRun, frame: LiveFrame): EngineEnvironment {
  return {
    frame_job_id: frame.id,
    evaluate: (expr, scope) => evaluateInFrame(app, run, frame, expr, scope),
    loopItem: (module, index) => run.items.get(formatItemsKey(frame.id, module))?.[index] ?? null,
    defaultParallelism: maxParallelJobs(app),
    newId: createUuid,
    now: () => app.clock().getTime(),
    random: Math.random,
  };
}

/** Maximum number of expressions of one run that may reach their time limit. */
const MAX_OVERRUNS = 10;
/** Maximum number of parallel jobs of one loop; on PostgreSQL many servers may share them. */
const MAX_PARALLEL_POSTGRES = 256;
const MIN_PARALLEL_SQLITE = 32;

/**
 * Returns the parallelism of a loop: enough to keep all workers busy. The frame's state names each active job and is
 * written at each completion.
 */
function maxParallelJobs({ db, config }: App): number {
  return db.dialect === "postgres"
    ? MAX_PARALLEL_POSTGRES
    : Math.max(MIN_PARALLEL_SQLITE, 4 * config.workers);
}

async function evaluateInFrame(
  app: App,
  run: FlowRun,
  frame: LiveFrame,
  expr: string,
  scopeOf: StepScope,
): Promise<unknown> {
  if (run.fatal_error) throw new Error(run.fatal_error.message);
  const { state, ...extra } = scopeOf;
  const input = () => createExpressionInput(frame, extra.iter);
  const answers: unknown[] = [];
  const approvals = async (name: keyof Approvals) => {
    const read = (await readApprovals(app, run, state))[name];
    answers.push(read);
    return read;
  };
  const { previous } = state;
  const { result } = extra;
  const data: JsonText[] = "error" in extra ? [new JsonText(JSON.stringify(extra.error ?? null))] : [];
  const read = async (ref: ResultRef) => {
    const found = await readReference(app, run, ref);
    data.push(found);
    return found;
  };
  const before = () => (previous ? read(previous) : input());
  const otherResult = async (id: string) => {
    const found = await findStepResult(app, frame.flow, id);
    return found ? read(found) : null;
  };
  const scope: ExpressionScope = {
    flow_input: input,
    results: () => new Members(lazyResults(app, run, frame, state, read), otherResult),
    previous_result: before,
    result: result ? () => read(result) : before,
    flow_env: flowEnvironment(frame),
    resume: () => approvals("resume"),
    resumes: () => approvals("resumes"),
    approvers: () => approvals("approvers"),
    iter: extra.iter ?? frame.iter ?? null,
    ...("error" in extra ? { error: extra.error } : {}),
  };
  const secrets = new Secrets();
  const plain = await evaluateExpression(expr, scope, {
    functions: createHelpers(app, frame.flow, secrets),
    maskCause: (cause) => secrets.maskValue(cause),
  }).catch((cause) => {
    if (cause instanceof ExpressionTimeout) countOverrun(run, findStepId(frame, scopeOf), cause);
    throw cause;
  });
  const mayCompute = expr.includes("(") || data.some(({ text }) => mayContainReferences(text));
  const value = mayCompute
    ? await escapeComputedReferences(app, frame.flow.job, plain, {
        source: expr,
        given: () => [input(), flowEnvironment(frame), answers],
        data: () => data.map((each) => each.value),
      })
    : plain;
  // The value is stored, as a step's arguments or a loop's items.
  return secrets.isEmpty ? value : encryptTextsWithSecrets(app, frame.flow.job, value, secrets);
}

/** Returns the flow's `flow_env`, merged with values of the surrounding flows that it does not set itself. */
function flowEnvironment(frame: LiveFrame): Record<string, unknown> {
  let at: LiveFrame | undefined = frame;
  while (at && at.flow === frame.flow) at = at.parent;
  return { ...(at ? flowEnvironment(at) : {}), ...frame.flow.value.flow_env };
}

/**
 * Counts expressions that reached their time limit. After MAX_OVERRUNS the run fails; otherwise skipped failures
 * would let it continue.
 */
function countOverrun(run: FlowRun, step_id: string | undefined, { name, message }: ExpressionTimeout): void {
  run.overruns++;
  if (run.overruns < MAX_OVERRUNS) return;
  const where = step_id === undefined ? "" : `, the last one of step ${step_id}`;
  const why = `${run.overruns} expressions of this run were ended at their time limit${where}: ${message}`;
  run.fatal_error = { name, message: why, ...(step_id === undefined ? {} : { step_id }) };
}

/** Returns the step that an expression belongs to; undefined for one of the flow itself. */
function findStepId({ frame }: LiveFrame, { state, iter }: StepScope): string | undefined {
  if (state.failure) return state.failure.id;
  if (state.preprocessor?.type === "InProgress") return state.preprocessor.id;
  const module = frame.modules[state.step];
  return (module && iter && findOnlyLeaf(module)?.id) ?? module?.id;
}

/** Returns the flow's arguments with `iter`: the current iteration, nested in those of the loops outside. */
export function createExpressionInput(frame: LiveFrame, own: Iteration | undefined): Record<string, unknown> {
  const iter = own ? { ...own, ...(frame.iter ? { iter: frame.iter } : {}) } : frame.iter;
  return iter ? { ...frame.flow.input, iter } : frame.flow.input;
}

/** Returns the results of earlier steps of this frame and those around it, each fetched on first use. */
function lazyResults(
  app: App,
  run: FlowRun,
  frame: LiveFrame,
  state: FrameState,
  read: (ref: ResultRef) => Promise<unknown>,
): ExpressionScope {
  const found: ExpressionScope = {};
  const add = (modules: (ModuleState | null | undefined)[]) => {
    for (const module of modules) {
      if (!module?.result || Object.hasOwn(found, module.id)) continue;
      const { result } = module;
      // The result of an identity step is its input, in which references count.
      const isIdentity = frame.flow.modules.get(module.id)?.value.type === "identity";
      found[module.id] = () => (isIdentity ? readReference(app, run, result) : read(result));
    }
  };
  add(state.modules);
  // Outwards within the same flow: the nearest step with an id counts.
  for (let at = frame.parent; at && at.flow === frame.flow; at = at.parent) add(at.state.modules);
  return found;
}

async function readReference(app: App, run: FlowRun, ref: ResultRef): Promise<JsonText> {
  return new JsonText(await readResultText(app, run, ref));
}

/**
 * Reads a result as JSON text: of a job, or of all iterations of a module.
 * @throws NotFound if the job was deleted
 */
export async function readResultText(app: App, run: FlowRun, ref: ResultRef): Promise<string> {
  if ("value" in ref) return JSON.stringify(ref.value ?? null);
  if ("gather" in ref) return gatherResults(app, run, ref);
  const known = run.results.get(ref.job);
  if (known !== undefined) return known;
  const [row] = await app.db.read.select({ result: jobs.result }).from(jobs).where(eq(jobs.id, ref.job));
  if (!row) throw new NotFound(`the result of job ${ref.job}, which was removed`);
  return row.result ?? "null";
}

/**
 * Gathers results by iteration. Missing results, and failures that are reported as null, are null. If an iteration
 * ran more than once, its last run counts.
 */
async function gatherResults(
  app: App,
  run: FlowRun,
  { gather, of, count, failures }: Extract<ResultRef, { gather: string }>,
): Promise<string> {
  // Copied before the query: results committed in the meantime are removed from memory, but are not in the query's
  // snapshot.
  const fresh = [...run.uncommitted.values()]
    .filter(({ parent, module }) => parent === of && module === gather)
    .map(({ id, index = null, status }) => ({ id, index, status, result: run.results.get(id) ?? "null" }));
  const stored = await app.db.read
    .select({ id: jobs.id, index: jobs.flow_index, status: jobs.status, result: jobs.result })
    .from(jobs)
    .where(and(eq(jobs.parent_job, of), eq(jobs.flow_step_id, gather)));
  const ends = new Map([...stored, ...fresh].map((row) => [row.id, row]));
  const results: string[] = Array.from({ length: count }, () => "null");
  if (failures?.index !== undefined) results[failures.index] = JSON.stringify(failures.error);
  for (const { index, status, result } of [...ends.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (index === null || index >= count) continue;
    const isGood = status === "success" || status === "skipped";
    if (isGood) results[index] = result ?? "null";
    // An iteration still running was left behind by an earlier attempt.
    else if (status !== null && failures && !failures.but.includes(index)) {
      results[index] = toErrorText(result ?? "null", failures.step);
    } else results[index] = "null";
  }
  return `[${results.join(",")}]`;
}

/**
 * Converts the result of a failed job to its error as JSON text. An error that is already a list comes from a nested
 * loop.
 */
function toErrorText(result: string, step: string): string {
  return isJsonList(result) ? result : JSON.stringify(toErrorValue(result, step));
}

interface Approvals {
  resume: unknown;
  resumes: unknown[];
  approvers: string[];
}

async function readApprovals(app: App, run: FlowRun, { resumed, modules }: FrameState): Promise<Approvals> {
  if (resumed?.refused !== undefined) return { resume: resumed.refused, resumes: [], approvers: [] };
  const job = modules.find((module) => module?.id === resumed?.module)?.job;
  const given = job ? (await listAnswers(app, run, job)).filter(({ approved }) => approved) : [];
  const resumes = given.map(({ value }) => value);
  return { resumes, resume: resumes.at(-1), approvers: given.map(getApproverName) };
}

/**
 * Creates the functions `variable` and `resource`, which read with the flow's rights.
 * @param secrets receives the secrets that were read
 */
function createHelpers(
  app: App,
  { job }: LiveFlow,
  secrets: Secrets,
): Record<string, (...args: unknown[]) => Promise<unknown>> {
  const read = async (what: (reading: ReferenceReader) => Promise<unknown>) => {
    const reading = await createReferenceReader(app, job, undefined);
    const value = await what(reading);
    for (const secret of await reading.recordReads()) secrets.add(secret);
    return value;
  };
  return {
    variable: (path) => read(({ references }) => references.variable(String(path))),
    resource: (path) =>
      read(async ({ references }) =>
        interpolateResource(await references.resource(String(path)), references, String(path)),
      ),
  };
}
