/**
 * Evaluates code in QuickJS. Each evaluation has its own runtime, with its own heap and globals, and nothing but
 * JavaScript: no modules, files, network or timers. Only text crosses the boundary.
 */
import { type QuickJSContext, type QuickJSHandle, Scope } from "quickjs-emscripten-core";
import { acquireInstance, type QuickJsInstance, releaseInstance, TimeLimitExceeded } from "./instance.ts";
import {
  createTimeoutOutcome,
  type EvaluationLimits,
  type EvaluationOutcome,
  type SandboxedFunction,
} from "./limits.ts";

/**
 * Code inside QuickJS; it captures the globals it needs before the expression can change them. A call of a host
 * function returns a promise that `settle` resolves; the outcome goes to `done`. An unawaited promise in the value is
 * an error, because JSON would turn it into `{}`.
 */
const INNER_SIDE = `(call, done) => {
  const { parse, stringify } = JSON, { eval: evaluate, Promise, String } = globalThis;
  const waiting = new Map();
  Object.defineProperty(Promise.prototype, "toJSON", { value() {
    throw new TypeError("the value contains a promise: await it, or several with Promise.all");
  } });
  const read = (text) => text === undefined ? undefined : parse(text);
  const describe = (error) => {
    try {
      return error instanceof Error ? String(error) : "a thrown " + (stringify(error) ?? String(error));
    } catch {
      return "an error that cannot be shown";
    }
  };
  const hostFunction = (which) => (...args) => new Promise((resolve, reject) => {
    waiting.set(call(which, stringify(args)), { resolve, reject });
  });
  return {
    async start(source, functions, ...texts) {
      try {
        const hosts = Array.from({ length: functions }, (_, which) => hostFunction(which));
        done(true, stringify(await evaluate(source)(...texts.map(read), ...hosts)));
      } catch (error) {
        done(false, describe(error));
      }
    },
    settle(id, ok, text) {
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (ok) return resolve(read(text));
      const { name, message } = parse(text);
      reject(Object.assign(new Error(message), { name }));
    },
  };
}`;

/** Runs a function in a fresh sandbox. Nothing of it remains afterwards; pending host functions are not awaited. */
export async function runInSandbox(
  program: SandboxedFunction,
  limits: EvaluationLimits,
): Promise<EvaluationOutcome> {
  const instance = await acquireInstance(limits.memory_mb);
  try {
    const evaluation = new Evaluation(instance, program, limits);
    const outcome = await evaluation.run();
    if (instance.exceededTime) throw new TimeLimitExceeded();
    if (evaluation.dispose()) releaseInstance(instance);
    return outcome.ok ? outcome : { ok: false, cause: describeLimit(outcome.cause, instance, limits) };
  } catch (error) {
    // An error was thrown out of the instance, which is discarded in its inconsistent state.
    return instance.exceededTime
      ? createTimeoutOutcome(limits)
      : { ok: false, cause: describeLimit(error, instance, limits) };
  }
}

/** Names the limit behind a failure, if any. */
function describeLimit(cause: unknown, instance: QuickJsInstance, limits: EvaluationLimits): string {
  const text = String(cause);
  if (instance.memoryRefused || text.startsWith("InternalError: out of memory")) {
    return `The limit of ${limits.memory_mb} MB of memory was met`;
  }
  if (cause instanceof RangeError || /^(Internal|Syntax)Error: stack overflow/.test(text)) {
    return `The limit of ${limits.stack_kb} KB of stack was met, by calls or data nested too deeply`;
  }
  return typeof cause === "string" ? text : `The sandbox failed (${text})`;
}

class Evaluation {
  private readonly program: SandboxedFunction;
  private readonly limits: EvaluationLimits;
  private readonly instance: QuickJsInstance;
  private readonly scope = new Scope();
  private readonly context: QuickJSContext;
  private readonly settled: { id: number; ok: boolean; text: string | undefined }[] = [];
  private outcome: EvaluationOutcome | undefined;
  private left_ms: number;
  private calls = 0;
  private waiting = 0;
  private wake: () => void = () => {};

