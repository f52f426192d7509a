/** `svc webhook`: endpoints from their creation to an event that is sent again. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../../program.ts";

let server: TestServer;
let place: CliEnvironment;
let ask: Ask;
let receiver: ReturnType<typeof Bun.serve>;
let received = 0;

beforeAll(async () => {
  place = createCliEnvironment();
  server = await startTestServer({ data_dir: place.data_dir, allowed_targets: "127.0.0.1" });
  ({ ask } = await server.workspace("acme"));
  receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      received++;
      return new Response("", { status: received === 1 ? 200 : 500 });
    },
  });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop(true);
  place[Symbol.dispose]();
});

const webhook = (...args: string[]) => place.svc(["webhook", ...args, "--workspace", "acme"]);

test("an endpoint is created, receives events, is disabled and deleted", async () => {
  const url = `http://127.0.0.1:${receiver.port}/`;
  const made = await webhook("create", url, "--type", "CreateVariable", "--type", "DeleteVariable");
  expect(made.code).toBe(0);
  expect(made.out).toMatch(/^whsec_[A-Za-z0-9+/=]{44}\n$/);
  const id = /endpoint (\S+);/.exec(made.err)![1]!;

  const body = { path: "u/admin/v", value: "", is_secret: false, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", body));
  const shown = await until(async () => {
    const { out: stdout } = await webhook("deliveries", id);
    return stdout.includes("delivered") ? stdout : undefined;
  }, "the delivery");
  expect(shown).toMatch(/^\d+\tCreateVariable\tdelivered\t1\t200\t\d{4}-/);

  expect((await webhook("list")).out).toBe(`${id}\t${url}\tCreateVariable DeleteVariable\ton\n`);
  const again = await webhook("redeliver", id, shown.split("\t")[0]!);
  expect([again.code, again.err]).toEqual([0, "1 sent again\n"]);

  const secret = await webhook("rotate-secret", id);
  expect(secret.out).toMatch(/^whsec_/);
  expect(secret.out).not.toBe(made.out);
  expect((await webhook("update", id, "--all-types")).code).toBe(0);
  expect((await webhook("disable", id)).code).toBe(0);
  expect((await webhook("show", id)).out).toMatch(/types +all\nstate +off/);
  expect((await webhook("list")).out).toBe(`${id}\t${url}\tall\toff\n`);
  expect((await webhook("delete", id)).code).toBe(0);
  expect((await webhook("list")).out).toBe("");
}, 60_000);

test("changes made while no server runs are delivered by the next one, in order", async () => {
  using alone = createCliEnvironment();
  const told: string[] = [];
  await using receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      told.push(((await request.json()) as { path: string }).path);
      return new Response("");
    },
  });
  const options = { data_dir: alone.data_dir, allowed_targets: "127.0.0.1" };
  {
    await using before = await startTestServer(options);
    const { ask } = await before.workspace("acme");
    await expectOk(ask("POST", "/w/acme/webhooks/create", { url: receiver.url.href }));
  }
  const names = ["u/admin/a", "u/admin/b", "u/admin/c"];
  for (const name of names) {
    expect((await alone.svc(["variable", "set", name, "x", "--workspace", "acme"])).code).toBe(0);
  }
  expect(told).toEqual([]);
  await using _next = await startTestServer(options);
  await until(async () => told.length >= names.length || undefined, "the events");
  expect(told).toEqual(names);
}, 60_000);

test.each([
  [
    "an unknown type",
    ["create", "https://example.org", "--type", "Create"],
    2,
    "--type Create is not an event type",
  ],
  ["a private address", ["create", "http://10.0.0.1/"], 1, "SVC_ALLOWED_TARGETS"],
  ["an unknown endpoint", ["delete", "nothing"], 1, "webhook endpoint nothing"],
  ["types and all types", ["update", "x", "--type", "CreateApp", "--all-types"], 2, "--type and --all-types"],
  ["no change", ["update", "x"], 2, "no change is given"],
  ["no number", ["redeliver", "x", "y"], 2, "y is not a number of an event"],
])("%s is rejected", async (_, args, code, says) => {
  const refused = await webhook(...args);
  expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(says)]);
});

test("help fits a terminal of 80 columns, and shows how", async () => {
  for (const word of ["create", "list", "update", "deliveries", "redeliver"]) {
    const { out } = await place.svc(["webhook", word, "--help"], { env: { COLUMNS: "80" } });
    expect(out).toContain("$ svc webhook");
    for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  }
}, 60_000);
