/** Limits of a stream: its size, the duration of a connection, and its memory with slow readers. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { App } from "../../../../src/platform/app/context.ts";
import {
  allEvents,
  eventsOf,
  type JobEvent,
  sleepingReader,
  streamed,
} from "../../../support/event-stream.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const MB = 1_000_000;

describe("a stream larger than allowed", () => {
  let server: TestServer;
  let ask: Ask;
  let token: string;
  beforeAll(async () => {
    server = await startTestServer({ max_stream_mb: 1, max_result_mb: 2 });
    ({ ask, token } = await server.workspace());
  });
  afterAll(() => server.stop());

  let deployed = 0;
  async function runAndStream(content: string, more: object = {}): Promise<Response> {
    const path = `u/admin/large_${++deployed}`;
    await deploy(ask, "acme", path, content, more);
    const headers = { authorization: `Bearer ${token}` };
    return fetch(`${server.url}/api/w/acme/jobs/run_and_stream/p/${path}`, { method: "POST", headers });
  }

  const rows: [what: string, content: string, language: string][] = [
    [
      "of a generator",
      "export async function* main() { for (;;) { yield 'x'.repeat(10_000); await 1 } }",
      "bun",
    ],
    [
      "of lines on stdout",
      "export async function main() { for (;;) { console.log('WM_STREAM: ' + 'x'.repeat(10_000)); await Bun.sleep(0) } }",
      "bun",
    ],
    ["of a Python generator", "def main():\n    while True:\n        yield 'x' * 10_000", "python3"],
    ["of bash", "while true; do printf 'WM_STREAM: %10000s\\n' x; done", "bash"],
  ];
  test.each(rows)("%s fails the job, with the reason; earlier output stays", async (_, content, language) => {
    const response = await runAndStream(content, { language });
    const events = await allEvents(response);
    expect(events.at(-1)!.only_result).toEqual({
      error: {
        name: "StreamTooLarge",
        message: "the job streamed more than the 1 MB allowed and was stopped",
      },
    });
    const id = response.headers.get("svc-job-id");
    const text = streamed(events);
    expect(text.length).toBeGreaterThan(0.9 * MB);
    expect(text.length).toBeLessThanOrEqual(MB);
    const kept = (await ask("GET", `/w/acme/jobs_u/getupdate/${id}`)).json();
    expect(kept.new_result_stream === text).toBe(true);
  });

  test("counts bytes, not characters", async () => {
    const content = "export function* main() { for (let i = 0; i < 3; i++) yield '€'.repeat(200_000) }";
    const { only_result } = (await allEvents(await runAndStream(content))).at(-1)!;
    expect(only_result).toMatchObject({ error: { name: "StreamTooLarge" } });
  });

  test("a stream and a result together must fit in a result", async () => {
    const content = `export function main() {
      console.log("WM_STREAM: " + "x".repeat(900_000)); return { big: "y".repeat(1_500_000) };
    }`;
    const { only_result } = (await allEvents(await runAndStream(content))).at(-1)!;
    expect(only_result).toMatchObject({ error: { name: "ResultTooLarge" } });
  });
});

describe("a reader that does not read", () => {
  test("delays no job, and finds everything when it reads", async () => {
    await using server = await startTestServer();
    const { ask, token } = await server.workspace();
    const line = `${"a stream whose reader sleeps ".repeat(30)}\n`;
    const lines = Math.ceil((20 * MB) / line.length);
    const content = `export function* main() { for (let i = 0; i < ${lines}; i++) yield ${JSON.stringify(line)} }`;
    await deploy(ask, "acme", "u/admin/long", content);
    const job_id = crypto.randomUUID();
    const path = `/api/w/acme/jobs/run_and_stream/p/u/admin/long?job_id=${job_id}`;
    const reader = await sleepingReader(`${server.url}${path}`, token);
    await until(async () => {
      const job = await ask("GET", `/w/acme/jobs_u/get/${job_id}?no_logs=true`);
      return job.status === 200 && job.json().type === "CompletedJob" ? true : undefined;
    }, "the job to end while nobody reads");
    // Long enough for the server to have dropped the end from memory.
    await Bun.sleep(1_200);
    const events = await allEvents(await reader.wake());
    const whole = line.repeat(lines);
    expect(streamed(events) === whole).toBe(true);
    expect(events.at(-1)!.completed).toBe(true);
    expect(events.at(-1)!.only_result === whole).toBe(true);
  }, 60_000);
});

describe("time limits", () => {
  /** Moves the server's clock forward. */
  function later(app: App, ms: number): void {
    (app as { -readonly [K in keyof App]: App[K] }).clock = () => new Date(Date.now() + ms);
  }

  test("a quiet stream sends pings, and getupdate_sse ends after half a minute, to be resumed", async () => {
    await using server = await startTestServer();
    const { ask, token } = await server.workspace();
    const { app } = server.server;
    const content = "export async function* main() { yield 'a'; await Bun.sleep(60_000) }";
    await deploy(ask, "acme", "u/admin/quiet", content);
    const open = (path: string, method: string) =>
      fetch(`${server.url}/api/w/acme${path}`, { method, headers: { authorization: `Bearer ${token}` } });
    const run = await open("/jobs/run_and_stream/p/u/admin/quiet", "POST");
    const id = run.headers.get("svc-job-id");
    const running = eventsOf(run, { comments: true });
    const followed = eventsOf(await open(`/job_u/getupdate_sse/${id}?only_result=true&no_logs=true`, "GET"), {
      comments: true,
    });
    const next = async (events: AsyncGenerator<JobEvent>) => (await events.next()).value as JobEvent;
    const untilPiece = async (events: AsyncGenerator<JobEvent>) => {
      for (;;) if ((await next(events)).new_result_stream === "a") return;
    };
    await Promise.all([untilPiece(running), untilPiece(followed)]);

    later(app, 6_000);
    expect([await next(running), await next(followed)]).toEqual([{ type: ": ping" }, { type: ": ping" }]);
    later(app, 31_000);
    expect(await Array.fromAsync(followed)).toEqual([{ type: ": timeout" }]);
    // The call that started the job continues to its end.
    expect(await next(running)).toEqual({ type: ": ping" });
    const again = eventsOf(
      await open(`/jobs_u/getupdate_sse/${id}?stream_offset=1&only_result=true&no_logs=true`, "GET"),
    );
    expect(await next(again)).toEqual({ type: "update", running: true });
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    for (const events of [running, again]) {
      expect((await Array.fromAsync(events)).at(-1)).toMatchObject({ completed: true });
    }
  });
});

test("a stream that the server cannot continue ends with an event that says so", async () => {
  await using server = await startTestServer();
  const { ask, token } = await server.workspace();
  await deploy(ask, "acme", "u/admin/lost", "export function* main() { yield 'a' }");
  const id = (await ask("POST", "/w/acme/jobs/run/p/u/admin/lost", {})).text;
  await until(async () => {
    const job = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return job.status === 200 ? true : undefined;
  });
  await server.server.app.db.write((tx) => tx.rows(sql`ALTER TABLE job_streams RENAME TO gone`));
  const answer = await fetch(`${server.url}/api/w/acme/jobs_u/getupdate_sse/${id}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const events = await allEvents(answer);
  expect(events).toEqual([{ type: "update", error: expect.stringContaining("the server failed") }]);
});
