/** `svc job`: finding, reading, awaiting and canceling jobs, in each of the three ways to reach the service. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deploy, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, formatError } from "../../program.ts";
import { FAILING_SCRIPT, SLOW, SUCCEEDING_SCRIPT } from "./job-scripts.ts";

const NOBODY = "00000000-0000-0000-0000-000000000000";
const ISO = String.raw`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z`;

describe("in a workspace with jobs of every kind", () => {
  let server: TestServer;
  let place: CliEnvironment;
  /** Ids by name, in order of creation. */
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    place = createCliEnvironment();
    server = await startTestServer({ data_dir: place.data_dir });
    const { ask } = await server.workspace("acme");
    await server.operator("POST", "/settings/global/custom_tags", { value: ["heavy"] });
    const member = await server.member("acme", "dev");
    await deploy(ask, "acme", "u/admin/good", SUCCEEDING_SCRIPT);
    await deploy(ask, "acme", "u/admin/bad", FAILING_SCRIPT);
    await deploy(ask, "acme", "u/admin/slow", SLOW);
    const run = async (name: string, path: string, query = "") => {
      ids[name] = (await ask("POST", `/w/acme/jobs/run/p/u/admin/${path}?${query}`, {})).text;
      return ids[name];
    };
    const ended = (id: string) =>
      until(async () => {
        const { type } = (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
        return type === "CompletedJob" ? true : undefined;
      });
    await ended(await run("good", "good"));
    await ended(await run("bad", "bad"));
    const canceled = await run("canceled", "good", "scheduled_in_secs=7200");
    await ask("POST", `/w/acme/jobs_u/queue/cancel/${canceled}`, { reason: "wrong month" });
    await ended(await run("bad again", "bad"));
    await run("scheduled", "good", "scheduled_in_secs=7200");
    await run("slow", "slow");
    const preview = { content: SUCCEEDING_SCRIPT, language: "bun", args: {}, tag: "heavy" };
    ids.preview = (await member.ask("POST", "/w/acme/jobs/run/preview", preview)).text;
    await ended(ids.preview);
  });
  afterAll(async () => {
    await server.operator("POST", `/w/acme/jobs_u/queue/cancel/${ids.slow}`, {});
    await server.stop();
    place[Symbol.dispose]();
  });

  const ALL = ["preview", "slow", "scheduled", "bad again", "canceled", "bad", "good"];

  const LISTS: [args: string, names: string[]][] = [
    ["", ALL],
    ["--status queued", ["scheduled"]],
    ["--status running", ["slow"]],
    ["--status success", ["preview", "good"]],
    ["--status failure", ["bad again", "bad"]],
    ["--status failure --limit 1", ["bad again"]],
    ["--status failure --limit 1 --page 2", ["bad"]],
    ["--status failure --limit 1 --page 3", []],
    ["--status canceled", ["canceled"]],
    ["--path u/admin/good", ["scheduled", "canceled", "good"]],
    ["--path u/admin/good --status canceled", ["canceled"]],
    ["--prefix u/admin/b", ["bad again", "bad"]],
    ["--by dev", ["preview"]],
    ["--tag heavy", ["preview"]],
    ["--kind preview", ["preview"]],
    ["--kind preview,script", ALL],
    ["--since 1h", ALL],
    ["--before 1h", []],
    ["--since 2100-01-01", []],
    ["--before 2100-01-01T00:00:00Z", ALL],
    ["--limit 2", ["preview", "slow"]],
    ["--limit 2 --page 2", ["scheduled", "bad again"]],
  ];

  test("list filters and pages", async () => {
    const listed = await Promise.all(
      LISTS.map(([args]) => place.svc(["job", "list", "--kind", "script,preview", ...words(args)])),
    );
    for (const [index, [args, names]] of LISTS.entries()) {
      const { code, out, err } = listed[index]!;
      const found = out
        .split("\n")
        .slice(0, -1)
        .map((line) => nameOf(line.split("\t")[0]!));
      expect({ args, code, err, found }).toEqual({ args, code: 0, err: "", found: names });
    }
  }, 60_000);

  const words = (args: string) => (args === "" ? [] : args.split(" "));
  const nameOf = (id: string) => Object.entries(ids).find(([, each]) => each === id)?.[0] ?? id;

  test("a line has id, state, path, start and duration; --json has unformatted times", async () => {
    const { out } = await place.svc(["job", "list", "--kind", "script,preview"]);
    const lines = Object.fromEntries(out.split("\n").map((line) => [nameOf(line.split("\t")[0]!), line]));
    const ago = String.raw`(now|\d+[sm] ago)`;
    const took = String.raw`\d+(\.\d)? m?s`;
    const line = (name: string, rest: string) =>
      expect(lines[name]).toMatch(new RegExp(`^${ids[name]}\t${rest}$`));
    line("good", `success\tu/admin/good\t${ago}\t${took}`);
    line("bad", `failure\tu/admin/bad\t${ago}\t${took}`);
    line("canceled", `canceled\tu/admin/good\t${ago}\t0 ms`);
    line("scheduled", "queued\tu/admin/good\tin 2h\t");
    line("slow", `running\tu/admin/slow\t${ago}\t${took}`);
    line("preview", `success\t\\(preview\\)\t${ago}\t${took}`);
    const json = JSON.parse((await place.svc(["job", "list", "--status", "running", "--json"])).out);
    expect(json).toEqual([
      expect.objectContaining({ id: ids.slow, created_at: expect.stringMatching(new RegExp(`^${ISO}$`)) }),
    ]);
  }, 60_000);

  test("get shows everything about a job", async () => {
    const [good, bad, canceled, scheduled, slow, json] = await Promise.all([
      ...["good", "bad", "canceled", "scheduled", "slow"].map((name) =>
        place.svc(["job", "get", ids[name]!]),
      ),
      place.svc(["job", "get", ids.bad!, "--json"]),
    ]);
    expect(good).toEqual({ code: 0, err: "", out: expect.any(String) });
    const whole = [
      "success  u/admin/good",
      `id        ${ids.good}`,
      "kind      script, bun",
      "version   [0-9a-f]{16}",
      "by        admin",
      String.raw`created   ${ISO} \(.*\)`,
      String.raw`started   ${ISO} \(.*\)`,
      String.raw`ended     ${ISO} \(.*\)`,
      "waited    .* m?s",
      "took      .* m?s",
      "worker    .+",
      "tag       bun",
      "sandbox   .+",
      "",
      "args",
      String.raw`  \{\}`,
      "",
      "result",
      String.raw`  \{`,
      '    "hello": "Ann"',
      String.raw`  \}`,
    ];
    expect(good!.out).toMatch(new RegExp(`^${whole.join("\n")}\n$`));
    expect(bad!.out).toMatch(/\nerror\n {2}TypeError: no tea\n {6}at main \(.*\)\n$/);
    expect(canceled!.out).toContain("\ncanceled  by admin: wrong month\n");
    expect(scheduled!.out).toMatch(new RegExp(String.raw`\ndue       ${ISO} \(in 2h\)\n`));
    expect(scheduled!.out).not.toMatch(/\n(started|ended|took|result)/);
    expect(slow!.out).toMatch(/^running {2}u\/admin\/slow\n/);
    expect(JSON.parse(json!.out)).toMatchObject({
      id: ids.bad,
      logs: expect.stringMatching(/^job=.*\n\nso far\n$/s),
      job_kind: "script",
    });
  }, 60_000);

  test("result and logs of jobs in every state", async () => {
    const at = ["--workspace", "acme"];
    const result = (name: string, ...more: string[]) =>
      place.svc(["job", "result", ids[name]!, ...at, ...more]);
    const [good, bad, canceled, scheduled, json] = await Promise.all([
      result("good"),
      result("bad"),
      result("canceled", "--wait"),
      result("scheduled"),
      result("bad", "--json"),
    ]);
    expect(good).toEqual({ code: 0, out: '{\n  "hello": "Ann"\n}\n', err: "" });
    expect(bad).toMatchObject({ code: 1, out: "" });
    expect(bad.err).toMatch(
      /^error: TypeError: no tea\n {4}at main .*\nhint: svc job show \S+ --workspace acme\n$/,
    );
    expect(canceled).toMatchObject({ code: 1, out: "" });
    expect(canceled.err).toStartWith("error: canceled by admin: wrong month\n");
    const waiting = `job ${ids.scheduled} has no result yet: it is queued`;
    expect(scheduled).toEqual({ code: 1, out: "", err: formatError(waiting, "--wait waits for it") });
    expect(JSON.parse(json.out).error).toMatchObject({ message: "no tea" });

    const logs = (name: string, ...more: string[]) => place.svc(["job", "logs", ids[name]!, ...at, ...more]);
    expect(await logs("bad")).toEqual({ code: 0, out: "so far\n", err: "" });
    expect(await logs("slow")).toEqual({ code: 0, out: "at work\n", err: "" });
    const followed = await logs("bad", "--follow");
    expect(followed).toMatchObject({ code: 1, out: "so far\n" });
    expect(followed.err).toStartWith("error: TypeError: no tea\n");
    const printed = await logs("good", "--follow", "--json");
    expect(printed).toMatchObject({ code: 0, err: "" });
    expect(JSON.parse(printed.out)).toEqual({
      id: ids.good,
      logs: expect.stringMatching(/^job=.*\n\ngreeting\n$/s),
    });
  }, 60_000);

  test("unknown names are reported with a hint where to find them", async () => {
    const outsider = (await server.user("outsider")).token;
    const [unknown, workspace, both, foreign] = await Promise.all([
      place.svc(["job", "get", NOBODY]),
      place.svc(["job", "list", "--workspace", "nope"]),
      place.svc(["job", "cancel", NOBODY, ids.good!, "--json"]),
      place.svc(["job", "logs", ids.good!, "--workspace", "acme", "--url", server.url, "--token", outsider]),
    ]);
    const error = `there is no job ${NOBODY} in workspace acme`;
    const hint = "svc job list --workspace acme";
    expect(unknown).toEqual({ code: 1, out: "", err: formatError(error, hint) });
    expect(workspace).toEqual({
      code: 1,
      out: "",
      err: formatError("there is no workspace nope", "svc workspace list"),
    });
    expect(both.code).toBe(1);
    expect(JSON.parse(both.out)).toEqual([{ id: ids.good, outcome: "completed" }]);
    expect(JSON.parse(both.err)).toEqual({ error: { name: "NotFound", message: error, hint } });
    expect(foreign).toMatchObject({ code: 3, out: "" });
    expect(foreign.err).toContain("error: not a member of workspace acme\n");
  }, 60_000);
});

