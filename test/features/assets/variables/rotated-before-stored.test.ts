/** A value that was encrypted before a key rotation and is stored after it is encrypted again. */
import { expect, test } from "bun:test";
import { getEndpoint, readSigningSecrets } from "../../../../src/features/signals/webhooks/endpoints.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  ask,
  ended,
  exchange,
  exchangeBeforeNextWrite,
  REVERSED_SECRET,
  readCiphertexts,
  SECRET,
  server,
  setUpSealing,
  start,
  token,
} from "./sealed-setup.ts";

setUpSealing();

/** One of these runs at a time: the next one waits in the queue, as it was stored. */
const ONE = "u/admin/one";

/** Starts a run in this way, and returns how to read its result. Its first step waits. */
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
    REVERSED_SECRET,
  ],
  [
    "a flow's argument that is a password",
    () => startedSo("f/u/admin/takes", { x: SECRET }),
    REVERSED_SECRET,
  ],
  [
    "what a flow's first loop goes over",
    () => startedSo("f/u/admin/loops", {}, 2),
    [REVERSED_SECRET, REVERSED_SECRET],
  ],
  ["a step's own value", () => startedSo("f/u/admin/fixed"), REVERSED_SECRET],
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
    const value = { type: "static", value: await readCiphertexts() };
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
    // Keys cached by this process must not be able to decrypt it.
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
