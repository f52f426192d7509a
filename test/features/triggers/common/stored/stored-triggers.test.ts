/**
 * Triggers of kinds that the service does not run: stored completely, shared, moved, counted and exported,
 * never started.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { STORED_KINDS } from "../../../../../src/features/triggers/common/stored/kinds.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const W = "/w/acme";
const FIELDS = {
  script_path: "u/admin/not_there_yet",
  is_flow: true,
  enabled: true,
  topics: ["orders", "returns"],
  filters: [{ key: "a", value: { b: 1 } }],
  kafka_resource_path: "u/admin/broker",
  retry: { constant: { attempts: 2, seconds: 5 } },
  reset_offset: null,
  labels: [],
};

const post = (path: string, body: object, by = ask) => expectOk(by("POST", W + path, body));
const get = async (path: string, by = ask) => (await expectOk(by("GET", W + path))).json();
const refusal = async (by: Ask, method: string, path: string, body?: object) =>
  (await by(method, W + path, body)).status;

async function archive(by: Ask = ask): Promise<Record<string, any>> {
  const path = `${W}/workspaces/tarball?archive_type=tar&include_triggers=true`;
  const token = await tokenOf(by);
  const answer = await fetch(`${server.url}/api${path}`, { headers: { authorization: `Bearer ${token}` } });
  expect(answer.status).toBe(200);
  const files = await new Bun.Archive(await answer.bytes()).files();
  const texts = [...files].filter(([name]) => name.endsWith("_trigger.json"));
  return Object.fromEntries(
    await Promise.all(texts.map(async ([name, file]) => [name, JSON.parse(await file.text())])),
  );
}
const tokenOf = async (by: Ask, scopes?: string[]) =>
  (await expectOk(by("POST", "/users/tokens/create", { label: "test", ...(scopes && { scopes }) }))).text;

describe.each(STORED_KINDS.map(({ kind, one }) => [kind, one.slice(one.indexOf(" ") + 1)]))(
  "%s",
  (kind, what) => {
    const base = `/${kind}_triggers`;
    const path = `u/admin/of_${kind}`;

    test("is created, read, listed, switched, replaced, moved and deleted", async () => {
      const made = await ask("POST", `${W}${base}/create`, { ...FIELDS, path });
      expect([made.status, made.text]).toEqual([201, path]);
      const notRun = `stored; svc does not run ${what}s`;
      const record = { ...FIELDS, path, mode: "enabled", error: notRun, edited_by: "admin", extra_perms: {} };
      expect(await get(`${base}/get/${path}`)).toMatchObject(record);
      expect(await get(`${base}/list?path_start=${path}`)).toMatchObject([record]);
      expect(await get(`${base}/exists/${path}`)).toBe(true);
      expect((await archive())[`${path}.${kind}_trigger.json`]).toEqual(FIELDS);
      expect((await ask("POST", `${W}${base}/create`, { ...FIELDS, path })).status).toBe(400);

      expect((await post(`${base}/setenabled/${path}`, { enabled: false })).text).toBe(
        `${what} ${path} disabled`,
      );
      const off = await get(`${base}/get/${path}`);
      expect(off).toMatchObject({ enabled: false, mode: "disabled" });
      expect(off.error).toBeUndefined();
      expect((await archive())[`${path}.${kind}_trigger.json`]).toEqual({ ...FIELDS, enabled: false });
      expect((await post(`${base}/setenabled/${path}`, { enabled: true })).text).toBe(
        `${what} ${path} enabled (${notRun})`,
      );

      // Sending a record back stores no field that the server added.
      const {
        email: _,
        edited_by: __,
        extra_perms: ___,
        mode: ____,
        ...sent
      } = await get(`${base}/get/${path}`);
      const moved = `${path}_moved`;
      await post(`${base}/update/${path}`, { ...sent, path: moved, topics: ["all"] });
      expect((await archive())[`${moved}.${kind}_trigger.json`]).toEqual({ ...FIELDS, topics: ["all"] });
      expect(await get(`${base}/exists/${path}`)).toBe(false);
      await expectOk(ask("DELETE", `${W}${base}/delete/${moved}`));
      expect(await get(`${base}/list`)).toEqual([]);
      const audited = await get(`/audit/list?per_page=100&resource=${path}`);
      const operations = audited.map(({ operation }: { operation: string }) => operation);
      expect(operations).toContain(`${kind}_triggers.create`);
      expect(operations).toContain(`${kind}_triggers.update`);
    });
  },
);

test.each([
  ["no state", {}, {}, true],
  ["`enabled` alone", { enabled: false }, { enabled: false }, false],
  ["a mode", { mode: "suspended" }, { mode: "suspended" }, false],
  ["both", { mode: "enabled", enabled: true }, { mode: "enabled", enabled: true }, true],
  [
    "empty fields",
    { script_path: "", is_flow: false, x: "" },
    { script_path: "", is_flow: false, x: "" },
    true,
  ],
])("%s comes back as it was sent, and stays in an update without it", async (_, sent, stored, enabled) => {
  const path = "u/admin/state";
  await post("/email_triggers/create", { path, ...sent });
  expect((await archive())[`${path}.email_trigger.json`]).toEqual(stored);
  expect((await get(`/email_triggers/get/${path}`)).enabled).toBe(enabled);
  await post(`/email_triggers/update/${path}`, { path, local_part: "in" });
  expect((await archive())[`${path}.email_trigger.json`]).toEqual({
    local_part: "in",
    ...(!enabled && { enabled: false }),
  });
  await expectOk(ask("DELETE", `${W}/email_triggers/delete/${path}`));
});

test("a mode that a client set is updated when the trigger is enabled or disabled", async () => {
  const path = "u/admin/switched";
  await post("/email_triggers/create", { path, mode: "enabled" });
  await post(`/email_triggers/setenabled/${path}`, { enabled: false });
  expect((await archive())[`${path}.email_trigger.json`]).toEqual({ mode: "disabled" });
  await expectOk(ask("DELETE", `${W}/email_triggers/delete/${path}`));
});

test("users with write access change a trigger at its path; only those who manage it move it, to where they may write", async () => {
  const { ask: eve } = await server.member("acme", "eve");
  const path = "u/admin/lent";
  await post("/kafka_triggers/create", { path });
  await post(`/acls/add/kafka_trigger/${path}`, { owner: "u/eve", write: true });
  await post(`/kafka_triggers/update/${path}`, { path, topics: ["a"] }, eve);
  expect(await refusal(eve, "POST", `/kafka_triggers/update/${path}`, { path: "u/eve/taken" })).toBe(403);
  await post("/kafka_triggers/create", { path: "u/eve/own" }, eve);
  expect(await refusal(eve, "POST", "/kafka_triggers/update/u/eve/own", { path: "u/admin/given" })).toBe(403);
  for (const each of [path, "u/eve/own"]) await expectOk(ask("DELETE", `${W}/kafka_triggers/delete/${each}`));
});

test("kinds at one path have their own fields and grants", async () => {
  const path = "u/admin/same";
  const { ask: bob } = await server.member("acme", "bob");
  for (const kind of ["kafka", "nats"]) await post(`/${kind}_triggers/create`, { path, of: kind });
  await post(`/acls/add/kafka_trigger/${path}`, { owner: "u/bob", write: false });
  expect((await get(`/kafka_triggers/get/${path}`, bob)).of).toBe("kafka");
  expect(await refusal(bob, "GET", `/nats_triggers/get/${path}`)).toBe(404);
  expect(Object.keys(await archive(bob))).toEqual([`${path}.kafka_trigger.json`]);
  expect(await refusal(bob, "POST", `/kafka_triggers/update/${path}`, { path })).toBe(403);
  expect(await refusal(bob, "DELETE", `/kafka_triggers/delete/${path}`)).toBe(403);
  expect(await refusal(bob, "POST", "/kafka_triggers/create", { path: "u/admin/other" })).toBe(403);
  await expectOk(ask("DELETE", `${W}/kafka_triggers/delete/${path}`));
  expect((await get(`/nats_triggers/get/${path}`)).of).toBe("nats");
  await expectOk(ask("DELETE", `${W}/nats_triggers/delete/${path}`));
});

test("tokens with scopes for the kinds that run export a workspace without other kinds, which need their own scopes", async () => {
  const scopes =
    "apps flows folders groups raw_apps resources scripts variables http_triggers websocket_triggers";
  const read = [...scopes.split(" "), "workspaces"].map((domain) => `${domain}:read`);
  const limited = server.as(await tokenOf(ask, read));
  const pull = (by: Ask, triggers = true) =>
    by("GET", `${W}/workspaces/tarball?archive_type=tar&include_triggers=${triggers}&skip_secrets=true`);
  expect((await pull(limited)).status).toBe(200);
  await post("/sqs_triggers/create", { path: "u/admin/queue" });
  expect((await pull(limited, false)).status).toBe(200);
  const refused = await pull(limited);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("sqs_triggers:read")]);
  expect((await pull(server.as(await tokenOf(ask, [...read, "sqs_triggers:read"])))).status).toBe(200);
  await expectOk(ask("DELETE", `${W}/sqs_triggers/delete/u/admin/queue`));
});

test("triggers follow when their user is renamed", async () => {
  const { ask: kim } = await server.member("acme", "kim");
  const { ask: root } = await server.user("root", { super_admin: true });
  const value = { kafka_resource_path: "u/kim/broker", args: { key: "$var:u/kim/key" }, topics: ["u/kim"] };
  for (const kind of ["kafka", "mqtt"]) {
    const body = { path: "u/kim/in", script_path: "u/kim/hear", ...value, of: kind };
    await post(`/${kind}_triggers/create`, body, kim);
  }
  await expectOk(root("POST", "/users/rename/kim@example.org", { new_username: "lee" }));
  for (const kind of ["kafka", "mqtt"])
    expect(await get(`/${kind}_triggers/get/u/lee/in`, kim)).toMatchObject({
      script_path: "u/lee/hear",
      kafka_resource_path: "u/lee/broker",
      args: { key: "$var:u/lee/key" },
      edited_by: "lee",
      of: kind,
    });
});
