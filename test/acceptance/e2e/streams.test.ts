/** Memory that streams take, measured on the executable in a process of its own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { sleepingReader } from "../../support/event-stream.ts";
import { createInstallation, type Installation, type Serving, setUp, until } from "./executable.ts";

const MB = 1_000_000;
const STREAM_MB = 400;
/** Largest growth of the server's memory during a stream that nobody reads. */
const MOST_MB = 200;

let place: Installation;
let server: Serving;
let token: string;

beforeAll(async () => {
  place = createInstallation();
  server = await place.serve({ env: { SVC_MAX_STREAM_MB: "500", SVC_MAX_RESULT_MB: "500" } });
  token = await setUp(server);
});
afterAll(async () => {
  server.process.kill("SIGKILL");
  await server.process.exited;
  place.remove();
});

const residentMb = () => {
  const pages = Number(readFileSync(`/proc/${server.pid}/statm`, "utf8").split(" ")[1]);
  return (pages * 4096) / MB;
};

const ask = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${server.url}/api/w/acme${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
};

test("a long stream that nobody reads is not kept in memory", async () => {
  const line = `${"a stream whose reader sleeps ".repeat(30)}\n`;
  const lines = Math.ceil((STREAM_MB * MB) / line.length);
  // Limited by its end, when the result becomes one text.
  const content = `export async function* main() {
    for (let i = 0; i < ${lines}; i++) { yield ${JSON.stringify(line)}; if (i % 100 === 0) await Bun.sleep(0) }
    await Bun.sleep(60_000);
  }`;
  await ask("POST", "/scripts/create", { path: "u/ann/long", content, language: "bun" });
  const before = residentMb();

  const id = crypto.randomUUID();
  await sleepingReader(`${server.url}/api/w/acme/jobs/run_and_stream/p/u/ann/long?job_id=${id}`, token);
  let most = 0;
  await until(async () => {
    most = Math.max(most, residentMb());
    const last = lines * line.length - 1;
    const text = await ask("GET", `/jobs_u/getupdate/${id}?stream_offset=${last}&running=true`);
    // The reader's request may still be under way.
    if (text.startsWith("Not found")) return undefined;
    const update = JSON.parse(text);
    return update.new_result_stream === "\n" ? true : undefined;
  }, "the whole text to be streamed");
  expect(most - before).toBeLessThan(MOST_MB);
}, 120_000);
