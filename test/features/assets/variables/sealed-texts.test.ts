/** What is sealed outside of variables follows the workspace's key: nothing that is to run still is lost with the old one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../../../../src/database/database.ts";
import { getEndpoint, readSigningSecrets } from "../../../../src/features/signals/webhooks/endpoints.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const SECRET = "what-the-old-key-sealed";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
  const schema = { type: "object", properties: { x: { type: "string", format: "password" } } };
  await deploy(ask, "acme", "u/admin/tell", "export const main = (x: string) => [...x].reverse().join('')", {
    schema,
  });
  const variable = { path: "u/admin/secret", value: SECRET, is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", variable));
});
afterAll(() => server.stop());

let keys = 0;
/** Twice, so that no key that is remembered opens what stays behind. */
async function exchange(): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const new_key = `${++keys}`.padStart(64, "k");
    await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key }));
  }
}

const sealed = async () =>
  `$encrypted:${(await expectOk(ask("POST", "/w/acme/variables/encrypt", JSON.stringify(SECRET)))).text}`;
const ended = (id: string): Promise<any> =>
  until(async () => {
    const job = (await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).json();
    return job.type === "CompletedJob" ? job : undefined;
  }, "the job's end");
const start = async (path: string, args: object = {}) =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/${path}`, args))).text;
const resultOf = async (path: string, args: object = {}) => (await ended(await start(path, args))).result;

const TOLD = [...SECRET].reverse().join("");

test("a queued job runs with its password after a key rotation", async () => {
  const id = await start("p/u/admin/tell?scheduled_in_secs=2", { x: SECRET });
  await exchange();
  expect((await ended(id)).result).toBe(TOLD);
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
  const x = await sealed();
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
  // From here on the flow is remembered as it was.
  expect(await resultOf("f/u/admin/static")).toBe(TOLD);

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
    expect(await resultOf("p/u/admin/tell", held)).toBe(TOLD);
  }
  expect(await resultOf("f/u/admin/static")).toBe(TOLD);
  expect(await resultOf("p/u/admin/of_resource", { r: "$res:u/admin/holds" })).toBe(TOLD);
  expect(await resultOf("p/u/admin/tell", { x })).toMatchObject({
    error: { message: expect.stringContaining("was encrypted for somebody else") },
  });
});

/**
 * Has the key exchanged when the next thing to be stored is on its way to the database: sealed, and not stored.
 * @param reads secrets that are read before, each of which stores its audit row
 */
function exchangeBeforeNextWrite(reads = 0): void {
  const db = server.server.app.db as { write: Database["write"] };
  const { write } = db;
  db.write = async (work) => {
    if (reads-- > 0) return write(work);
    db.write = write;
    await expectOk(
      ask("POST", "/w/acme/workspaces/encryption_key", { new_key: `${++keys}`.padStart(64, "k") }),
    );
    return write(work);
  };
}

/** Of these one runs at a time: what comes next waits in the queue, as it was stored. */
const ONE = "u/admin/one";

/** Starts a run so, and says how to read its result. Its first step waits. */
async function startedSo(path: string, args: object = {}, reads = 0): Promise<() => Promise<unknown>> {
  const content = `export const main = async (x: string) =>
    x === "hold" ? Bun.sleep(1_000) : [...x].reverse().join('')`;
  await deploy(ask, "acme", ONE, content, { concurrent_limit: 1, concurrency_time_window_s: 1 });
  const holder = await start(`p/${ONE}`, { x: "hold" });
  await until(async () => {
    const job = (await expectOk(ask("GET", `/w/acme/jobs_u/get/${holder}`))).json();
    return job.running || undefined;
  }, "the run before");
  exchangeBeforeNextWrite(reads);
  const id = await start(path, args);
  return async () => (await ended(id)).result;
}

const onTheWay: [what: string, store: () => Promise<() => Promise<unknown>>, told: unknown][] = [
  [
    "an argument that is a password",
    () => startedSo("p/u/admin/tell?scheduled_in_secs=1", { x: SECRET }),
    TOLD,
  ],
  ["a flow's argument that is a password", () => startedSo("f/u/admin/takes", { x: SECRET }), TOLD],
  ["what a flow's first loop goes over", () => startedSo("f/u/admin/loops", {}, 2), [TOLD, TOLD]],
  ["a step's own value", () => startedSo("f/u/admin/fixed"), TOLD],
  [
    "a variable that was sealed before",
    async () => {
      const { text } = await expectOk(ask("POST", "/w/acme/variables/encrypt", JSON.stringify(SECRET)));
      const variable = { path: "u/admin/late", value: text, is_secret: true, description: "" };
      exchangeBeforeNextWrite();
      await expectOk(ask("POST", "/w/acme/variables/create?already_encrypted=true", variable));
      return async () => (await expectOk(ask("GET", "/w/acme/variables/get_value/u/admin/late"))).json();
    },
    SECRET,
  ],
  [
    "a webhook's secret",
    async () => {
      const made = (
        await expectOk(ask("POST", "/w/acme/webhooks/create", { url: "https://example.org/e" }))
      ).json();
      exchangeBeforeNextWrite();
      const { secret } = (await expectOk(ask("POST", `/w/acme/webhooks/rotate_secret/${made.id}`))).json();
      return async () => {
        const { app } = server.server;
        const endpoint = await getEndpoint(app.db.read, "acme", made.id);
        expect(await readSigningSecrets(app, endpoint)).toEqual([secret, made.secret]);
      };
    },
    undefined,
  ],
];
test.each(onTheWay)(
  "%s is decrypted although the key was rotated before it was stored",
  async (_, store, told) => {
    const step = (x: object) => ({ type: "script", path: ONE, input_transforms: { x } });
    const expr = (text: string) => ({ type: "javascript", expr: text });
    const value = { type: "static", value: await sealed() };
    const iterator = expr("[variable('u/admin/secret'), variable('u/admin/secret')]");
    const inner = [{ id: "b", value: step(expr("flow_input.iter.value")) }];
    const schema = { type: "object", properties: { x: { type: "string", format: "password" } } };
    const flows: [string, object][] = [
      ["takes", step(expr("flow_input.x"))],
      ["loops", { type: "forloopflow", iterator, skip_failures: false, modules: inner }],
      ["fixed", step(value)],
    ];
    for (const [name, value] of flows) {
      const path = `u/admin/${name}`;
      const flow = { path, summary: "", schema, value: { modules: [{ id: "a", value }] } };
      const exists = (await ask("GET", `/w/acme/flows/exists/${path}`)).json();
      await expectOk(ask("POST", exists ? `/w/acme/flows/update/${path}` : "/w/acme/flows/create", flow));
    }
    const read = await store();
    // What this process remembers of keys must not be what opens it.
    await exchange();
    expect(await read()).toEqual(told);
  },
);

test("uploads of a form are kept if the key is rotated before its flow is stored", async () => {
  const storage = { large_file_storage: { type: "FilesystemStorage" } };
  await expectOk(ask("POST", "/w/acme/workspaces/edit_large_file_storage_config", storage));
  const step = { type: "script", path: "u/admin/tell", input_transforms: {} };
  const schema = { type: "object", properties: { x: { type: "string", format: "password" } } };
  const flow = { path: "u/admin/form", summary: "", schema, value: { modules: [{ id: "a", value: step }] } };
  await expectOk(ask("POST", "/w/acme/flows/create", flow));
  const form = new FormData();
  form.append("x", SECRET);
  form.append("file", new File(["uploaded"], "a.txt"));
  const init = { method: "POST", headers: { authorization: `Bearer ${token}` }, body: form };
  exchangeBeforeNextWrite();
  const answer = await fetch(`${server.url}/api/w/acme/jobs/run/f/u/admin/form`, init);
  expect(answer.status).toBe(201);
  const { file } = (await expectOk(ask("GET", `/w/acme/jobs_u/get_args/${await answer.text()}`))).json();
  const read = await ask("GET", `/w/acme/job_helpers/download_s3_file?file_key=${file[0].s3}`);
  expect([read.status, read.text]).toEqual([200, "uploaded"]);
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
  // Twice where every write is rehearsed.
  expect(locks).toBe(process.env.SVC_TEST_REHEARSE_WRITES === "1" ? 2 : 1);
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
});

test("skip_reencrypt leaves them unchanged, like secrets", async () => {
  const x = await sealed();
  await expectOk(
    ask("POST", "/w/acme/resources/create", { path: "u/admin/left", value: { x }, resource_type: "any" }),
  );
  const { key } = (await expectOk(ask("GET", "/w/acme/workspaces/encryption_key"))).json();
  const body = { new_key: "s".repeat(64), skip_reencrypt: true };
  await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", body));
  expect((await expectOk(ask("GET", "/w/acme/resources/get_value/u/admin/left"))).json()).toEqual({ x });
  await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key: key, skip_reencrypt: true }));
  expect(await resultOf("p/u/admin/tell", { x })).toBe(TOLD);
});
