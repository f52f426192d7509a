/** Key rotation re-encrypts values outside of variables, so that pending jobs can still read them. */
import { expect, test } from "bun:test";
import type { Database } from "../../../../src/database/database.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  ask,
  ended,
  exchange,
  REVERSED_SECRET,
  readCiphertexts,
  resultOf,
  SECRET,
  server,
  setUpSealing,
  start,
} from "./sealed-setup.ts";

setUpSealing();

test("a queued job runs with its password after a key rotation", async () => {
  const id = await start("p/u/admin/tell?scheduled_in_secs=2", { x: SECRET });
  await exchange();
  expect((await ended(id)).result).toBe(REVERSED_SECRET);
});

test("a flow that waits for approval continues with its encrypted values", async () => {
  const script = (id: string, content: string, x?: string, more: object = {}) => ({
    id,
    value: {
      type: "rawscript",
      language: "bun",
      content,
      input_transforms: x === undefined ? {} : { x: { type: "javascript", expr: x } },
    },
    ...more,
  });
  const loop = {
    type: "forloopflow",
    iterator: { type: "javascript", expr: "[variable('u/admin/secret'), variable('u/admin/secret')]" },
    skip_failures: false,
    modules: [
      script("a", "export const main = () => 'asked'", undefined, { suspend: {} }),
      script("b", "export const main = (x: string) => x.length", "flow_input.iter.value"),
    ],
  };
  const flow = { path: "u/admin/waits", summary: "", value: { modules: [{ id: "l", value: loop }] } };
  await expectOk(ask("POST", "/w/acme/flows/create", flow));
  const id = await start("f/u/admin/waits");
  const asked = (iteration: number) =>
    until(async () => {
      const all = (await expectOk(ask("GET", "/w/acme/jobs/completed/list?per_page=100"))).json();
      const steps = all.filter((job: any) => job.is_flow_step && job.job_kind !== "flownode");
      return steps.length > iteration * 2 ? steps[0].id : undefined;
    }, "the step that asks");
  for (const iteration of [0, 1]) {
    const step = await asked(iteration);
    if (iteration === 0) await exchange();
    const links = (await expectOk(ask("GET", `/w/acme/jobs/resume_urls/${step}/1`))).json();
    await until(async () => {
      const answer = await fetch(links.resume, { method: "POST", body: "{}" });
      return answer.status === 201 || undefined;
    }, "the approval");
  }
  expect((await ended(id)).result).toEqual([SECRET.length, SECRET.length]);
});

test("values encrypted by `variables/encrypt` stay readable in schedules, triggers, handlers, saved inputs, flows and resources", async () => {
  const x = await readCiphertexts();
  const schedule = {
    path: "u/admin/yearly",
    schedule: "0 0 0 1 1 *",
    timezone: "UTC",
    script_path: "u/admin/tell",
    is_flow: false,
    args: { x },
    on_failure: "script/u/admin/tell",
    on_failure_extra_args: { x },
  };
  await expectOk(ask("POST", "/w/acme/schedules/create", schedule));
  const trigger = {
    path: "u/admin/ws",
    script_path: "u/admin/tell",
    is_flow: false,
    enabled: false,
    url: "$script:u/admin/tell",
    url_runnable_args: { x },
    initial_messages: [{ runnable_result: { path: "u/admin/tell", is_flow: false, args: { x } } }],
  };
  await expectOk(ask("POST", "/w/acme/websocket_triggers/create", trigger));
  const handler = { error_handler: "script/u/admin/tell", error_handler_extra_args: { x } };
  await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", handler));
  const runnable = "runnable_id=u/admin/tell&runnable_type=ScriptPath";
  const input = { name: "kept", args: { x } };
  const saved = (await expectOk(ask("POST", `/w/acme/inputs/create?${runnable}`, input))).text;
  const step = {
    type: "script",
    path: "u/admin/tell",
    input_transforms: { x: { type: "static", value: x } },
  };
  const value = { modules: [{ id: "a", value: step }] };
  await expectOk(ask("POST", "/w/acme/flows/create", { path: "u/admin/static", summary: "", value }));
  const resource = { path: "u/admin/holds", value: { deep: [x] }, resource_type: "any" };
  await expectOk(ask("POST", "/w/acme/resources/create", resource));
  const content = "export const main = (r: any) => [...r.deep[0]].reverse().join('')";
  await deploy(ask, "acme", "u/admin/of_resource", content);
  // From now on the flow is cached in its old state.
  expect(await resultOf("f/u/admin/static")).toBe(REVERSED_SECRET);

  await exchange();
  const kept = (await expectOk(ask("GET", "/w/acme/schedules/get/u/admin/yearly"))).json();
  const args = (await expectOk(ask("GET", `/w/acme/inputs/${saved}/args?input=true`))).json();
  const ws = (await expectOk(ask("GET", "/w/acme/websocket_triggers/get/u/admin/ws"))).json();
  const settings = (await expectOk(ask("GET", "/w/acme/workspaces/get_settings"))).json();
  await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", {}));
  const ofTrigger = [ws.url_runnable_args, ws.initial_messages[0].runnable_result.args];
  const ofHandlers = [kept.on_failure_extra_args, settings.error_handler_extra_args];
  for (const held of [kept.args, args, ...ofTrigger, ...ofHandlers]) {
    expect(held.x).not.toBe(x);
    expect(await resultOf("p/u/admin/tell", held)).toBe(REVERSED_SECRET);
  }
  expect(await resultOf("f/u/admin/static")).toBe(REVERSED_SECRET);
  expect(await resultOf("p/u/admin/of_resource", { r: "$res:u/admin/holds" })).toBe(REVERSED_SECRET);
  expect(await resultOf("p/u/admin/tell", { x })).toMatchObject({
    error: { message: expect.stringContaining("was not encrypted by this service") },
  });
});

test("the key is read once for a request with many encrypted values", async () => {
  await exchange();
  const db = server.server.app.db as { write: Database["write"] };
  const { write } = db;
  let locks = 0;
  db.write = (work, how) =>
    write((tx) => {
      const lock = (name: string) => {
        if (name.startsWith("key of ")) locks++;
        return tx.lock(name);
      };
      return work(Object.assign(Object.create(tx), { lock }));
    }, how);
  const text = (n: number) =>
    `$encrypted:v1:${Buffer.from(`nobody has sealed this, number ${n}`).toString("base64")}`;
  const args = { y: Array.from({ length: 300 }, (_, n) => text(n)) };
  const id = await start("p/u/admin/tell?scheduled_in_secs=3600", args);
  db.write = write;
  // Twice if every write is rehearsed.
  expect(locks).toBe(process.env.SVC_TEST_REHEARSE_WRITES === "1" ? 2 : 1);
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
});

test("skip_reencrypt leaves them unchanged, like secrets", async () => {
  const x = await readCiphertexts();
  await expectOk(
    ask("POST", "/w/acme/resources/create", { path: "u/admin/left", value: { x }, resource_type: "any" }),
  );
  const { key } = (await expectOk(ask("GET", "/w/acme/workspaces/encryption_key"))).json();
  const body = { new_key: "s".repeat(64), skip_reencrypt: true };
  await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", body));
  expect((await expectOk(ask("GET", "/w/acme/resources/get_value/u/admin/left"))).json()).toEqual({ x });
  await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key: key, skip_reencrypt: true }));
  expect(await resultOf("p/u/admin/tell", { x })).toBe(REVERSED_SECRET);
});
