/**
 * A test case in a file: a flow in short form, the outcomes of its leaves, the order of events, and the
 * expected result.
 */
import { parse } from "yaml";
import type { Frame, Wait } from "../../../src/engines/flow-engine/state.ts";
import type { FlowModule, InputTransform } from "../../../src/engines/flow-engine/types.ts";
import { FlowRun, type FrameRun, type Outcome } from "./driver.ts";

interface Case {
  /** Modules are in short form: see `moduleOf`. */
  flow: { modules: Short[]; failure_module?: Short; preprocessor_module?: Short };
  input?: Record<string, unknown>;
  /**
   * By label (`a@0`) or step (`a`): a result, `{fails: message}`, `{failsWith: result}`, `{stopped: result}`,
   * or `{tries: […]}` for successive attempts. Others return their label.
   */
  answers?: Record<string, unknown>;
  random?: number;
  /**
   * Events that happen first, in this order (see `happen`). After them, pending jobs complete in the order in
   * which they started.
   */
  script?: string[];
  /** Stop after the script. */
  halts?: boolean;
  expect: {
    status: string;
    result?: unknown;
    modules?: Record<string, string>;
    /** What the flow waits for, if it has not completed. */
    waits?: Wait;
    trace: string[];
  };
}

type Short = string | (Record<string, unknown> & { id: string });

/** The value of the flow of a case, in full. */
export function flowOf(source: string): Frame {
  const { modules, failure_module, preprocessor_module, ...rest } = (parse(source) as Case).flow;
  return {
    ...rest,
    modules: modules.map(moduleOf),
    ...(failure_module ? { failure_module: moduleOf(failure_module) } : {}),
    ...(preprocessor_module ? { preprocessor_module: moduleOf(preprocessor_module) } : {}),
  } as Frame;
}

/** @returns the outcome in the form of `expect` */
export async function runCase(source: string): Promise<{ expected: Case["expect"]; actual: Case["expect"] }> {
  const given = parse(source) as Case;
  const frame = flowOf(source);
  const run = new FlowRun(frame, given.input ?? {}, ({ label }, attempt) =>
    outcomeOf(given.answers?.[label] ?? given.answers?.[label.replace(/@.*/, "")], label, attempt),
  );
  if (given.random !== undefined) run.chance = given.random;
  if (given.script?.[0] !== "start without preprocessor") await run.tell(run.root, { type: "start" });
  for (const line of given.script ?? []) await happen(run, line);
  while (!given.halts && (await goOn(run)));
  return { expected: given.expect, actual: outcomesOf(run, given.expect) };
}

function outcomesOf(run: FlowRun, { modules }: Case["expect"]): Case["expect"] {
  const [end] = run.root.ends;
  const { state } = run.root;
  const words = ({ type, skipped }: { type: string; skipped?: boolean }) =>
    skipped ? `${type} skipped` : type;
  const own = [state.preprocessor, ...state.modules, state.failure].filter((each) => each !== undefined);
  return {
    status: end?.status ?? (state.waits ? "waits" : "runs"),
    ...(end ? { result: run.resolve(end.result) } : {}),
    ...(state.waits ? { waits: state.waits } : {}),
    ...(modules ? { modules: Object.fromEntries(own.map((each) => [each.id, words(each)])) } : {}),
    trace: run.trace,
  };
}

/**
 * Executes one pending action: delivers a completion, completes a leaf, or advances to the next wake-up time.
 */
async function goOn(run: FlowRun): Promise<boolean> {
  const [told] = run.untold.splice(0, 1);
  const [leaf] = run.running;
  const [sleeper] = run.sleeping;
  if (told) await run.tell(told.parent, told.ended!.event);
  else if (leaf) run.end(leaf);
  else if (sleeper) await wake(run, sleeper);
  else return false;
  return true;
}

async function wake(run: FlowRun, sleeper: FrameRun): Promise<void> {
  run.now = Math.max(run.now, sleeper.wake!);
  delete sleeper.wake;
  await run.tell(sleeper, { type: "woken" });
}

/**
 * A line of the script:
 * - `a@0 ends`: its job ends, and this is told; `a@0 ends well`: although it was to be stopped, or to fail
 * - `a@0 ends again`: what was told of its newest end is told once more; `a@0 is canceled`: by somebody else
 * - `wake`: the first moment that was asked for comes; `wake too early`: without time passing
 * - `resume a`, `resume a with {json}`; `disapprove a`
 * - `start`, `start without preprocessor`
 */
