/** Scripts that attack the server that runs them, and results that attack those who read them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { type Ask, deploy, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer({ max_result_mb: 1, max_stream_mb: 1, workers: 1, blank_children: 1 });
  ({ ask, token } = await server.workspace());
  await deploy(ask, "acme", "u/admin/fine", "export const main = (n: number) => n + 1");
});
afterAll(() => server.stop());
// With one worker, anything that kept its slot would block this run.
afterEach(async () => {
  expect((await run("u/admin/fine", { n: 41 })).text).toBe("42");
});

const run = (path: string, args: unknown = {}, query = "") =>
  ask("POST", `/w/acme/jobs/run_wait_result/p/${path}${query}`, args);

let deployed = 0;
async function answerOf(content: string, more: object = {}) {
  const path = `u/admin/hostile_${++deployed}`;
  await deploy(ask, "acme", path, content, more);
  return run(path);
}

describe("the channel to the server", () => {
  const say = (message: string) => `import { writeSync } from "node:fs";
    export async function main() {
      writeSync(Number(process.env.NODE_CHANNEL_FD ?? 3), ${JSON.stringify(message)} + "\\n");
      await Bun.sleep(5_000);
    }`;
  test.each([
    ["a result that is not JSON", '{"t":"done","result":"not json","fence":0,"leftovers":false}'],
    ["labels that are not JSON", '{"t":"done","result":"{\\"wm_labels\\"","fence":0,"leftovers":false}'],
    ["an error without a name", '{"t":"done","error":1,"fence":0,"leftovers":false}'],
    ["arguments that are not text", '{"t":"done","preprocessed_args":{},"fence":0,"leftovers":false}'],
  ])("cannot be used to report %s", async (_, message) => {
    expect((await answerOf(say(message))).json()).toEqual({
      error: {
        name: "ExecutionErr",
        message: "the script's process answered something that is not a result",
      },
    });
  });

  test.each(["null", "7", '"x"', "[]", "{", "\u0000"])(
    "fails the job if something other than a message is written: %p",
    async (said) => {
      expect((await answerOf(say(said))).json().error).toEqual({
        name: "ExecutionErr",
        message: "the script's process sent the server something that is not a message",
      });
    },
  );

  test("closed by the script fails the job at once, and the process runs no other one", async () => {
    const answer = await answerOf(
      "export async function main() { process.disconnect(); await Bun.sleep(9_000) }",
    );
    expect(answer.json().error).toEqual({
      name: "ExecutionErr",
      message: "the script's process closed its connection to the server before it returned",
    });
    const later =
      "export const main = () => { setTimeout(() => process.disconnect(), 5); return process.pid }";
    const first = (await answerOf(later)).json();
    await until(() => (existsSync(`/proc/${first}`) ? undefined : true), "the process to be ended");
    expect((await run(`u/admin/hostile_${deployed}`)).json()).not.toBe(first);
  });
});

describe("a stream", () => {
  test("without end is stopped at the size limit", async () => {
    const endless = `export async function main() {
      const piece = "x".repeat(50_000);
      process.stdout.write("WM_STREAM: ");
      for (let i = 0; i < 2_000; i++) { process.stdout.write(piece); if (i % 10 === 0) await Bun.sleep(0) }
    }`;
    expect((await answerOf(endless)).json().error).toEqual({
      name: "StreamTooLarge",
      message: "the job streamed more than the 1 MB allowed and was stopped",
    });
  });

  test("in one long line arrives completely, escapes included", async () => {
    const long = `export async function main() {
      process.stdout.write("WM_STREAM: ");
      for (let i = 0; i < 20; i++) { process.stdout.write("\\\\n" + "ab".repeat(10_000) + "\\\\"); await Bun.sleep(1); process.stdout.write("n") }
      console.log("");
    }`;
    const piece = `\n${"ab".repeat(10_000)}\n`;
    expect((await answerOf(long)).json()).toBe(piece.repeat(20));
  });

  test("with NUL characters is stored without them", async () => {
    const answer = await answerOf('export function* main() { yield "a\\0b" }');
    expect(answer.status).toBe(200);
    const list = (await ask("GET", "/w/acme/jobs/list?per_page=1")).json();
    expect(list[0].success).toBe(true);
  });
});

test("a Python script may close its output", async () => {
  const python = { language: "python3" };
  expect((await answerOf("import sys\ndef main():\n    sys.stdout.close()\n    return 1", python)).text).toBe(
    "1",
  );
  expect((await answerOf("import os\ndef main():\n    os.close(1)\n    return 2", python)).text).toBe("2");
});

describe("a response", () => {
  test.each([
    ["Set-Cookie", "token=abc; Path=/"],
    ["set-cookie", "theme=dark"],
    ["Clear-Site-Data", '"*"'],
    ["Strict-Transport-Security", "max-age=31536000"],
    ["Service-Worker-Allowed", "/"],
    ["NEL", "{}"],
    ["Report-To", "{}"],
    ["Alt-Svc", 'h3=":443"'],
    ["X-Accel-Redirect", "/etc/passwd"],
    ["Sec-Session-Registration", "(ES256)"],
    ["svc-error", "Internal"],
  ])("cannot set %s, which affects the whole service", async (name, value) => {
    const headers = JSON.stringify({ [name]: value });
    const refused = await answerOf(`export const main = () => ({ wm_headers: ${headers}, result: 1 })`);
    const says = expect.stringContaining(`may not set ${name}`);
    expect([refused.status, refused.text]).toEqual([500, says]);
    expect(refused.headers.get(name)).toBe(name === "svc-error" ? "Internal" : null);
  });

  test("keeps its own headers, and leaves those of the connection to the server", async () => {
    const headers = {
      "Cache-Control": "max-age=5",
      "X-Own": "1",
      Connection: "upgrade",
      "Content-Length": "1",
    };
    const answer = await answerOf(
      `export const main = () => ({ wm_headers: ${JSON.stringify(headers)}, result: "whole" })`,
    );
    expect([answer.status, answer.text]).toEqual([200, "whole"]);
    expect([answer.headers.get("cache-control"), answer.headers.get("x-own")]).toEqual(["max-age=5", "1"]);
    expect(answer.headers.get("connection")).not.toBe("upgrade");
  });

  test("that is a page is isolated from the server's own origin", async () => {
    const page = (more: string) =>
      `export const main = () => ({ wm_content_type: "text/html", ${more} result: "<p>hi</p>" })`;
    const answer = await answerOf(page(""));
    expect(answer.text).toBe("<p>hi</p>");
    expect(answer.headers.get("content-security-policy")).toStartWith("sandbox ");
    expect(answer.headers.get("content-security-policy")).not.toContain("allow-same-origin");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const own = await answerOf(page('wm_headers: { "Content-Security-Policy": "default-src *" },'));
    // An app's own policy can restrict it further, but never remove the sandbox.
    expect(own.headers.get("content-security-policy")).toMatch(/^default-src \*, sandbox /);
  });
});

test("a link on another site starts nothing with the cookie of the user who follows it", async () => {
  const get = (site: string) =>
    server.as(undefined)("GET", "/w/acme/jobs/run_wait_result/p/u/admin/fine?payload=eyJuIjoxfQ", undefined, {
      cookie: `token=${token}`,
      "sec-fetch-site": site,
    });
  expect((await get("cross-site")).status).toBe(401);
  expect((await get("same-site")).status).toBe(401);
  expect((await get("same-origin")).status).toBe(401);
  expect((await get("none")).status).toBe(401);
});
