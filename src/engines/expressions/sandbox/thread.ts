/** The program of a thread that evaluates expressions: what they cost is not taken from the thread that serves. */
import type { TextFunction } from "./limits.ts";
import type { FromThread, ToThread } from "./messages.ts";
import { runInSandbox } from "./sandbox.ts";

declare const self: Worker;

interface Waiting {
  resolve: (text: string | undefined) => void;
  reject: (cause: Error) => void;
}

/** Calls of the evaluation that runs, by number: those of one before it are answered to nobody. */
let waiting = new Map<number, Waiting>();
let calls = 0;

function tell(message: FromThread): void {
  self.postMessage(message);
}

function callable(which: number, of: Map<number, Waiting>): TextFunction {
  return (args) =>
    new Promise((resolve, reject) => {
      const call = calls++;
      of.set(call, { resolve, reject });
      tell({ type: "call", call, which, args });
    });
}

async function run({ source, values, functions, limits }: Extract<ToThread, { type: "run" }>): Promise<void> {
  waiting = new Map();
  const called = Array.from({ length: functions }, (_, which) => callable(which, waiting));
  tell({ type: "done", outcome: await runInSandbox({ source, values, functions: called }, limits) });
}

function settle(message: Extract<ToThread, { type: "settle" }>): void {
  const call = waiting.get(message.call);
  waiting.delete(message.call);
  if (message.ok) call?.resolve(message.text);
  else call?.reject(Object.assign(new Error(message.message), { name: message.name }));
}

self.onmessage = ({ data }: MessageEvent<ToThread>) => (data.type === "run" ? run(data) : settle(data));