async function happen(run: FlowRun, line: string): Promise<void> {
  const [, label = "", what] = /^(\S+) (ends again|ends well|ends|is canceled)$/.exec(line) ?? [];
  const jobs = [...run.jobs.values()].filter((job) => job.label === label);
  if (what === "ends again") {
    const { parent, ended } = jobs.findLast((job) => job.ended)!;
    return run.tell(parent, ended!.event);
  }
  if (what) {
    const job = jobs.find(({ ended }) => !ended);
    if (!job) throw new Error(`${line}: it does not run`);
    if (what === "is canceled") run.cancel(job);
    if (!job.ended) run.end(job, what === "ends well" ? { status: "success", result: label } : undefined);
    run.untold.splice(run.untold.indexOf(job), 1);
    return run.tell(job.parent, job.ended!.event);
  }
  if (line === "wake") return wake(run, run.sleeping[0]!);
  if (line === "wake too early") return run.tell(run.sleeping[0]!, { type: "woken" });
  if (line.startsWith("start")) {
    return run.tell(run.root, { type: "start", skip_preprocessor: line.endsWith("without preprocessor") });
  }
  const [, verb, module = "", payload] = /^(resume|disapprove) (\w+)(?: with (.*))?$/.exec(line) ?? [];
  if (!verb) throw new Error(`the script has a line that means nothing: ${line}`);
  if (verb === "resume") run.approvals.set(module, [JSON.parse(payload ?? "{}")]);
  for (const frame of run.frames.filter((each) => each.frame.modules.some(({ id }) => id === module))) {
    await run.tell(
      frame,
      verb === "resume" ? { type: "resumed", module } : { type: "disapproved", module, by: "ann" },
    );
  }
}

function outcomeOf(given: unknown, label: string, attempt: number): Outcome {
  if (given === undefined) return { status: "success", result: label };
  const { tries, fails, failsWith, stopped } = Object(given) as Record<string, unknown>;
  if (Array.isArray(tries)) return outcomeOf(tries[Math.min(attempt, tries.length - 1)], label, attempt);
  if (failsWith !== undefined) return { status: "failure", result: failsWith };
  if (fails !== undefined) return { status: "failure", result: { error: { name: "Error", message: fails } } };
  if (stopped !== undefined) return { status: "skipped", result: stopped, stopped: true };
  return { status: "success", result: given };
}

/**
 * The short form of a module: `a` is a script; `for`, `while`, `one` (with `else`) and `all` contain others,
 * `args` are expressions, a condition may be just its expression, seconds may be a number. Other fields are
 * unchanged.
 */
function moduleOf(short: Short): FlowModule {
  if (typeof short === "string") return moduleOf({ id: short });
  const { args, for: iterator, while: body, do: modules, one, else: otherwise, all, ...rest } = short;
  const { parallel, parallelism, skip_failures = false, sleep, ...options } = rest;
  const list = (shorts: unknown) => ((shorts ?? []) as Short[]).map(moduleOf);
  const loop = { skip_failures, ...(parallel ? { parallel, parallelism } : {}) };
  const branch = ({ if: expr, do: inner, ...more }: Record<string, unknown>) => ({
    ...more,
    ...(expr === undefined ? {} : { expr }),
    modules: list(inner),
  });
  const branches = ((one ?? all ?? []) as Record<string, unknown>[]).map(branch);
  const value = () => {
    if (iterator !== undefined) {
      return { type: "forloopflow", iterator: javascript(String(iterator)), modules: list(modules), ...loop };
    }
    if (body) return { type: "whileloopflow", modules: list(body), ...loop };
    if (one) return { type: "branchone", branches, default: list(otherwise) };
    if (all) return { type: "branchall", branches, parallel };
    const inputs = Object.entries((args ?? {}) as Record<string, string>);
    return {
      type: "script",
      path: `f/test/${short.id}`,
      input_transforms: Object.fromEntries(inputs.map(([name, expr]) => [name, javascript(expr)])),
    };
  };
  const module: Record<string, unknown> = { value: value(), ...options };
  if (sleep !== undefined)
    module.sleep = typeof sleep === "number" ? { type: "static", value: sleep } : sleep;
  for (const field of ["skip_if", "stop_after_if", "stop_after_all_iters_if"]) {
    if (typeof module[field] === "string") module[field] = { expr: module[field] };
  }
  return module as unknown as FlowModule;
}

const javascript = (expr: string): InputTransform => ({ type: "javascript", expr });
