/** What the expressions of a frame see, fetched only when they mention it. */
import { and, eq } from "drizzle-orm";
import { ExpressionOverrun } from "../../../../engines/expressions/error.ts";
import { evaluate } from "../../../../engines/expressions/evaluate.ts";
import { JsonText, Members, type Scope } from "../../../../engines/expressions/parse/scope.ts";
import { onlyLeaf } from "../../../../engines/flow-engine/iterations.ts";
import type {
  Env,
  FrameState,
  Iter,
  ModuleState,
  ResultRef,
  Scope as StepScope,
} from "../../../../engines/flow-engine/state.ts";
import { errorValue, isList } from "../../../../engines/flow-engine/values.ts";
import { NotFound } from "../../../../lib/errors.ts";
import { newJobId } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { interpolate } from "../../../assets/interpolate.ts";
import { sealSecrets } from "../../arguments/password-arguments.ts";
import { beginReading, type Reading } from "../../arguments/references.ts";
import { type FlowRun, itemsKey, type LiveFlow, type LiveFrame } from "../run.ts";
import { answersTo, approverOf } from "./answers.ts";
import { findFinished } from "./finished.ts";

/** The engine's environment for one frame. */
export function envOf(app: App, run: FlowRun, frame: LiveFrame): Env {
  return {
    frame: frame.id,
    evaluate: (expr, scope) => evaluateIn(app, run, frame, expr, scope),
    item: (module, index) => run.items.get(itemsKey(frame.id, module))?.[index] ?? null,
    atOnce: atOnce(app),
    newId: newJobId,
    now: () => app.clock().getTime(),
    random: Math.random,
  };
}

/** Expressions of one run that may take all the time that one may. */
const MAX_OVERRUNS = 10;
/** What many servers may run at once. */
const MANY_AT_ONCE = 256;
const FEW_AT_ONCE = 32;

/** Enough to keep all workers busy: the state of the frame, stored at each end, names each that is under way. */
function atOnce({ db, config }: App): number {
  return db.dialect === "postgres" ? MANY_AT_ONCE : Math.max(FEW_AT_ONCE, 4 * config.workers);
}

async function evaluateIn(
  app: App,
  run: FlowRun,
  frame: LiveFrame,
  expr: string,
  scopeOf: StepScope,
): Promise<unknown> {
  if (run.exhausted) throw new Error(run.exhausted.message);
  const { state, ...extra } = scopeOf;
  const input = () => inputOf(frame, extra.iter);
  const approvals = async (name: keyof Approvals) => (await approvalsOf(app, run, state))[name];
  const { previous } = state;
  const { result } = extra;
  const before = () => (previous ? refEntry(app, run, previous) : input());
  const otherResult = async (id: string) => {
    const found = await findFinished(app, frame.flow, id);
    return found ? refEntry(app, run, found) : null;
  };
  const scope: Scope = {
    flow_input: input,
    results: () => new Members(resultsOf(app, run, frame, state), otherResult),
    previous_result: before,
    result: result ? () => refEntry(app, run, result) : before,
    flow_env: frame.flow.value.flow_env ?? {},
    resume: () => approvals("resume"),
    resumes: () => approvals("resumes"),
    approvers: () => approvals("approvers"),
    iter: extra.iter ?? frame.iter ?? null,
    ...("error" in extra ? { error: extra.error } : {}),
  };
  const secrets = new Set<string>();
  const value = await evaluate(expr, scope, { functions: helpersOf(app, frame.flow, secrets) }).catch(
    (cause) => {
      if (cause instanceof ExpressionOverrun) countOverrun(run, stepAt(frame, scopeOf), cause);
      throw cause;
    },
  );
  // What comes of it is stored: arguments of steps, what loops go over.
  return secrets.size > 0 ? sealSecrets(app, frame.flow.job, value, secrets) : value;
}

/** A run whose expressions cost more than they may is given up: skipped failures would let it go on. */
function countOverrun(run: FlowRun, step_id: string | undefined, { name, message }: ExpressionOverrun): void {
  run.overruns++;
  if (run.overruns < MAX_OVERRUNS) return;
  const where = step_id === undefined ? "" : `, the last one of step ${step_id}`;
  const why = `${run.overruns} expressions of this run were ended at their time limit${where}: ${message}`;
  run.exhausted = { name, message: why, ...(step_id === undefined ? {} : { step_id }) };
}

/** The step that an expression belongs to; none for one of the flow itself. */
function stepAt({ frame }: LiveFrame, { state, iter }: StepScope): string | undefined {
  if (state.failure) return state.failure.id;
  if (state.preprocessor?.type === "InProgress") return state.preprocessor.id;
  const module = frame.modules[state.step];
  return (module && iter && onlyLeaf(module)?.id) ?? module?.id;
}

