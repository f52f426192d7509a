/** A thread that asks the server something small all the time, and tells how long the longest answer took. */
declare const self: Worker;

export type ToPinger = { url: string } | "longest";

/** Between two calls. */
const EVERY_MS = 2;

let longest = 0;
let begun = 0;

async function ping(url: string): Promise<void> {
  for (;;) {
    begun = performance.now();
    await (await fetch(url)).arrayBuffer();
    longest = Math.max(longest, performance.now() - begun);
    begun = 0;
    await Bun.sleep(EVERY_MS);
  }
}

self.onmessage = ({ data }: MessageEvent<ToPinger>) => {
  if (data !== "longest") {
    void ping(data.url);
    return;
  }
  self.postMessage(Math.max(longest, begun === 0 ? 0 : performance.now() - begun));
  longest = 0;
};
