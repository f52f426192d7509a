/** `svc run`: waiting for a job, streaming it, leaving it to a server, and taking it back with Ctrl-C. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deploy, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, start } from "../../program.ts";
import { CTRL_C, startSession } from "../../session.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
const LEFT = "no server is up: the job stays queued until one starts (svc serve)\n";

const COUNT = `export async function* main(from = 2) {
  for (let n = from; n > 0; n--) { console.log("at " + n); yield n + "…"; await Bun.sleep(20); }
  yield "lift-off";
}`;
/** Streams lines, and has a separate result. */
const BOTH = `export function main() { console.log("WM_STREAM: half way"); return { done: true }; }`;
const SUM = "export const main = (a: number, b: number) => { console.log('adding'); return a + b; }";
const FAILS = `export async function* main() { yield "so far"; throw new RangeError("no more"); }`;
/** Logs one line and the beginning of another, and waits until it is ended. */
const SLOW = `export async function main() {
  console.log("at work");
  process.stdout.write("half a line");
  await Bun.sleep(600_000);
}`;

async function fill(place: CliEnvironment) {
  await place.file("count.ts", COUNT);
  await place.file("both.ts", BOTH);
  await place.file("sum.ts", SUM);
  await place.file("fails.ts", FAILS);
  await place.file("slow.ts", SLOW);
}

/** Runs commands that wait and stream, and expects the same output however the service is reached. */
async function waitsAndStreams(place: CliEnvironment, common: string[]) {
  const svc = (args: string[], stdin?: string) =>
    place.svc([...args, ...common], stdin === undefined ? {} : { stdin });
  expect(await svc(["run", "count.ts", "-d", '{"from":3}', "--stream"])).toEqual({
    code: 0,
    out: "3…2…1…lift-off",
    err: "at 3\nat 2\nat 1\n",
  });
  expect(await svc(["run", "count.ts", "-d", "@-", "--no-log"], '{"from":1}')).toEqual({
    code: 0,
    out: '"1…lift-off"\n',
    err: "",
  });
  expect(await svc(["run", "both.ts", "--stream"])).toEqual({
    code: 0,
    out: 'half way\n{\n  "done": true\n}\n',
    err: "",
  });
  expect(await svc(["run", "sum.ts", "--stream", "-d", '{"a":1,"b":2}'])).toEqual({
    code: 0,
    out: "3\n",
    err: "adding\n",
  });
  const failed = await svc(["run", "fails.ts", "--stream"]);
  expect(failed).toMatchObject({ code: 1, out: "so far" });
  expect(failed.err).toStartWith("error: RangeError: no more\n");
}

