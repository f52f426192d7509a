/** Several servers on one PostgreSQL: changes and completions on one are known to the others. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import {
  closeWorkspace,
  closeWorkspaceTemporarily,
  reopenWorkspace,
} from "../../../src/features/tenancy/workspaces/gate.ts";
import { hasHandler, hasNoHandler } from "../../../src/features/tenancy/workspaces/handler-cache.ts";
import { createCliEnvironment, SOURCE_PROGRAM, start } from "../../cli/program.ts";
import { deploy, expectOk, type TestServer, until } from "../../support/harness.ts";
import {
  admin,
  atBack,
  back,
  database,
  front,
  postgres,
  SVC_SECRET_KEY,
  setUpServers,
} from "./several-servers-setup.ts";

setDefaultTimeout(60_000);

describe.skipIf(!postgres)("servers of one database", () => {
  setUpServers();

  /** Keeps the one slot of the front server busy until the returned function is called. */
  async function occupy(): Promise<() => Promise<void>> {
    await deploy(admin.ask, "acme", "u/admin/long", "export const main = () => Bun.sleep(60_000)");
    const id = await expectOk(admin.ask("POST", "/w/acme/jobs/run/p/u/admin/long", {})).then((a) => a.text);
    return async () => {
      await expectOk(admin.ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    };
  }

  test("a call returns the result of a worker on another server", async () => {
    await deploy(admin.ask, "acme", "u/admin/where", "export const main = () => process.env.WM_JOB_ID");
    const free = await occupy();
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        expectOk(admin.ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/where", {})),
      ),
    );
    expect(new Set(answers.map((answer) => answer.json())).size).toBe(8);
    // Notified at once, not found by the polling every few seconds.
    expect(performance.now() - began).toBeLessThan(4_000);
    await free();
  });

  test("so does a call of a flow with an early result", async () => {
    const step = (id: string, content: string) => ({
      id,
      value: { type: "rawscript", language: "bun", content, input_transforms: {} },
    });
    const modules = [
      step("a", "export const main = () => 'early'"),
      step("b", "export const main = () => Bun.sleep(3_000)"),
    ];
    const flow = { path: "u/admin/early", summary: "", value: { modules, early_return: "a" } };
    await expectOk(admin.ask("POST", "/w/acme/flows/create", flow));
    const free = await occupy();
    const answer = await expectOk(admin.ask("POST", "/w/acme/jobs/run_wait_result/f/u/admin/early", {}));
    expect(answer.json()).toBe("early");
    await free();
  });

  test("a stream is read on one server while the job runs on another", async () => {
    const code = `export async function* main() { yield "one "; await Bun.sleep(1_500); yield "two"; }`;
    await deploy(admin.ask, "acme", "u/admin/stream", code);
    const free = await occupy();
    const response = await fetch(`${front.url}/api/w/acme/jobs/run_and_stream/p/u/admin/stream`, {
      method: "POST",
      headers: { authorization: `Bearer ${admin.token}`, "content-type": "application/json" },
      body: "{}",
    });
    const text = await response.text();
    expect(response.status).toBe(200);
    const pieces = [...text.matchAll(/"new_result_stream":"([^"]*)"/g)].map((match) => match[1]);
    expect(pieces.join("")).toBe("one two");
    expect(pieces.length).toBeGreaterThan(1);
    await free();
  });

  test("a job is canceled where it runs", async () => {
    await deploy(admin.ask, "acme", "u/admin/endless", "export const main = () => Bun.sleep(60_000)");
    const id = (await expectOk(atBack("POST", "/w/acme/jobs/run/p/u/admin/endless", {}))).text;
    await until(() => back.server.app.queue.has(id) || undefined, "the job at the back");
    const began = performance.now();
    await expectOk(admin.ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    await until(() => (back.server.app.queue.has(id) ? undefined : true), "its end");
    expect(performance.now() - began).toBeLessThan(4_000);
  });

  /** Polls the other server for the expected response. The limit is far below its own polling intervals. */
  async function soon<T>(ask: () => Promise<T>, wanted: T): Promise<void> {
    const end = Date.now() + 4_000;
    let last = await ask();
    while (!Bun.deepEquals(last, wanted) && Date.now() < end) {
      await Bun.sleep(10);
      last = await ask();
    }
    expect<unknown>(last).toEqual(wanted);
  }

  /** A change without a notification. */
  async function change(how: (client: SQL) => Promise<unknown>): Promise<void> {
    const client = new SQL({ url: database.url, max: 1 });
    await how(client);
    await client.close();
  }

  /** Both servers lose the connection for notifications. */
  const cut = () =>
    change(async (client) => {
      const ended =
        await client`SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen%'`;
      expect(ended.length).toBe(2);
    });

  describe("a closed workspace", () => {
    const code = "export const main = () => 1";
    const runIn = async (ask: TestServer["operator"], id: string) =>
      (await ask("POST", `/w/${id}/jobs/run/p/u/admin/one`, {})).status;

    test("stays closed while this server is changing it, whatever messages it missed", async () => {
      const { app } = front.server;
      const { ask } = await front.workspace("moving");
      const { ask: askOther } = await front.workspace("other");
      for (const [by, id] of [
        [ask, "moving"],
        [askOther, "other"],
      ] as const)
        await deploy(by, id, "u/admin/one", code);
      closeWorkspaceTemporarily(app, "moving", "is being given another id");
      closeWorkspace(app, "other", "is archived");
      expect(await runIn(askOther, "other")).toBe(400);
      await cut();
      await soon(() => runIn(askOther, "other"), 201);
      expect(await runIn(ask, "moving")).toBe(400);
      reopenWorkspace(app, "moving");
      expect(await runIn(ask, "moving")).toBe(201);
    });
  });

  describe("is invalidated on the others", () => {
    test("a script's older version", async () => {
      const call = async () => (await atBack("POST", "/w/acme/jobs/run_wait_result/p/u/admin/v", {})).json();
      const first = await deploy(admin.ask, "acme", "u/admin/v", "export const main = () => 1");
      await soon(call, 1);
      await deploy(admin.ask, "acme", "u/admin/v", "export const main = () => 2", { parent_hash: first });
      await soon(call, 2);
    });

    test("a token that is revoked", async () => {
      const made = await expectOk(admin.ask("POST", "/users/tokens/create", { label: "short" }));
      const ask = back.as(made.text);
      const status = async () => (await ask("GET", "/users/whoami")).status;
      await soon(status, 200);
      await expectOk(admin.ask("DELETE", `/users/tokens/delete/${made.text.slice(0, 10)}`));
      await soon(status, 401);
    });

    test("a former member", async () => {
      const { token } = await front.member("acme", "eve");
      const status = async () => (await back.as(token)("GET", "/w/acme/users/whoami")).status;
      await soon(status, 200);
      await expectOk(admin.ask("DELETE", "/w/acme/users/delete/eve"));
      await soon(status, 401);
    });

    test("that a workspace has no error handler", async () => {
      const { app } = back.server;
      const hasNone = async () => hasNoHandler(app, "acme", "error_handler");
      await hasHandler(app, "acme", "error_handler", async () => ({}));
      expect(await hasNone()).toBe(true);
      const path = "/w/acme/workspaces/edit_error_handler";
      await expectOk(admin.ask("POST", path, { error_handler: "script/u/admin/v" }));
      await soon(hasNone, false);
      await expectOk(admin.ask("POST", path, {}));
    });

    test("a variable of all jobs", async () => {
      const code = "export const main = () => process.env.COLOUR ?? 'none'";
      await deploy(admin.ask, "acme", "u/admin/colour", code);
      const call = async () =>
        (await atBack("POST", "/w/acme/jobs/run_wait_result/p/u/admin/colour", {})).json();
      await soon(call, "none");
      const set = { name: "COLOUR", value: "red" };
      await expectOk(admin.ask("POST", "/w/acme/workspaces/set_environment_variable", set));
      await soon(call, "red");
    });

    test("everything, after the connection was lost", async () => {
      const call = async () =>
        (await atBack("POST", "/w/acme/jobs/run_wait_result/p/u/admin/colour", {})).json();
      await soon(call, "red");
      // No notification of this change, as if it was lost with the connection.
      await change((client) => client`UPDATE workspace_environment SET value = 'blue' WHERE name = 'COLOUR'`);
      await cut();
      await soon(call, "blue");
    });
  });

  test.each([
    ["is an hour ahead", true],
    ["is set an hour ahead while it works", false],
  ])("a server whose clock %s takes no job from a live worker", async (_, fromTheStart) => {
    await deploy(admin.ask, "acme", "u/admin/endless", "export const main = () => Bun.sleep(60_000)");
    const id = (await expectOk(atBack("POST", "/w/acme/jobs/run/p/u/admin/endless", {}))).text;
    await until(() => back.server.app.queue.has(id) || undefined, "the job at the back");
    using place = createCliEnvironment();
    const flag = join(place.folder, "ahead");
    const ahead = `const now = Date.now.bind(Date);
      const { existsSync } = require("node:fs");
      const off = () => existsSync(${JSON.stringify(flag)}) ? 3_600_000 : 0;
      globalThis.Date = class extends Date {
        constructor(...given) { given.length === 0 ? super(now() + off()) : super(...given); }
        static now() { return now() + off(); }
      };`;
    await place.file("ahead.ts", ahead);
    if (fromTheStart) await place.file("ahead", "");
    const [bun, main] = SOURCE_PROGRAM;
    place.program = [bun!, "--preload", join(place.folder, "ahead.ts"), main!];
    using other = start(place, ["serve", "--port", "0", "--json"], {
      DATABASE_URL: database.url,
      SVC_SECRET_KEY,
      SVC_LEASE_S: "12",
    });
    await other.says('"url"');
    if (!fromTheStart) {
      await place.file("ahead", "");
      // It looks for lost workers twice per lease.
      await Bun.sleep(7_000);
    }
    const row = async () => (await expectOk(atBack("GET", `/w/acme/jobs_u/get/${id}`))).json();
    expect(await row()).toMatchObject({ running: true });
    expect(back.server.app.queue.has(id)).toBe(true);
    other.child.kill("SIGTERM");
    const { err } = await other.ended();
    if (fromTheStart) expect(err).toContain("clock differs");
    expect(err).not.toContain("put back");
    await expectOk(atBack("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
  });
});
