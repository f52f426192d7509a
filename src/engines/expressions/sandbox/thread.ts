/** Program of a thread that evaluates expressions, which keeps their cost off the event loop. */
import type { TextFunction } from "./limits.ts";
import type { FromThread, ToThread } from "./messages.ts";
import { runInSandbox } from "./sandbox.ts";

declare const self: Worker;

interface PendingCall {
  resolve: (text: string | undefined) => void;
  reject: (cause: Error) => void;
}

/** Pending calls of the current evaluation, by number; those of earlier ones are dropped. */
let waiting = new Map<number, PendingCall>();
let calls = 0;

function postToHost(message: FromThread): void {
  self.postMessage(message);
}

function createHostFunction(which: number, of: Map<number, PendingCall>): TextFunction {
  return (args) =>
    new Promise((resolve, reject) => {
      const call = calls++;
      of.set(call, { resolve, reject });
      postToHost({ type: "call", call, which, args });
    });
}

async function run({ source, values, functions, limits }: Extract<ToThread, { type: "run" }>): Promise<void> {
  waiting = new Map();
  const called = Array.from({ length: functions }, (_, which) => createHostFunction(which, waiting));
  postToHost({ type: "done", outcome: await runInSandbox({ source, values, functions: called }, limits) });
}

function settle(message: Extract<ToThread, { type: "settle" }>): void {
  const call = waiting.get(message.call);
  waiting.delete(message.call);
  if (message.ok) call?.resolve(message.text);
  else call?.reject(Object.assign(new Error(message.message), { name: message.name }));
}

self.onmessage = ({ data }: MessageEvent<ToThread>) => (data.type === "run" ? run(data) : settle(data));
