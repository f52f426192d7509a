/** The server's side of a child's channel. */
import { expect, test } from "bun:test";
import { openChannel } from "../../../../src/engines/runner/process/channel.ts";
import type { FromChild } from "../../../../src/engines/runner/protocol.ts";
import { CHANNEL_ENVIRONMENT } from "../../../../src/engines/runner/protocol.ts";

const LINES = 20_000;

test("short messages after a long one are read together, in order", async () => {
  const code = `const { writeSync } = require("node:fs");
    const line = (text) => JSON.stringify({ t: "stream", text }) + "\\n";
    const lines = Array.from({ length: ${LINES} }, (_, n) => line(String(n))).join("");
    const bytes = Buffer.from(line("x".repeat(20_000_000)) + lines);
    for (let at = 0; at < bytes.length; ) {
      try { at += writeSync(3, bytes, at) } catch (cause) { if (cause.code !== "EAGAIN") throw cause }
    }`;
  const child = Bun.spawn([process.execPath, "-e", code], {
    env: { ...process.env, ...CHANNEL_ENVIRONMENT },
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  /** Turns of the event loop. */
  let turn = 0;
  let isCounting = true;
  const count = () => {
    turn++;
    if (isCounting) setImmediate(count);
  };
  count();
  const received: { text: string; turn: number }[] = [];
  const problem = await new Promise<string | undefined>((onClose) => {
    openChannel({
      descriptor: child.stdio[3] as unknown as number,
      max_bytes: 100_000_000,
      onMessage: (message) =>
        received.push({ text: (message as Extract<FromChild, { t: "stream" }>).text, turn }),
      onClose,
    });
  });
  isCounting = false;
  expect(problem).toBeUndefined();
  const [long, ...short] = received;
  expect(long!.text.length).toBe(20_000_000);
  expect(short.map(({ text }) => text)).toEqual(Array.from({ length: LINES }, (_, n) => String(n)));
  expect(short.at(-1)!.turn - long!.turn).toBeLessThan(LINES / 4);
});
