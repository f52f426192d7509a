/** Faulty scripts: the job reports the fault, and the server stays up. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { stripLogHeader } from "../../../src/features/runs/job/log-header.ts";
import { type Ask, deploy, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer({ max_result_mb: 12, max_log_mb: 1 });
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/fine", "export const main = (n: number) => n + 1");
});
afterAll(() => server.stop());
afterEach(async () => {
  expect((await run("u/admin/fine", { n: 41 })).text).toBe("42");
});

const run = (path: string, args: unknown = {}, query = "") =>
  ask("POST", `/w/acme/jobs/run_wait_result/p/${path}${query}`, args);

let deployed = 0;

/** Runs code to its end. @returns the synchronous response, the stored job, and its whole log */
async function runToEnd(content: string, more: object = {}) {
  const path = `u/admin/bad_${++deployed}`;
  await deploy(ask, "acme", path, content, more);
  const id = crypto.randomUUID();
  const answer = await run(path, {}, `?job_id=${id}`);
  const job = (await ask("GET", `/w/acme/jobs_u/completed/get/${id}`)).json();
  const log = stripLogHeader((await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text);
  return { answer, job, log };
}

describe("a job that fails", () => {
  const python = { language: "python3" };
  const bash = { language: "bash" };
  const brief = { timeout: 1 };
  type Row = [what: string, content: string, more: object, name: string, message: string];
  const rows: Row[] = [
    ["no main", "export const other = () => 1", {}, "MissingFunction", "exports no function `main`"],
    ["no main in Python", "x = 1", python, "MissingFunction", "defines no function `main`"],
    ["a throw while loading", "throw new TypeError('at load')", {}, "TypeError", "at load"],
    ["an endless loop", "export const main = () => { for (;;); }", brief, "ExecutionTimeout", "limit of 1 s"],
    [
      "one while loading",
      "for (;;);\nexport const main = () => 1",
      brief,
      "ExecutionTimeout",
      "limit of 1 s",
    ],
    [
      "one in Python",
      "def main():\n  while True: pass",
      { ...python, ...brief },
      "ExecutionTimeout",
      "limit of 1 s",
    ],
    ["one in bash", "while true; do :; done", { ...bash, ...brief }, "ExecutionTimeout", "limit of 1 s"],
    [
      "a promise nobody keeps",
      "export const main = () => new Promise(() => {})",
      brief,
      "ExecutionTimeout",
      "limit of 1 s",
    ],
    [
      "process.exit",
      "export const main = () => { console.log('bye'); process.exit(0) }",
      {},
      "ExecutionErr",
      "exited with code 0 before it returned; its last output:\nbye",
    ],
    ["sys.exit", "import sys\ndef main():\n  sys.exit(3)", python, "ExecutionErr", "exited with code 3"],
    [
      "a script that kills itself",
      "export const main = () => process.kill(process.pid, 'SIGKILL')",
      {},
      "ExecutionErr",
      "killed by SIGKILL",
    ],
    ["one in bash", "kill -9 $$", bash, "ExecutionErr", "killed by SIGKILL"],
    [
      "a function",
      "export const main = () => () => 1",
      {},
      "ResultNotSerializable",
      "a function, which is not JSON",
    ],
    [
      "a circle",
      "export const main = () => { const a: any = {}; a.a = a; return a }",
      {},
      "ResultNotSerializable",
      "cyclic",
    ],
    ["a Python object", "def main():\n  return object()", python, "ResultNotSerializable", "not JSON"],
    [
      "a result above the limit",
      "export const main = () => 'x'.repeat(13_000_000)",
      {},
      "ResultTooLarge",
      "more than the 12 MB allowed",
    ],
    [
      "a stream above the limit",
      "export function* main() { for (;;) yield 'x'.repeat(1_000_000) }",
      {},
      "ResultTooLarge",
      "more than the 12 MB allowed",
    ],
    ["throw null", "export const main = () => { throw null }", {}, "Error", "null"],
  ];
  test.each(rows)("%s", async (_, content, more, name, message) => {
    const { answer, job } = await runToEnd(content, more);
    expect(answer.status).toBe(200);
    expect(answer.json().error).toMatchObject({ name, message: expect.stringContaining(message) });
    expect(job).toMatchObject({
      type: "CompletedJob",
      success: false,
      canceled: false,
      result: answer.json(),
    });
  });

  test("a very long error message is truncated", async () => {
    const { answer } = await runToEnd(
      "export const main = () => { throw new Error('x'.repeat(20_000_000)) }",
    );
    expect(answer.json().error.name).toBe("Error");
    expect(answer.text.length).toBeLessThan(300_000);
  });
});

describe("a job that succeeds", () => {
  test("undefined is null", async () => {
    const { answer, job } = await runToEnd("export const main = () => undefined");
    expect([answer.text, job.success]).toEqual(["null", true]);
  });

  test("a result of 10 MB arrives completely", async () => {
    const { answer, job } = await runToEnd("export const main = () => ['x'.repeat(10_000_000)]");
    expect(answer.json()[0]).toHaveLength(10_000_000);
    expect(job.success).toBe(true);
  });

  const line = "const line = 'x'.repeat(999) + '\\n';";
  const printers: [string, string, object][] = [
    [
      "console.log",
      `${line} export const main = () => { for (let i = 0; i < 100; i++) console.log(line.repeat(1000)) }`,
      {},
    ],
    [
      "process.stdout",
      `${line} export const main = () => { for (let i = 0; i < 100; i++) process.stdout.write(line.repeat(1000)) }`,
      {},
    ],
    ["Python", "def main():\n  for i in range(100): print('x' * 1000000)", { language: "python3" }],
    ["bash", "head -c 100000000 /dev/zero | tr '\\0' x | fold -w 999\necho\necho null", { language: "bash" }],
  ];
  test.each(printers)(
    "the log of 100 MB printed with %s is truncated and says so",
    async (_, content, more) => {
      const { job, log } = await runToEnd(content, more);
      expect(job.success).toBe(true);
      expect(log.length).toBeLessThan(1_000_200);
      const said = /\n\[the log is cut here: (\d+) more bytes were left out, the limit is 1000000\]\n$/.exec(
        log,
      );
      expect(Number(said?.[1])).toBeGreaterThanOrEqual(99_000_000);
    },
    60_000,
  );
});

describe("a long script", () => {
  const dense = "{ const x = { a: [1, 2, 3] } }\n".repeat(130_000);
  const create = (content: string, language: string) =>
    ask("POST", "/w/acme/scripts/create", { path: `u/admin/long_${++deployed}`, content, language });

  test.each([
    ["TypeScript", "bun", `export const main = () => 1\n${dense}`],
    ["Python", "python3", `def main(): pass\n${"x = [1, 2, {3: 4}]\n".repeat(100_000)}`],
  ])("with too many tokens for the parser is rejected, with the reason: %s", async (_, language, content) => {
    const refused = await create(content, language);
    expect([refused.status, refused.text]).toEqual([
      413,
      expect.stringContaining("300,000 that can be read"),
    ]);
    const preview = { content, language, args: {} };
    const { text } = await ask("POST", "/w/acme/jobs/run_wait_result/preview", preview);
    expect(text).toContain("300,000 that can be read");
  });

  test.each([
    ["data in a text", `export const main = () => data.length\nconst data = "${"x".repeat(4_000_000)}"\n`],
    ["ordinary code", `export const main = () => 1\n${"// a comment that says something\n".repeat(40_000)}`],
  ])("with %s runs", async (_, content) => {
    const { job } = await runToEnd(content);
    expect(job.success).toBe(true);
  });
});
