/** `svc schedule`: created, shown with the next times, disabled, deleted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { deploy, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../../program.ts";

let server: TestServer;
let place: CliEnvironment;
let ask: Awaited<ReturnType<TestServer["workspace"]>>["ask"];

beforeAll(async () => {
  place = createCliEnvironment();
  server = await startTestServer({ data_dir: place.data_dir });
  ({ ask } = await server.workspace("acme"));
  await deploy(ask, "acme", "u/admin/report", "export const main = () => 1");
});
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

const schedule = (...args: string[]) => place.svc(["schedule", ...args, "--workspace", "acme"]);
const TIME = /^ {2}(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,? \d+ \w+ \d{4}, 09:00:00 \S+ \(in \d+[smhd]\)$/;

test("a schedule is created, changed and deleted", async () => {
  const path = "u/admin/nightly";
  const rule = ["0 9 * * *", "--timezone", "Europe/Berlin"];
  const made = await schedule("create", path, ...rule, "u/admin/report", "-d", '{"n":1}');
  expect(made.code).toBe(0);
  const [said, ...times] = made.err.trimEnd().split("\n");
  expect(said).toBe(`schedule ${path} created`);
  expect(times).toHaveLength(5);
  for (const time of times) expect(time).toMatch(TIME);

  const shown = (await schedule("show", path)).out.split("\n");
  expect(shown[0]).toBe(`${path}: 0 9 * * * in Europe/Berlin, runs u/admin/report`);
  expect((await schedule("disable", path)).code).toBe(0);
  expect((await schedule("list")).out).toBe(`${path}\t0 9 * * *\tEurope/Berlin\tu/admin/report\toff\t\n`);
  expect((await schedule("show", path)).out).toContain("switched off");
  expect((await schedule("enable", path)).code).toBe(0);
  expect((await schedule("delete", path)).code).toBe(0);
  expect((await schedule("list")).out).toBe("");
}, 60_000);

test("arguments are given as name=value, and checked against the script", async () => {
  const code = "export const main = (id: string, full = false) => [id, full]";
  await deploy(ask, "acme", "u/admin/typed", code);
  const rule = ["0 9 * * *", "--run", "u/admin/typed"];
  const readArgs = async () => JSON.parse((await schedule("show", "u/admin/typed", "--json")).out).args;
  const missing = await schedule("create", "u/admin/typed", ...rule, "full=true");
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("the argument id is missing")]);
  expect((await schedule("create", "u/admin/typed", ...rule, "id=7")).code).toBe(0);
  expect(await readArgs()).toEqual({ id: "7" });
  expect((await schedule("update", "u/admin/typed", "full=true")).code).toBe(0);
  expect(await readArgs()).toEqual({ id: "7", full: true });
  const unknown = await schedule("update", "u/admin/typed", "ful=true");
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("there is no argument ful")]);
  expect((await schedule("update", "u/admin/typed", "-d", '{"id":"8"}')).code).toBe(0);
  expect(await readArgs()).toEqual({ id: "8" });
  expect((await schedule("delete", "u/admin/typed")).code).toBe(0);
}, 60_000);

test("a paused schedule shows until when, and the times after that", async () => {
  const path = "u/admin/paused";
  const rule = ["0 9 * * *", "--timezone", "Europe/Berlin", "--run", "u/admin/report"];
  expect((await schedule("create", path, ...rule)).code).toBe(0);
  const paused_until = "2999-03-01T12:00:00Z";
  const body = { schedule: "0 9 * * *", timezone: "Europe/Berlin", args: {}, paused_until };
  const changed = await place.svc(["api", `w/acme/schedules/update/${path}`, "-d", JSON.stringify(body)]);
  expect(changed.code).toBe(0);
  const [, paused, first] = (await schedule("show", path)).out.split("\n");
  expect(paused).toStartWith("paused until Friday, 1 March 2999, 13:00:00 CET (in ");
  expect(first).toStartWith("  Saturday, 2 March 2999, 09:00:00 CET (in ");
  expect((await schedule("list")).out).toMatch(/u\/admin\/report\tin \d+y\t\n$/);
  expect((await schedule("delete", path)).code).toBe(0);
}, 60_000);

test.each([
  ["a rule without quotes", ["create", "u/admin/x", "0 9"], 2, "put it in quotes"],
  [
    "a rule that is none",
    ["create", "u/admin/x", "0 99 * * *", "--run", "u/admin/report"],
    1,
    `the hour is "99"; it may be 0 to 23`,
  ],
  [
    "a second target",
    ["create", "u/admin/x", "0 9 * * *", "u/admin/report", "--run", "u/admin/typed"],
    2,
    "a schedule runs one script or flow",
  ],
  ["a script that is not there", ["create", "u/admin/x", "0 9 * * *"], 1, "u/admin/x"],
  ["arguments that are none", ["create", "u/admin/x", "0 9 * * *", "-d", "[]"], 2, "JSON object"],
  ["no zone", ["preview", "0 9 * * *", "--timezone", "Mars/Base"], 1, "`timezone`"],
])("%s is rejected", async (_, args, code, says) => {
  const refused = args[0] === "preview" ? await place.svc(["schedule", ...args]) : await schedule(...args);
  expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(says)]);
});

test("help fits a terminal of 80 columns, and shows how", async () => {
  for (const word of ["create", "list", "show", "preview"]) {
    const { out } = await place.svc(["schedule", word, "--help"], { env: { COLUMNS: "80" } });
    expect(out).toContain("$ svc schedule");
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  }
}, 60_000);