describe("with a server", () => {
  let server: TestServer;
  let place: CliEnvironment;
  let token: string;
  beforeAll(async () => {
    place = createCliEnvironment();
    server = await startTestServer({ data_dir: place.data_dir });
    const workspace = await server.workspace("acme");
    token = workspace.token;
    await deploy(workspace.ask, "acme", "u/admin/sum", SUM);
    await fill(place);
  });
  afterAll(async () => {
    await server.stop();
    place[Symbol.dispose]();
  });

  const record = async (id: string) => (await server.operator("GET", `/w/acme/jobs_u/get/${id}`)).json();

  test("waits and streams, through the socket and over HTTP", async () => {
    await waitsAndStreams(place, []);
    await waitsAndStreams(place, ["--workspace", "acme", "--url", server.url, "--token", token]);
  }, 60_000);

  test("--async prints only the id; the job runs", async () => {
    const args = ["run", "u/admin/sum", "-d", '{"a":20,"b":22}', "--tag", "heavy", "--timeout", "60"];
    const { code, out, err } = await place.svc([...args, "--async"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trim()).toMatch(UUID);
    const job = await until(async () => {
      const found = await record(out.trim());
      return found.type === "CompletedJob" ? found : undefined;
    });
    expect(job).toMatchObject({ success: true, result: 42, tag: "heavy", script_path: "u/admin/sum" });
    const json = await place.svc([...args, "--async", "--json"]);
    expect(JSON.parse(json.out)).toEqual({ id: expect.stringMatching(UUID) });
  }, 60_000);

  test("--at and --in schedule scripts and files; the id is printed at once", async () => {
    const at = "2033-04-05T06:07:08.000Z";
    const data = ["-d", '{"a":1,"b":2}'];
    for (const code of ["u/admin/sum", "sum.ts"]) {
      const fixed = await place.svc(["run", code, ...data, "--at", at]);
      expect(await record(fixed.out.trim())).toMatchObject({ running: false, scheduled_for: at });
      const before = Date.now();
      const later = await place.svc(["run", code, ...data, "--in", "2h"]);
      expect({ code: later.code, err: later.err }).toEqual({ code: 0, err: "" });
      const { running, scheduled_for } = await record(later.out.trim());
      expect(running).toBe(false);
      const due = new Date(scheduled_for).getTime() - 7_200_000;
      expect(due).toBeGreaterThanOrEqual(before);
      expect(due).toBeLessThanOrEqual(Date.now());
    }
    // A time without a zone is in the time zone of the command.
    const env = { TZ: "Asia/Tokyo" };
    const local = await place.svc(["run", "u/admin/sum", ...data, "--at", "2033-04-05T06:07"], { env });
    expect((await record(local.out.trim())).scheduled_for).toBe("2033-04-04T21:07:00.000Z");
    expect(local.err).toMatch(/^runs on Tuesday,? 5 April 2033, 06:07:00 GMT\+9 \(in \d+y\)\n$/);
    const day = await place.svc(["run", "u/admin/sum", ...data, "--at", "2033-04-05"], { env });
    expect((await record(day.out.trim())).scheduled_for).toBe("2033-04-04T15:00:00.000Z");
  }, 60_000);

  test("--timeout stops the job", async () => {
    const { code, err } = await place.svc(["run", "slow.ts", "--timeout", "1"]);
    expect(code).toBe(1);
    expect(err).toContain("error: the job ran longer than its limit of 1 s");
  }, 60_000);

  test("a second Ctrl-C exits at once, whatever the job does", async () => {
    // This proxy never answers the cancellation, which leaves time for a second Ctrl-C.
    await using deaf = deafProxy(server.url);
    const remote = ["--workspace", "acme", "--url", deaf.url, "--token", token];
    using running = start(place, ["run", "slow.ts", ...remote]);
    await running.says("at work");
    running.child.kill("SIGINT");
    await running.says("canceling…");
    running.child.kill("SIGINT");
    expect(await running.ended()).toMatchObject({ code: 130, out: "" });
    const [left] = (await server.operator("GET", "/w/acme/jobs/list?running=true")).json();
    await server.operator("POST", `/w/acme/jobs_u/queue/cancel/${left.id}`, {});
  }, 60_000);
});

test("without a server it waits and streams; an asynchronous job is stored for a server, and it says so", async () => {
  using place = createCliEnvironment();
  await fill(place);
  await waitsAndStreams(place, []);
  const data = ["-d", '{"a":20,"b":22}'];
  const ids: string[] = [];
  for (const flags of [["--async"], ["--in", "1s"]]) {
    const { code, out, err } = await place.svc(["run", "sum.ts", ...data, ...flags]);
    expect({ code, err }).toEqual({ code: 0, err: LEFT });
    ids.push(out.trim());
  }
  const waiting = await place.svc(["job", "list", "--status", "queued"]);
  expect(waiting.out.trim().split("\n").length).toBe(2);
  using serving = start(place, ["serve", "--port", "0", "--json"]);
  await serving.says("\n}\n");
  for (const id of ids) {
    expect(await place.svc(["job", "result", id, "--wait"])).toEqual({ code: 0, out: "42\n", err: "" });
  }
  serving.child.kill("SIGTERM");
  await serving.ended();
}, 60_000);

// A server in the test's process would end these sessions, which it treats as leftover processes.

test("on a terminal: the log above a line with state and seconds; Ctrl-C prints what it does", async () => {
  using place = createCliEnvironment();
  await fill(place);
  using session = startSession(place, ["run", "slow.ts"]);
  await session.sees("at work");
  await session.sees("running 0 s  half a line");
  await session.sees("running 1 s");
  session.types(CTRL_C);
  await session.sees("canceling…");
  await session.sees("error: canceled by local-admin@localhost: Ctrl-C at the terminal");
  await session.sees("hint: svc job show");
  const { code, shown, raw } = await session.ended();
  expect(code).toBe(130);
  // The buffered rest of the log, and the cursor that the spinner hid.
  expect(shown).toContain("half a line\r\n");
  expect(raw.lastIndexOf("\x1b[?25h")).toBeGreaterThan(raw.lastIndexOf("\x1b[?25l"));
  // Each frame of the spinner is drawn over the one before.
  expect(shown.split("\n").filter((line) => line.includes("running")).length).toBeLessThan(5);
}, 60_000);

test("on a terminal --no-log shows only the last line; other output has no escape codes", async () => {
  using place = createCliEnvironment();
  await fill(place);
  using quiet = startSession(place, ["run", "slow.ts", "--no-log"]);
  await quiet.sees("running 0 s  half a line");
  quiet.types(CTRL_C);
  const { shown } = await quiet.ended();
  expect(shown).not.toContain("at work\r\n");

  const command = `${place.program.join(" ")} run fails.ts 2>err.txt; ${place.program.join(" ")} run sum.ts -d '{"a":1,"b":2}' >out.txt`;
  using mixed = startSession({ ...place, program: ["sh", "-c"] }, [command]);
  await mixed.sees("adding");
  await mixed.ended();
  const files = await Promise.all(
    ["err.txt", "out.txt"].map((name) => Bun.file(`${place.folder}/${name}`).text()),
  );
  expect(files[0]).toContain("error: RangeError: no more\n");
  expect(files[1]).toBe("3\n");
  expect(files.join("")).not.toContain("\x1b");
}, 60_000);

test("on a terminal the spinner does not disturb a stream", async () => {
  using place = createCliEnvironment();
  await place.file(
    "paced.ts",
    `export async function* main() { for (const word of ["one ", "two ", "three"]) { await Bun.sleep(400); yield word; } }`,
  );
  using session = startSession(place, ["run", "paced.ts", "--stream"]);
  await session.sees("running 0 s");
  await session.sees("one two three\r\n");
  expect((await session.ended()).code).toBe(0);
}, 60_000);

/** Forwards everything except cancellations of jobs, which get no response. */
function deafProxy(to: string) {
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname.includes("/cancel/")) return new Promise<Response>(() => {});
      const body = request.method === "GET" ? null : await request.arrayBuffer();
      return fetch(`${to}${pathname}${search}`, { method: request.method, headers: request.headers, body });
    },
  });
  return {
    url: `http://localhost:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
