/** Detours to rights that the direct way refuses: each is tried by a member or a token that must not get them. */
import { beforeAll, describe, expect, test } from "bun:test";
import { type Ask, deploy, expectOk } from "../../../support/harness.ts";
import { admin, askAs, server, setUpRights } from "./rights-setup.ts";

setUpRights();

const as = (name: string) => askAs[name]!;
const acme = (path: string) => `/w/acme/${path}`;

async function tokenOf(name: string, body: object): Promise<Ask> {
  return server.as((await expectOk(as(name)("POST", "/users/tokens/create", body))).text);
}

beforeAll(async () => {
  await deploy(as("ann"), "acme", "u/ann/x", "export const main = () => 1");
});

describe("a restricted token that expires", () => {
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const scopes = ["users:write", "users:read"];

  test.each([
    ["scopes", { scopes, expiration: soon }, { scopes }],
    ["a workspace", { workspace_id: "acme", expiration: soon }, {}],
  ])("creates no token that outlives it: bound to %s", async (_, body, next) => {
    const own = await tokenOf("ann", body);
    const refused = await own("POST", "/users/tokens/create", { ...next, expiration: later });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("expires")]);
    const label = `next of ${_}`;
    await expectOk(own("POST", "/users/tokens/create", { ...next, label }));
    const listed: { label: string; expiration: string }[] = (
      await expectOk(as("ann")("GET", "/users/tokens/list"))
    ).json();
    expect(listed.find((token) => token.label === label)?.expiration).toBe(soon);
  });
});

describe("a token without the right to run", () => {
  test("stores no schedule of a script, not even a disabled one", async () => {
    const own = await tokenOf("ann", { scopes: ["schedules:write"] });
    const body = {
      path: "u/ann/later",
      schedule: "0 0 0 1 1 *",
      timezone: "UTC",
      script_path: "u/ann/x",
      is_flow: false,
      args: {},
      enabled: false,
    };
    expect((await own("POST", acme("schedules/create"), body)).status).toBe(403);
    await expectOk(as("ann")("POST", acme("schedules/create"), body));
    const { path: _, script_path: __, is_flow: ___, enabled: ____, ...changes } = body;
    expect((await own("POST", acme("schedules/update/u/ann/later"), changes)).status).toBe(403);
  });
});

test.each([
  ["http", { route_path: "moved", http_method: "post", workspaced_route: true }],
  ["websocket", { url: "wss://example.org/", initial_messages: [] }],
  ["kafka", {}],
])("a token for one path moves no %s trigger to another", async (kind, more) => {
  const body = { path: "u/ann/at", script_path: "u/ann/x", is_flow: false, enabled: false, ...more };
  await expectOk(as("ann")("POST", acme(`${kind}_triggers/create`), body));
  const own = await tokenOf("ann", { scopes: [`${kind}_triggers:write:u/ann/at`, "jobs:run"] });
  const update = (path: string) =>
    own("POST", acme(`${kind}_triggers/update/u/ann/at`), { ...body, path, summary: "seen" });
  expect((await update("u/ann/at")).status).toBe(200);
  expect((await update("u/ann/elsewhere")).status).toBe(403);
});

test("a token for one path moves no captures to another", async () => {
  const own = await tokenOf("ann", { scopes: ["capture:write:u/ann/at"] });
  const move = (new_path: string) => own("POST", acme("capture/move/script/u/ann/at"), { new_path });
  expect([(await move("u/ann/at")).status, (await move("u/ann/elsewhere")).status]).toEqual([200, 403]);
});

test("a route tells nobody a secret that its owner may not read", async () => {
  const secret = "s3cret-of-ann";
  const make = (path: string, body: object) => expectOk(as("ann")("POST", acme(`${path}/create`), body));
  await make("variables", { path: "u/ann/hidden", value: secret, is_secret: true, description: "" });
  const value = { api_key_header: "x-key", api_key_secret: "open" };
  await make("resources", { path: "u/ann/key", resource_type: "any", value });
  await expectOk(as("ann")("POST", acme("acls/add/resource/u/ann/key"), { owner: "u/bob", write: true }));
  await deploy(as("bob"), "acme", "u/bob/x", "export const main = () => 1");
  const route = {
    path: "u/bob/asks",
    script_path: "u/bob/x",
    is_flow: false,
    enabled: true,
    http_method: "post",
    route_path: "asks",
    workspaced_route: true,
    authentication_method: "api_key",
    authentication_resource_path: "u/ann/key",
  };
  await expectOk(as("bob")("POST", acme("http_triggers/create"), route));
  const call = (headers = {}) => server.as(undefined)("POST", "/r/acme/asks", {}, headers);
  expect([(await call()).status, (await call({ "x-key": "open" })).status]).toEqual([401, 200]);
  const changed = { value: { ...value, api_key_header: "$var:u/ann/hidden" } };
  await expectOk(as("bob")("POST", acme("resources/update/u/ann/key"), changed));
  const answer = await call();
  expect(answer.text).not.toContain(secret);
  expect(answer.status).toBe(500);
});

