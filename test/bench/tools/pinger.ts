/**
 * A thread that constantly sends a small request, and reports the longest response time, and the serving
 * thread's processor time during one response. The former includes other load of the machine.
 */
import { readFileSync } from "node:fs";

declare const self: Worker;

export type ToPinger = { url: string; pid: number } | "longest";

export interface Longest {
  wait_ms: number;
  computed_ms: number;
}

/** Pause between two calls. */
const EVERY_MS = 2;

const longest: Longest = { wait_ms: 0, computed_ms: 0 };
let since: { at: number; computed: number } | undefined;
let serving = 0;

/** The processor time of the serving thread, in milliseconds. */
function computed(): number {
  return Number(readFileSync(`/proc/${serving}/task/${serving}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

function measure(): void {
  if (since === undefined) return;
  longest.wait_ms = Math.max(longest.wait_ms, performance.now() - since.at);
  longest.computed_ms = Math.max(longest.computed_ms, computed() - since.computed);
}

async function ping(url: string): Promise<void> {
  for (;;) {
    since = { at: performance.now(), computed: computed() };
    await (await fetch(url)).arrayBuffer();
    measure();
    since = undefined;
    await Bun.sleep(EVERY_MS);
  }
}

self.onmessage = ({ data }: MessageEvent<ToPinger>) => {
  if (data !== "longest") {
    serving = data.pid;
    void ping(data.url);
    return;
  }
  measure();
  self.postMessage({ ...longest });
  Object.assign(longest, { wait_ms: 0, computed_ms: 0 });
};
