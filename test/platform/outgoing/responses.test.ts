/** Responses of hosts that users name: decoded, within a limit, and without more memory than that. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { sendRequest } from "../../../src/platform/outgoing/request.ts";
import { parseTargets } from "../../../src/platform/outgoing/targets.ts";

const TEXT = "told ".repeat(2_000);
const BOMB_BYTES = 2 ** 26;
const repeat = (bytes: Uint8Array, times: number) =>
  new Uint8Array(Buffer.concat(Array<Uint8Array>(times).fill(bytes)));
const bodies: Record<string, [encoding: string | undefined, body: Uint8Array | string]> = {
  plain: [undefined, TEXT],
  gzip: ["gzip", new Uint8Array(gzipSync(TEXT))],
  deflate: ["deflate", new Uint8Array(deflateSync(TEXT))],
  cut: ["gzip", new Uint8Array(gzipSync(TEXT).subarray(0, -8))],
  empty: ["gzip", ""],
  gzip_bomb: ["gzip", repeat(gzipSync(new Uint8Array(BOMB_BYTES)), 16)],
  zstd_bomb: ["zstd", repeat(Bun.zstdCompressSync(new Uint8Array(BOMB_BYTES)), 16)],
  br_bomb: ["br", new Uint8Array(brotliCompressSync(new Uint8Array(BOMB_BYTES)))],
};
const asked: (string | null)[] = [];
const host = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    asked.push(request.headers.get("accept-encoding"));
    const [encoding, body] = bodies[new URL(request.url).pathname.slice(1)]!;
    return new Response(body, { headers: encoding === undefined ? {} : { "content-encoding": encoding } });
  },
});
afterAll(() => host.stop(true));

const ask = (name: string, more: object = {}) =>
  sendRequest({
    url: `${host.url}${name}`,
    method: "GET",
    targets: parseTargets("127.0.0.1"),
    timeout_ms: 20_000,
    max_bytes: 100_000,
    max_redirects: 0,
    ...more,
  });

test.each(["plain", "gzip", "deflate", "cut"])("a %s body is read", async (name) => {
  expect((await ask(name)).body.toString()).toBe(TEXT);
});

test("an empty body is empty, whatever its encoding", async () => {
  expect((await ask("empty")).body.length).toBe(0);
});

test("the encodings that can be read within a limit are asked for", () => {
  expect([...new Set(asked)]).toEqual(["gzip"]);
});

/** Returns the most memory that this process had since the last call, in bytes (proc_pid_status(5)). */
function takePeak(): number {
  const [, peak_kb] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync("/proc/self/status", "latin1"))!;
  writeFileSync("/proc/self/clear_refs", "5");
  return Number(peak_kb) * 1024;
}

test.if(process.platform === "linux").each(["gzip_bomb", "zstd_bomb", "br_bomb"])(
  "a %s takes no memory",
  async (name) => {
    takePeak();
    const before = process.memoryUsage.rss();
    // The rest of the first response may be decompressed after its beginning was read.
    for (const _ of [1, 2]) expect((await ask(name)).body.length).toBeLessThanOrEqual(100_000);
    expect(takePeak() - before).toBeLessThan(100_000_000);
  },
);

test("a body that is larger when it is decoded may be refused", async () => {
  await expect(ask("gzip_bomb", { oversize: "refused" })).rejects.toThrow("sent more than 100000 bytes");
});
