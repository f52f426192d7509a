/** Commands on jobs: without a server, with long lists and large values, and on a terminal. */
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createUuid } from "../../../../src/lib/text/ids.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { startTestServer, until } from "../../../support/harness.ts";
import { createCliEnvironment, formatError, start } from "../../program.ts";
import { startSession } from "../../session.ts";
import { FAILING_SCRIPT, SLOW, SUCCEEDING_SCRIPT } from "./job-scripts.ts";

test("list finds canceled jobs among more failed ones than fit in a page of the server", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  await place.file("bad.ts", FAILING_SCRIPT);
  const canceled = (await place.svc(["run", "bad.ts", "--in", "2h"])).out.trim();
  await place.svc(["job", "cancel", canceled]);
  await place.svc(["run", "bad.ts"]);
  const { db } = server.server.app;
  const [failed] = await db.read.select().from(jobs).where(eq(jobs.status, "failure"));
  await db.write(async (tx) => {
    for (let n = 0; n < 1200; n++) await tx.insert(jobs).values({ ...failed!, id: createUuid() });
  });
  const { out } = await place.svc(["job", "list", "--status", "canceled"]);
  expect(out.split("\t").slice(0, 2)).toEqual([canceled, "canceled"]);
  const last = await place.svc(["job", "list", "--status", "failure", "--limit", "1200", "--page", "2"]);
  expect(last.out.split("\t").slice(0, 2)).toEqual([failed!.id, "failure"]);
}, 60_000);

test("without a server, commands do not wait forever; jobs left by a killed server are canceled by force", async () => {
  using place = createCliEnvironment();
  await place.file("slow.ts", SLOW);
  const scheduled = (await place.svc(["run", "slow.ts", "--in", "2h"])).out.trim();
  using serving = start(place, ["serve", "--port", "0", "--json"]);
  await serving.says("\n}\n");
  const running = (await place.svc(["run", "slow.ts", "--async"])).out.trim();
  await until(async () => ((await place.svc(["job", "logs", running])).out === "" ? undefined : true));
  serving.child.kill("SIGKILL");
  await serving.ended();

  const [wait, follow] = [
    await place.svc(["job", "result", scheduled, "--wait"]),
    await place.svc(["job", "logs", running, "--follow"]),
  ];
  const error = (id: string, state: string) =>
    formatError(`job ${id} is ${state}, and no server is up that runs it`, "start one: svc serve");
  expect(wait).toEqual({ code: 1, out: "", err: error(scheduled, "queued") });
  expect(follow).toEqual({ code: 1, out: "", err: error(running, "running") });
  const asked = await place.svc(["job", "cancel", running]);
  expect(asked.err).toBe(`${running} was left running by a server that is gone: --force ends it\n`);
  const forced = await place.svc(["job", "cancel", running, "--force", "--json"]);
  expect(JSON.parse(forced.out)).toEqual([{ id: running, outcome: "canceled" }]);
  expect((await place.svc(["job", "list", "--status", "running"])).out).toBe("");
}, 60_000);

test("get truncates values that would fill the screen, and says how to see them completely", async () => {
  using place = createCliEnvironment();
  await place.file("good.ts", SUCCEEDING_SCRIPT);
  const long = { lines: Array.from({ length: 50 }, (_, n) => n), text: "x".repeat(500) };
  await place.svc(["run", "good.ts", "-d", JSON.stringify({ name: long })]);
  const id = (await place.svc(["job", "list"])).out.split("\t")[0]!;
  const { out } = await place.svc(["job", "get", id]);
  const lines = out.split("\n");
  // The sandbox of a script is described in full.
  expect(lines.filter((line) => line.length > 80 && !line.startsWith("sandbox "))).toEqual([]);
  expect(lines.length).toBeLessThan(70);
  expect(out).toContain(`\n  … all 57 lines: svc job show ${id} --json\n`);
  expect(out).toEndWith(`\n  … all 57 lines: svc job result ${id}\n`);
  expect(JSON.parse((await place.svc(["job", "result", id])).out)).toEqual({ hello: long });
}, 60_000);

test("on a terminal: a table of 80 columns with whole ids, and states in colour", async () => {
  using place = createCliEnvironment();
  await place.svc(["user", "create", "--email", "ann@example.org", "--password", "correct-horse"]);
  await place.svc(["workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org"]);
  await place.file("bad.ts", FAILING_SCRIPT);
  const path = "u/ann/a_rather_long_name_of_a_script/that_tells_much";
  await place.svc(["script", "push", "bad.ts", path]);
  await place.svc(["run", path]);
  using listing = startSession(place, ["job", "list", "--kind", "script", "--limit", "1"]);
  const { code, shown, raw } = await listing.ended();
  expect(code).toBe(0);
  const lines = shown.trimEnd().split(/\r?\n/);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  expect(lines[0]).toMatch(/^ID +STATE +PATH +WHEN +TOOK/);
  expect(lines[1]).toMatch(/^[0-9a-f-]{36} {2}failure {2}….*tells_much {2}(now|\d+s ago) +\d+ ms/);
  expect(lines[2]).toBe("older: --page 2");
  expect(raw).toContain("\x1b[31mfailure\x1b[39m");
  const id = lines[1]!.slice(0, 36);
  using telling = startSession(place, ["job", "get", id]);
  expect((await telling.ended()).raw).toContain("\x1b[31mTypeError: no tea\x1b[39m");
}, 60_000);
