/** Scripts, flows and apps that run with their author's rights, and a caller with a secret. */
import { afterAll, beforeAll, expect } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
/** The workspace's admin, who has secrets, and as whom items run. */
export let admin: Ask;
export let ann: Ask;

export const ECHO = "export const main = (x: unknown) => ({ x, as: process.env.WM_USERNAME })";
export const SECRET = "hers-alone";

export const runs = async (ask: Ask, target: string, x: unknown) => {
  const answer = await ask("POST", `/w/acme/jobs/run_wait_result/${target}`, { x });
  return [answer.status, answer.status === 200 ? answer.json().x : answer.text];
};
export const containsText = (text: string) => expect.stringContaining(text);

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpCallers(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask: admin } = await server.workspace());
    await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
    ({ ask: ann } = await server.member("acme", "ann"));
    for (const [ask, path, value] of [
      [admin, "u/admin/key", SECRET],
      [ann, "u/ann/key", "of-ann"],
    ] as const) {
      const body = { path, value, is_secret: true, description: "" };
      await expectOk(ask("POST", "/w/acme/variables/create", body));
    }
    for (const [ask, path, value] of [
      [ann, "u/ann/own", { host: "db", password: "$var:u/ann/key" }],
      [ann, "u/ann/greedy", { password: "$var:u/admin/key" }],
      [ann, "u/ann/greedier", { password: "$WM_TOKEN" }],
    ] as const) {
      await expectOk(ask("POST", "/w/acme/resources/create", { path, value, resource_type: "any" }));
    }
    await deploy(admin, "acme", "u/admin/echo", ECHO);
    await deploy(admin, "acme", "u/admin/for", ECHO, { on_behalf_of_email: "admin_acme@example.org" });
    const value = {
      modules: [{ id: "a", value: { type: "script", path: "u/admin/echo", input_transforms: {} } }],
    };
    const flow = { path: "u/admin/flow", summary: "", value, on_behalf_of_email: "admin_acme@example.org" };
    flow.value.modules[0]!.value.input_transforms = { x: { type: "javascript", expr: "flow_input.x" } };
    await expectOk(admin("POST", "/w/acme/flows/create", flow));
    for (const [kind, path] of [
      ["script", "u/admin/echo"],
      ["script", "u/admin/for"],
      ["flow", "u/admin/flow"],
    ]) {
      await expectOk(admin("POST", `/w/acme/acls/add/${kind}/${path}`, { owner: "u/ann" }));
    }
  });
  afterAll(() => server.stop());
}
