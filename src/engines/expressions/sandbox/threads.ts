/**
 * The threads that evaluate expressions, each one at a time. Few compute at once; while one only waits for what it has
 * asked of the host, another may take its turn.
 *
 * The sandbox ends what runs for too long by itself. A thread that does not come back from it is ended with what it does,
 * and the next evaluation gets a new one.
 */

import { type Limits, type Outcome, overran, type SandboxedFunction } from "./limits.ts";
import type { FromThread, ToThread } from "./messages.ts";

/** Threads that compute at once. */
const MOST_COMPUTING = 2;
/** Threads in all: those that wait for the host count here alone. */
const MOST_THREADS = 16;
/** How long beyond its limit a thread is given to end an evaluation, and to be loaded. */
const GRACE_MS = 10_000;

/**
 * In the executable the program is a file of its own, by the path it has in the sources (`bun run build` names it
 * beside the entry); else it lies beside this one.
 */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/engines/expressions/sandbox/thread.ts"
  : new URL("thread.ts", import.meta.url).href;

interface Thread {
  worker: Worker;
  evaluation: Evaluation | undefined;
}

interface Evaluation {
  program: SandboxedFunction;
  limits: Limits;
  resolve: (outcome: Outcome) => void;
  /** Calls that the host has not answered. */
  calls: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const threads = new Set<Thread>();
const queue: Evaluation[] = [];

/** Evaluates in a thread; what is asked for first begins first. */
export function runInThread(program: SandboxedFunction, limits: Limits): Promise<Outcome> {
  return new Promise((resolve) => {
    queue.push({ program, limits, resolve, calls: 0, timer: undefined });
    assign();
  });
}

function assign(): void {
  while (queue.length > 0) {
    const computing = [...threads].filter(({ evaluation }) => evaluation?.calls === 0).length;
    if (computing >= MOST_COMPUTING) return;
    const idle = [...threads].find(({ evaluation }) => !evaluation);
    if (!idle && threads.size >= MOST_THREADS) return;
    begin(idle ?? start(), queue.shift()!);
  }
}

function start(): Thread {
  const thread: Thread = { worker: new Worker(PROGRAM), evaluation: undefined };
  const { worker } = thread;
  worker.onmessage = ({ data }: MessageEvent<FromThread>) => hear(thread, data);
  worker.onerror = ({ message }) => drop(thread, { ok: false, cause: `The sandbox failed (${message})` });
  threads.add(thread);
  return thread;
}

function begin(thread: Thread, evaluation: Evaluation): void {
  const { program, limits } = evaluation;
  const { source, values, functions } = program;
  thread.evaluation = evaluation;
  // A thread without work does not keep a process from ending.
  thread.worker.ref();
  tell(thread, { type: "run", source, values, functions: functions.length, limits });
}

function tell(thread: Thread, message: ToThread): void {
  thread.worker.postMessage(message);
  watch(thread);
}

/** While it has all that it asked for, it is to come back in time. */
function watch(thread: Thread): void {
  const { evaluation } = thread;
  if (!evaluation) return;
  clearTimeout(evaluation.timer);
  if (evaluation.calls > 0) return;
  const { limits } = evaluation;
  evaluation.timer = setTimeout(() => drop(thread, overran(limits)), limits.time_ms + GRACE_MS);
}

function hear(thread: Thread, message: FromThread): void {
  const { evaluation } = thread;
  if (message.type === "done") finish(thread, message.outcome);
  else if (evaluation) answer(thread, evaluation, message);
}

/** Carries out a call of the expression. */
function answer(
  thread: Thread,
  evaluation: Evaluation,
  { call, which, args }: Extract<FromThread, { type: "call" }>,
): void {
  evaluation.calls++;
  watch(thread);
  const settle = (answer: ToThread) => {
    if (thread.evaluation !== evaluation) return;
    evaluation.calls--;
    tell(thread, answer);
  };
  evaluation.program.functions[which]!(args).then(
    (text) => settle({ type: "settle", call, ok: true, text }),
    (cause) => {
      const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
      settle({ type: "settle", call, ok: false, name, message });
    },
  );
  assign();
}

function finish(thread: Thread, outcome: Outcome): void {
  const { evaluation } = thread;
  thread.evaluation = undefined;
  clearTimeout(evaluation?.timer);
  thread.worker.unref();
  const idle = [...threads].filter((each) => !each.evaluation).length;
  if (idle > MOST_COMPUTING) end(thread);
  evaluation?.resolve(outcome);
  assign();
}

function end(thread: Thread): void {
  threads.delete(thread);
  thread.worker.terminate();
}

function drop(thread: Thread, outcome: Outcome): void {
  end(thread);
  finish(thread, outcome);
}
