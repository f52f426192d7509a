/** WebSocket triggers with a real server on loopback: connections, runs, and failures. */
import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { handlerCalls } from "../../../../src/features/triggers/handlers/tables.ts";
import { websocketTriggers } from "../../../../src/features/triggers/websocket/tables.ts";
import { startServer } from "../../../../src/server/server.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  ask,
  base,
  create,
  createTriggerBody,
  deleteTrigger,
  errorOf,
  get,
  ran,
  runsOf,
  server,
  setUpSockets,
  startPeer,
} from "./websocket-setup.ts";

setUpSockets();

const jobOf = async ({ id }: { id: string }) => (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();

describe("a trigger", () => {
  test("connects, runs its script for each message in order, and disconnects when deleted", async () => {
    using peer = startPeer();
    const path = await create({ url: peer.url });
    await peer.connected();
    expect(peer.paths).toEqual(["/feed"]);
    for (const text of ["one", "two", "three"]) peer.send(text);
    const jobs = (await Promise.all((await ran(path, 3)).map(jobOf))).sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(jobs.map(({ args, result }) => [args.msg, result])).toEqual(
      ["one", "two", "three"].map((text) => [text, `got ${text}`]),
    );
    expect(jobs[0]).toMatchObject({ permissioned_as: "u/admin", created_by: `ws-${path}`, success: true });
    const row = await get(path);
    expect(row).toMatchObject({
      enabled: true,
      server_id: expect.any(String),
      last_server_ping: expect.any(String),
    });
    expect(row.error ?? null).toBeNull();
    expect(peer.received).toEqual([]);
    await deleteTrigger(path);
    await until(() => (peer.open.size === 0 ? true : undefined), "the end of the connection");
  });

  test("is disabled, enabled, changed, moved and listed", async () => {
    using peer = startPeer();
    using other = startPeer();
    const path = await create({ url: peer.url, enabled: false });
    await expectOk(ask("POST", `${base}/setenabled/${path}`, { enabled: true }));
    await peer.connected();
    await expectOk(ask("POST", `${base}/setenabled/${path}`, { enabled: false }));
    await until(() => (peer.open.size === 0 ? true : undefined), "the end");
    await expectOk(ask("POST", `${base}/setenabled/${path}`, { enabled: true }));
    await peer.connected();
    const body = { ...(await get(path)), url: other.url, path: `${path}_moved` };
    expect((await ask("POST", `${base}/update/${path}`, body)).text).toBe(`${path}_moved`);
    await other.connected();
    expect(peer.open.size).toBe(0);
    expect((await ask("GET", `${base}/exists/${path}`)).json()).toBe(false);
    const listed = (await ask("GET", `${base}/list?path_start=${path}&path=u/admin/say`)).json();
    expect(listed.map((row: any) => row.path)).toEqual([`${path}_moved`]);
    await deleteTrigger(`${path}_moved`);
  });

  test.each([
    ["one event", "u/admin/event", (url: string) => ({ kind: "websocket", msg: "hi", url })],
    [
      "arguments by name",
      "u/admin/named",
      (url: string) => [{ kind: "websocket", websocket: { url } }, "hi"],
    ],
  ])("passes %s to a preprocessor", async (_, script_path, given) => {
    using peer = startPeer();
    const path = await create({ url: peer.url, script_path });
    await peer.connected();
    peer.send("hi");
    const [job] = await ran(path);
    expect((await jobOf(job)).result).toEqual(given(peer.url));
    await deleteTrigger(path);
  });

  test("runs a flow, accepts only messages that match its filters, and bytes as text", async () => {
    using peer = startPeer();
    const filters = [
      { key: "type", value: "order" },
      { key: "of", value: { shop: 1 } },
    ];
    const path = await create({ url: peer.url, script_path: "u/admin/flow", is_flow: true, filters });
    await peer.connected();
    const wanted = JSON.stringify({ type: "order", of: { shop: 1, more: 2 } });
    for (const text of ["no json", "[]", '{"type":"order"}', '{"type":"order","of":{"shop":2}}'])
      peer.send(text);
    peer.send(new TextEncoder().encode(wanted));
    const jobs = await ran(path);
    expect(jobs).toHaveLength(1);
    expect((await jobOf(jobs[0])).args).toEqual({ msg: wanted });
    await deleteTrigger(path);
  });

  test("sends its first messages, and the results of runs", async () => {
    using peer = startPeer();
    const initial_messages = [
      { raw_message: "hello" },
      { runnable_result: { path: "u/admin/where", args: { at: { sub: ["a"] } } } },
    ];
    const path = await create({ url: peer.url, initial_messages, can_return_message: true });
    await until(() => (peer.received.length === 2 ? true : undefined), "what is said first");
    peer.send("x");
    await until(() => (peer.received.length === 3 ? true : undefined), "the answer");
    expect(peer.received).toEqual(["hello", '{"sub":["a"]}', "got x"]);
    await deleteTrigger(path);
  });

  test("treats input as text, while its own arguments may contain references", async () => {
    using peer = startPeer();
    const secret = { path: "u/admin/told", value: "to-them", is_secret: true, description: "" };
    await expectOk(ask("POST", "/w/acme/variables/create", secret));
    const result = { path: "u/admin/where", args: { at: "$var:u/admin/told" } };
    const initial_messages = [{ runnable_result: result }];
    const path = await create({ url: peer.url, initial_messages, can_return_message: true });
    await until(() => (peer.received.length === 1 ? true : undefined), "what is said first");
    for (const [index, text] of ["$var:u/admin/told", "$WM_TOKEN"].entries()) {
      peer.send(text);
      await until(() => (peer.received.length === index + 2 ? true : undefined), "the answer");
    }
    expect(peer.received).toEqual(["to-them", "got $var:u/admin/told", "got $WM_TOKEN"]);
    await deleteTrigger(path);
  });

  test("sends errors only if configured, and nothing for null", async () => {
    using peer = startPeer();
    const answers = { url: peer.url, can_return_message: true };
    const silent = await create({ ...answers, script_path: "u/admin/fail" });
    const quiet = await create({ ...answers, script_path: "u/admin/quiet" });
    const loud = await create({ ...answers, script_path: "u/admin/fail", can_return_error_result: true });
    await until(() => (peer.open.size === 3 ? true : undefined), "three connections");
    peer.send("x");
    await Promise.all([silent, quiet, loud].map((path) => ran(path)));
    await until(() => (peer.received.length > 0 ? true : undefined), "the answer");
    expect(peer.received).toHaveLength(1);
    expect(JSON.parse(peer.received[0]!).error.message).toBe("never");
    for (const path of [silent, quiet, loud]) await deleteTrigger(path);
  });

  test("retries its script, sends the last attempt's result, and calls the error handler once", async () => {
    const handler = { error_handler: "script/u/admin/quiet", error_handler_extra_args: {} };
    await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", handler));
    using peer = startPeer();
    const retry = { constant: { attempts: 2, seconds: 0 } };
    const answers = { can_return_message: true, can_return_error_result: true };
    const path = await create({ url: peer.url, script_path: "u/admin/fail", retry, ...answers });
    expect(await get(path)).toMatchObject({ retry });
    await until(() => (peer.open.size === 1 ? true : undefined), "a connection");
    peer.send("x");
    await until(() => (peer.received.length > 0 ? true : undefined), "the answer");
    expect(peer.received.map((text) => JSON.parse(text).error.message)).toEqual(["never"]);
    const [job] = await ran(path);
    expect(job).toMatchObject({ job_kind: "singlestepflow", trigger_kind: "websocket" });
    const { db } = server.server.app;
    const isHandled = async () => (await db.read.select().from(handlerCalls)).length === 0;
    await until(async () => (await isHandled()) || undefined, "the handler's start");
    const heard = (await ask("GET", "/w/acme/jobs/list?created_by=error_handler")).json();
    expect(heard).toMatchObject([{ script_path: "u/admin/quiet", parent_job: job.id }]);
    await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", {}));
    const tries = (await ask("GET", `/w/acme/jobs/list?parent_job=${job.id}&is_flow_step=true`)).json();
    expect(tries).toHaveLength(3);
    await deleteTrigger(path);
  });

  test("gets its URL from a script", async () => {
    using peer = startPeer();
    const path = await create({ url: "$script:u/admin/where", url_runnable_args: { at: peer.url } });
    await peer.connected();
    await deleteTrigger(path);
    const lost = await create({ url: "$script:u/admin/where", url_runnable_args: { at: 5 } });
    expect(await errorOf(lost)).toContain("must return an address");
    await deleteTrigger(lost);
  });
});

test("no more messages are read than can run, and none is lost", async () => {
  using peer = startPeer();
  const gate =
    "export const main = async (msg: string) => { while (!(await Bun.file(process.env.GATE_FILE ?? '/nonexistent').exists())) { const { existsSync } = await import('node:fs'); if (existsSync(JSON.parse(msg).gate)) return; await Bun.sleep(20); } }";
  await deploy(ask, "acme", "u/admin/gate", gate);
  const path = await create({ url: peer.url, script_path: "u/admin/gate" });
  await peer.connected();
  const file = `${server.data_dir}/gate`;
  const padding = "x".repeat(350_000);
  for (let n = 0; n < 40; n++) peer.send(JSON.stringify({ n, gate: file, padding }));
  await until(async () => ((await runsOf(path)).length === 10 ? true : undefined), "ten runs");
  expect((await runsOf(path)).length).toBe(10);
  // Messages that are not accepted remain with the sender.
  expect([...peer.open][0]!.getBufferedAmount()).toBeGreaterThan(0);
  await Bun.write(file, "");
  expect(await ran(path, 40)).toHaveLength(40);
  await deleteTrigger(path);
}, 60_000);

test.each([
  ["an address of another kind", { url: "https://example.org" }, 400, "`url`"],
  ["a script that is not there", { script_path: "u/admin/none" }, 404, "u/admin/none"],
  ["an address of a script that is not there", { url: "$script:u/admin/none" }, 404, "u/admin/none"],
  ["a first message that is none", { initial_messages: [{ text: "x" }] }, 400, "raw_message"],
  ["a place that is taken", { path: "u/admin/taken" }, 400, "already"],
])("%s is rejected", async (_, more, status, says) => {
  if ("path" in more) await create({ path: more.path, enabled: false });
  const refused = await ask("POST", `${base}/create`, createTriggerBody(more));
  expect([refused.status, refused.text]).toEqual([status, expect.stringContaining(says)]);
});

test("triggers of others can be neither read nor changed", async () => {
  const { ask: bob } = await server.member("acme", "bob");
  expect((await bob("POST", `${base}/create`, createTriggerBody())).status).toBe(403);
  const path = await create({ enabled: false });
  expect((await bob("GET", `${base}/get/${path}`)).status).toBe(404);
  await expectOk(ask("POST", `/w/acme/acls/add/websocket_trigger/${path}`, { owner: "u/bob", write: false }));
  expect((await bob("GET", `${base}/get/${path}`)).json()).toMatchObject({ url_runnable_args: {} });
  expect((await bob("POST", `${base}/setenabled/${path}`, { enabled: true })).status).toBe(403);
  await deleteTrigger(path);
});

test.skipIf(!process.env.DATABASE_URL)(
  "of two servers on one database one listens, and the other takes over",
  async () => {
    using peer = startPeer();
    const { config } = server.server.app;
    const { mkdtempSync, cpSync, rmSync } = await import("node:fs");
    const data_dir = mkdtempSync("/tmp/svc-second-");
    cpSync(`${server.data_dir}/instance.key`, `${data_dir}/instance.key`, { force: true });
    const second = await startServer({ ...config, data_dir });
    const path = await create({ url: peer.url });
    await peer.connected();
    peer.send("one");
    await ran(path);
    // Both have checked again: the lease was renewed.
    const pinged = (await get(path)).last_server_ping;
    await until(
      async () => ((await get(path)).last_server_ping !== pinged ? true : undefined),
      "a sign of life",
    );
    expect([peer.open.size, peer.paths.length]).toEqual([1, 1]);
    const holder = (await get(path)).server_id;
    // As if it had crashed: its name stays, without heartbeats.
    await second.app.db.write((tx) =>
      tx
        .update(websocketTriggers)
        .set({ server_id: "gone", last_server_ping: new Date(Date.now() - 60_000) })
        .where(eq(websocketTriggers.path, path)),
    );
    await until(
      async () => (["gone", null].includes((await get(path)).server_id) ? undefined : true),
      "another holder",
    );
    await until(() => (peer.paths.length === 2 && peer.open.size === 1 ? true : undefined), "one connection");
    peer.send("two");
    await ran(path, 2);
    expect((await runsOf(path)).length).toBe(2);
    expect(typeof holder).toBe("string");
    await second.stop();
    await deleteTrigger(path);
    rmSync(data_dir, { recursive: true, force: true });
  },
  60_000,
);