describe("an admin of a workspace who imports queued jobs", () => {
  const job = (more: object) => ({
    id: crypto.randomUUID(),
    job_kind: "preview",
    created_by: "ann",
    created_at: new Date(),
    permissioned_as: "u/ann",
    email: "ann@example.org",
    language: "bun",
    tag: "bun",
    raw_code: "export const main = () => 1",
    ...more,
  });
  const load = (by: Ask, more: object) => by("POST", acme("jobs/queue/import"), [job(more)]);

  test("may not give them a tag that is reserved for other workspaces", async () => {
    await expectOk(server.operator("POST", "/settings/global/custom_tags", { value: ["gpu(other)", "any"] }));
    const refused = await load(as("admin"), { tag: "gpu" });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("the tag gpu")]);
    await expectOk(load(as("admin"), { tag: "any" }));
    await expectOk(load((await server.user("root", { super_admin: true })).ask, { tag: "gpu" }));
  });

  test("may not let them run as somebody who has not joined yet", async () => {
    const body = { email: "soon@example.org", is_admin: false, operator: false, username: "soon" };
    await admin("workspaces/add_user", body);
    const refused = await load(as("admin"), { permissioned_as: "u/soon", email: body.email });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("u/soon")]);
  });
});

test("a new group does not inherit the runs of an earlier one", async () => {
  await admin("groups/create", { name: "ops" });
  await deploy(as("admin"), "acme", "g/ops/told", "export const main = () => 'of the group'");
  await expectOk(as("admin")("POST", acme("jobs/run_wait_result/p/g/ops/told"), {}));
  await expectOk(as("admin")("POST", acme("scripts/delete/p/g/ops/told")));
  await expectOk(as("admin")("DELETE", acme("groups/delete/ops")));
  expect((await as("bob")("POST", acme("groups/create"), { name: "ops" })).status).toBe(403);
  await admin("groups/create", { name: "ops" });
});

test("nobody creates a group that a flow asks for approval, to approve", async () => {
  const suspend = { required_events: 1, user_groups_required: { type: "static", value: ["board"] } };
  const modules = [{ id: "a", value: { type: "identity" }, suspend }];
  await admin("flows/create", { path: "u/admin/asks", summary: "", value: { modules } });
  expect((await as("bob")("POST", acme("groups/create"), { name: "boards" })).status).toBe(200);
  expect((await as("bob")("POST", acme("groups/create"), { name: "board" })).status).toBe(403);
  await admin("groups/create", { name: "board" });
});

test("who is invited chooses no username under which something waits for somebody else", async () => {
  const variable = { path: "u/ceo/key", value: "1", is_secret: true, description: "" };
  await admin("variables/create", variable);
  const { ask: guest, email } = await server.user("guest");
  await admin("workspaces/invite_user", { email, is_admin: false, operator: false });
  const accept = (username: string) =>
    guest("POST", "/users/accept_invite", { workspace_id: "acme", username });
  const refused = await accept("ceo");
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("ceo is taken")]);
  expect((await accept("visitor")).status).toBe(200);
  await admin("variables/create", { ...variable, path: "u/boss/key" });
  const { ask: boss, email: own } = await server.user("boss");
  await admin("workspaces/invite_user", { email: own, is_admin: false, operator: false });
  const body = { workspace_id: "acme", username: "boss" };
  expect((await boss("POST", "/users/accept_invite", body)).status).toBe(200);
  expect((await boss("GET", acme("variables/get/u/boss/key"))).status).toBe(200);
});

test("the groups of the instance show the addresses of known people only", async () => {
  const { license } = await import("../../../support/peers/license.ts");
  await license(server);
  const root = (await server.user("top", { super_admin: true })).ask;
  await expectOk(root("POST", "/groups/create", { name: "staff" }));
  for (const name of ["ann", "bob"])
    await expectOk(root("POST", "/groups/adduser/staff", { email: `${name}@example.org` }));
  const stranger = (await server.user("stranger")).ask;
  const told = async (by: Ask) => [
    (await by("GET", "/groups/get/staff")).json().emails,
    (await by("GET", "/groups/list")).json()[0].emails,
  ];
  const all = ["ann@example.org", "bob@example.org"];
  expect(await told(stranger)).toEqual([[], []]);
  expect(await told(as("cid"))).toEqual([all, all]);
  expect(await told(root)).toEqual([all, all]);
});