/** A flow's arguments; inside loops with what the iteration is about, and around it those of the loops outside. */
export function inputOf(frame: LiveFrame, own: Iter | undefined): Record<string, unknown> {
  const iter = own ? { ...own, ...(frame.iter ? { iter: frame.iter } : {}) } : frame.iter;
  return iter ? { ...frame.flow.input, iter } : frame.flow.input;
}

/** Results by step, each fetched when it is mentioned: of the steps around, and before. */
function resultsOf(app: App, run: FlowRun, frame: LiveFrame, state: FrameState): Scope {
  const found: Scope = {};
  const add = (modules: (ModuleState | null | undefined)[]) => {
    for (const module of modules) {
      if (!module?.result || Object.hasOwn(found, module.id)) continue;
      const { result } = module;
      found[module.id] = () => refEntry(app, run, result);
    }
  };
  add(state.modules);
  // Outwards, as far as the same flow goes: the nearest step of a name counts.
  for (let at = frame.parent; at && at.flow === frame.flow; at = at.parent) add(at.state.modules);
  return found;
}

async function refEntry(app: App, run: FlowRun, ref: ResultRef): Promise<unknown> {
  return "value" in ref ? ref.value : new JsonText(await resultText(app, run, ref));
}

/**
 * The value of a result as JSON text: of a job, or of all iterations of a module.
 * @throws NotFound when somebody has removed the job
 */
export async function resultText(app: App, run: FlowRun, ref: ResultRef): Promise<string> {
  if ("value" in ref) return JSON.stringify(ref.value ?? null);
  if ("gather" in ref) return gathered(app, run, ref);
  const known = run.results.get(ref.job);
  if (known !== undefined) return known;
  const [row] = await app.db.read.select({ result: jobs.result }).from(jobs).where(eq(jobs.id, ref.job));
  if (!row) throw new NotFound(`the result of job ${ref.job}, which was removed`);
  return row.result ?? "null";
}

/** Results by iteration; null for one that is not there, or failed and is to be told as null. Of one that ran again, the last one counts. */
async function gathered(
  app: App,
  run: FlowRun,
  { gather, of, count, failures }: Extract<ResultRef, { gather: string }>,
): Promise<string> {
  // Taken before the database is asked: what is committed meanwhile is there no longer, and was not yet here.
  const fresh = [...run.fresh.values()]
    .filter(({ parent, module }) => parent === of && module === gather)
    .map(({ id, index = null, status }) => ({ id, index, status, result: run.results.get(id) ?? "null" }));
  const stored = await app.db.read
    .select({ id: jobs.id, index: jobs.flow_index, status: jobs.status, result: jobs.result })
    .from(jobs)
    .where(and(eq(jobs.parent_job, of), eq(jobs.flow_step_id, gather)));
  const ends = new Map([...stored, ...fresh].map((row) => [row.id, row]));
  const results: string[] = Array.from({ length: count }, () => "null");
  if (failures) results[failures.index] = JSON.stringify(failures.error);
  for (const { index, status, result } of [...ends.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (index === null || index >= count) continue;
    const isGood = status === "success" || status === "skipped";
    if (isGood) results[index] = result ?? "null";
    // One that still runs was left behind by an earlier try.
    else if (status !== null && failures && !failures.but.includes(index)) {
      results[index] = errorText(result ?? "null", failures.step);
    } else results[index] = "null";
  }
  return `[${results.join(",")}]`;
}

/** What failed inside of what failed has a list already. */
function errorText(result: string, step: string): string {
  return isList(result) ? result : JSON.stringify(errorValue(result, step));
}

interface Approvals {
  resume: unknown;
  resumes: unknown[];
  approvers: string[];
}

async function approvalsOf(app: App, run: FlowRun, { resumed, modules }: FrameState): Promise<Approvals> {
  if (resumed?.refused !== undefined) return { resume: resumed.refused, resumes: [], approvers: [] };
  const job = modules.find((module) => module?.id === resumed?.module)?.job;
  const given = job ? (await answersTo(app, run, job)).filter(({ approved }) => approved) : [];
  const resumes = given.map(({ value }) => value);
  return { resumes, resume: resumes.at(-1), approvers: given.map(approverOf) };
}

/**
 * Variables and resources, read with the rights the flow runs with.
 * @param secrets gets the secrets that were read
 */
function helpersOf(
  app: App,
  { job }: LiveFlow,
  secrets: Set<string>,
): Record<string, (...args: unknown[]) => Promise<unknown>> {
  const read = async (what: (reading: Reading) => Promise<unknown>) => {
    const reading = await beginReading(app, job, undefined);
    const value = await what(reading);
    for (const secret of await reading.end()) secrets.add(secret);
    return value;
  };
  return {
    variable: (path) => read(({ references }) => references.variable(String(path))),
    resource: (path) =>
      read(async ({ references }) =>
        interpolate(await references.resource(String(path)), references, String(path)),
      ),
  };
}