/** Runs the commands on jobs and expects the same output, however the service is reached. */
async function readAndCancel(place: CliEnvironment, common: string[]) {
  await place.file("good.ts", SUCCEEDING_SCRIPT);
  await place.file("bad.ts", FAILING_SCRIPT);
  const svc = (...args: string[]) => place.svc([...args, ...common]);
  await svc("run", "good.ts");
  await svc("run", "bad.ts");
  const later = (await svc("run", "good.ts", "--in", "2h")).out.trim();
  const listed = (await svc("job", "list", "--kind", "preview")).out.trim().split("\n");
  const states = listed.map((line) => line.split("\t")[1]);
  expect(states).toEqual(["queued", "failure", "success"]);
  const [, bad, good] = listed.map((line) => line.split("\t")[0]!);
  expect((await svc("job", "get", good!)).out).toStartWith("success  (preview)\n");
  expect((await svc("job", "result", good!, "--wait")).out).toBe('{\n  "hello": "Ann"\n}\n');
  expect(await svc("job", "logs", good!, "--follow")).toEqual({ code: 0, out: "greeting\n", err: "" });
  expect(await svc("job", "logs", bad!, "-f")).toMatchObject({ code: 1, out: "so far\n" });
  const canceled = await svc("job", "cancel", later, good!, "--reason", "wrong month");
  const err = `canceled ${later}\n${good} had ended already\n`;
  expect(canceled).toEqual({ code: 0, out: "", err });
  expect((await svc("job", "result", later)).err).toMatch(/^error: canceled by \S+: wrong month\n/);
}

test("on the data directory, through its server's socket, and over HTTP", async () => {
  using alone = createCliEnvironment();
  await readAndCancel(alone, []);
  using served = createCliEnvironment();
  await using server = await startTestServer({ data_dir: served.data_dir });
  await readAndCancel(served, []);
  await using remote = await startTestServer();
  const { token } = await remote.workspace("acme");
  await readAndCancel(served, ["--url", remote.url, "--token", token, "--workspace", "acme"]);
  expect((await server.operator("GET", "/w/local/jobs/list")).json().length).toBe(3);
}, 60_000);
