/**
 * Pool of threads that evaluate expressions, one at a time each. Only a few compute at once; while one waits for the
 * host, another may run.
 *
 * The sandbox enforces its own limits. A thread that exceeds them anyway is terminated, and the next evaluation gets a
 * new one.
 */

import {
  createTimeoutOutcome,
  type EvaluationLimits,
  type EvaluationOutcome,
  type SandboxedFunction,
} from "./limits.ts";
import type { FromThread, ToThread } from "./messages.ts";

/** Maximum number of threads computing at once. */
const MAX_COMPUTING = 2;
/** Maximum number of threads, including those that wait for the host. */
const MAX_THREADS = 16;
/** Extra time beyond the limit for a thread to load and to end an evaluation. */
const GRACE_MS = 10_000;

/**
 * Path of the thread's program: in the executable, its path in the sources (`bun run build` lists it beside the entry);
 * else, beside this file.
 */
const WORKER_PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/engines/expressions/sandbox/thread.ts"
  : new URL("thread.ts", import.meta.url).href;

interface Thread {
  worker: Worker;
  evaluation: QueuedEvaluation | undefined;
}

interface QueuedEvaluation {
  program: SandboxedFunction;
  limits: EvaluationLimits;
  resolve: (outcome: EvaluationOutcome) => void;
  /** Unanswered calls to the host. */
  calls: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const threads = new Set<Thread>();
const queue: QueuedEvaluation[] = [];

/** Evaluates in a thread, first come first served. */
export function runInThread(
  program: SandboxedFunction,
  limits: EvaluationLimits,
): Promise<EvaluationOutcome> {
  return new Promise((resolve) => {
    queue.push({ program, limits, resolve, calls: 0, timer: undefined });
    assignQueued();
  });
}

function assignQueued(): void {
  while (queue.length > 0) {
    const computing = [...threads].filter(({ evaluation }) => evaluation?.calls === 0).length;
    if (computing >= MAX_COMPUTING) return;
    const idle = [...threads].find(({ evaluation }) => !evaluation);
    if (!idle && threads.size >= MAX_THREADS) return;
    startEvaluation(idle ?? startThread(), queue.shift()!);
  }
}

function startThread(): Thread {
  const thread: Thread = { worker: new Worker(WORKER_PROGRAM), evaluation: undefined };
  const { worker } = thread;
  worker.onmessage = ({ data }: MessageEvent<FromThread>) => handleMessage(thread, data);
  worker.onerror = ({ message }) =>
    failThread(thread, { ok: false, cause: `The sandbox failed (${message})` });
  threads.add(thread);
  return thread;
}

function startEvaluation(thread: Thread, evaluation: QueuedEvaluation): void {
  const { program, limits } = evaluation;
  const { source, values, functions } = program;
  thread.evaluation = evaluation;
  // An idle thread must not keep the process alive.
  thread.worker.ref();
  postToThread(thread, { type: "run", source, values, functions: functions.length, limits });
}

function postToThread(thread: Thread, message: ToThread): void {
  thread.worker.postMessage(message);
  armTimeout(thread);
}

/** Starts the timeout, unless the evaluation waits for the host. */
function armTimeout(thread: Thread): void {
  const { evaluation } = thread;
  if (!evaluation) return;
  clearTimeout(evaluation.timer);
  if (evaluation.calls > 0) return;
  const { limits } = evaluation;
  evaluation.timer = setTimeout(
    () => failThread(thread, createTimeoutOutcome(limits)),
    limits.time_ms + GRACE_MS,
  );
}

function handleMessage(thread: Thread, message: FromThread): void {
  const { evaluation } = thread;
  if (message.type === "done") finishEvaluation(thread, message.outcome);
  else if (evaluation) runHostCall(thread, evaluation, message);
}

/** Runs a host function for the expression. */
function runHostCall(
  thread: Thread,
  evaluation: QueuedEvaluation,
  { call, which, args }: Extract<FromThread, { type: "call" }>,
): void {
  evaluation.calls++;
  armTimeout(thread);
  const settle = (answer: ToThread) => {
    if (thread.evaluation !== evaluation) return;
    evaluation.calls--;
    postToThread(thread, answer);
  };
  evaluation.program.functions[which]!(args).then(
    (text) => settle({ type: "settle", call, ok: true, text }),
    (cause) => {
      const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
      settle({ type: "settle", call, ok: false, name, message });
    },
  );
  assignQueued();
}

function finishEvaluation(thread: Thread, outcome: EvaluationOutcome): void {
  const { evaluation } = thread;
  thread.evaluation = undefined;
  clearTimeout(evaluation?.timer);
  thread.worker.unref();
  const idle = [...threads].filter((each) => !each.evaluation).length;
  if (idle > MAX_COMPUTING) endThread(thread);
  evaluation?.resolve(outcome);
  assignQueued();
}

function endThread(thread: Thread): void {
  threads.delete(thread);
  thread.worker.terminate();
}

function failThread(thread: Thread, outcome: EvaluationOutcome): void {
  endThread(thread);
  finishEvaluation(thread, outcome);
}