  constructor(instance: QuickJsInstance, program: SandboxedFunction, limits: EvaluationLimits) {
    this.instance = instance;
    this.program = program;
    this.limits = limits;
    this.left_ms = limits.time_ms;
    const runtime = this.scope.manage(instance.quickjs.newRuntime());
    runtime.setMaxStackSize(limits.stack_kb * 1024);
    this.context = this.scope.manage(runtime.newContext());
  }

  async run(): Promise<EvaluationOutcome> {
    const { context } = this;
    const { start, settle } = this.timed(() => this.connect());
    const { source, values, functions } = this.program;
    const texts = values.map((text) => this.toHandle(text));
    const counted = this.scope.manage(context.newNumber(functions.length));
    this.step(() => this.call(start, [this.toHandle(source), counted, ...texts]));
    while (!this.outcome) {
      if (this.waiting === 0) return { ok: false, cause: "The promise of the expression never settles" };
      if (this.settled.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
      const { id, ok, text } = this.settled.shift()!;
      this.waiting--;
      const [number, flag] = [this.scope.manage(context.newNumber(id)), ok ? context.true : context.false];
      this.step(() => this.call(settle, [number, flag, this.toHandle(text)]));
    }
    return this.outcome;
  }

  /**
   * Frees the runtime and all values in it.
   * @returns false if QuickJS aborts because of leaks, as it does after strings of some megabytes; the instance is then
   * unusable, but the outcome is known
   */
  dispose(): boolean {
    try {
      this.scope.dispose();
      return true;
    } catch {
      return false;
    }
  }

  /** Sets up the code inside QuickJS. */
  private connect(): { start: QuickJSHandle; settle: QuickJSHandle } {
    const { context, scope } = this;
    const call = context.newFunction("call", (which, args) =>
      context.newNumber(this.callHost(context.getNumber(which), context.getString(args))),
    );
    const done = context.newFunction("done", (ok, text) => {
      const result = context.typeof(text) === "undefined" ? undefined : context.getString(text);
      this.outcome = toOutcome(context.dump(ok), result);
    });
    const connect = scope.manage(context.unwrapResult(context.evalCode(`(${INNER_SIDE})`)));
    const inner = this.call(connect, [scope.manage(call), scope.manage(done)]);
    const member = (name: string) => scope.manage(context.getProp(inner, name));
    return { start: member("start"), settle: member("settle") };
  }

  private callHost(which: number, args: string): number {
    const id = this.calls++;
    this.waiting++;
    const settle = (ok: boolean, text: string | undefined) => {
      this.settled.push({ id, ok, text });
      this.wake();
    };
    const fail = (error: unknown) => {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      settle(false, JSON.stringify({ name, message }));
    };
    if (id >= this.limits.calls) fail(new RangeError(`the limit of ${this.limits.calls} calls was reached`));
    else this.program.functions[which]!(args).then((text) => settle(true, text), fail);
    return id;
  }

  private call(which: QuickJSHandle, args: QuickJSHandle[]): QuickJSHandle {
    const { context, scope } = this;
    return scope.manage(context.unwrapResult(context.callFunction(which, context.undefined, args)));
  }

  private toHandle(text: string | undefined): QuickJSHandle {
    const { context, scope } = this;
    return text === undefined ? context.undefined : scope.manage(context.newString(text));
  }

  /** Runs the sandbox until it is idle. */
  private step(work: () => void): void {
    this.timed(() => {
      work();
      let more = true;
      while (more) {
        const jobs = this.context.runtime.executePendingJobs();
        more = jobs.error !== undefined;
        jobs.dispose();
      }
    });
  }

  private timed<T>(work: () => T): T {
    const started = performance.now();
    this.instance.deadline = started + this.left_ms;
    try {
      return work();
    } finally {
      this.left_ms -= performance.now() - started;
      this.instance.deadline = Number.POSITIVE_INFINITY;
    }
  }
}

function toOutcome(ok: boolean, text: string | undefined): EvaluationOutcome {
  return ok ? { ok, text } : { ok, cause: text ?? "" };
}
