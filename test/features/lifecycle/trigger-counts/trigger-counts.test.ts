/** Trigger counts of a workspace, and of one script or flow. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { STORED_KINDS } from "../../../../src/features/triggers/common/stored/kinds.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
});
afterAll(() => server.stop());

const used = async () => (await expectOk(ask("GET", "/w/acme/workspaces/used_triggers"))).json();
const counts = (kind: string, path: string, by: Ask = ask) =>
  by("GET", `/w/acme/${kind}/get_triggers_count/${path}`);
const NONE = {
  schedule_count: 0,
  http_routes_count: 0,
  webhook_count: 0,
  email_count: 0,
  websocket_count: 0,
  postgres_count: 0,
  kafka_count: 0,
  nats_count: 0,
  mqtt_count: 0,
  amqp_count: 0,
  sqs_count: 0,
  gcp_count: 0,
  azure_count: 0,
};
const UNUSED = Object.fromEntries(STORED_KINDS.map(({ kind }) => [`${kind}_used`, false]));

test("existing triggers are counted by the script or flow that they start", async () => {
  const path = "u/admin/both";
  await deploy(ask, "acme", path, "export const main = () => 1");
  const flow = { path, summary: "", value: { modules: [{ id: "a", value: { type: "identity" } }] } };
  await expectOk(ask("POST", "/w/acme/flows/create", flow));
  expect(await used()).toEqual({ ...UNUSED, http_routes_used: false, websocket_used: false });
  expect((await counts("scripts", path)).json()).toEqual(NONE);

  const route = { path: "u/admin/route", route_path: "counted", http_method: "get", script_path: path };
  await expectOk(ask("POST", "/w/acme/http_triggers/create", { ...route, is_flow: true }));
  expect(await used()).toEqual({ ...UNUSED, http_routes_used: true, websocket_used: false });
  const socket = { path: "u/admin/socket", url: "ws://127.0.0.1:9/", script_path: path, enabled: false };
  await expectOk(ask("POST", "/w/acme/websocket_triggers/create", socket));
  expect(await used()).toEqual({ ...UNUSED, http_routes_used: true, websocket_used: true });
  for (const kind of ["kafka", "email"])
    await expectOk(
      ask("POST", `/w/acme/${kind}_triggers/create`, { path: `u/admin/${kind}`, script_path: path }),
    );
  const all = { ...UNUSED, http_routes_used: true, websocket_used: true, kafka_used: true, email_used: true };
  expect(await used()).toEqual(all);

  const schedule = { schedule: "0 0 0 1 1 *", timezone: "UTC", script_path: path, is_flow: false, args: {} };
  for (const at of [path, "u/admin/second"]) {
    await expectOk(ask("POST", "/w/acme/schedules/create", { ...schedule, path: at }));
  }
  for (const scopes of [
    [`jobs:run:scripts:${path}`],
    [`run:script/${path}`],
    [`jobs:run:scripts:${path}2`],
    [`jobs:run:flows:${path}`],
  ]) {
    await expectOk(ask("POST", "/users/tokens/create", { label: "webhook-x", scopes, workspace_id: "acme" }));
  }
  expect((await counts("scripts", path)).json()).toEqual({
    ...NONE,
    primary_schedule: { schedule: "0 0 0 1 1 *" },
    schedule_count: 2,
    webhook_count: 2,
    websocket_count: 1,
    kafka_count: 1,
    email_count: 1,
  });
  expect((await counts("flows", path)).json()).toEqual({ ...NONE, http_routes_count: 1, webhook_count: 1 });

  await expectOk(ask("POST", `/w/acme/scripts/archive/p/${path}`));
  expect((await counts("scripts", path)).json().schedule_count).toBe(2);
  const { ask: bob } = await server.member("acme", "bob");
  expect((await counts("flows", path, bob)).status).toBe(404);
  expect((await counts("flows", "u/admin/none")).status).toBe(404);
});
