/** Webhooks receive the items that move with a renamed user. */
import { expect, test } from "bun:test";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";

test("each item that moves with its user sends an event, and no other does", async () => {
  await using server = await startTestServer({ allowed_targets: "127.0.0.1" });
  const { ask } = await server.workspace();
  const ann = await server.member("acme", "ann");
  const put = (kind: string, body: object) => expectOk(ann.ask("POST", `/w/acme/${kind}/create`, body));
  const described = { summary: "", description: "" };
  await put("variables", { path: "u/ann/v", value: "x", is_secret: false, description: "" });
  await expectOk(ask("POST", "/w/acme/resources/type/create", { name: "any", schema: {} }));
  await put("resources", { path: "u/ann/r", value: {}, resource_type: "any" });
  await deploy(ann.ask, "acme", "u/ann/s", "export const main = () => 1");
  const hash = await deploy(ann.ask, "acme", "u/ann/s", "export const main = () => 2");
  await put("flows", { ...described, path: "u/ann/f", value: { modules: [] }, schema: {} });
  await put("apps", { path: "u/ann/a", summary: "", value: {}, policy: { execution_mode: "viewer" } });
  await expectOk(
    ask("POST", "/w/acme/variables/create", {
      path: "u/admin/v",
      value: "x",
      is_secret: false,
      description: "",
    }),
  );
  const told: { type: string; path?: string }[] = [];
  using receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      told.push((await request.json()) as never);
      return new Response("ok");
    },
  });
  const url = `http://127.0.0.1:${receiver.port}/`;
  await expectOk(ask("POST", "/w/acme/webhooks/create", { url }));
  await expectOk(server.operator("POST", "/users/rename/ann@example.org", { new_username: "anna" }));
  await expectOk(ask("POST", "/w/acme/variables/update/u/admin/v", { value: "last" }));
  await until(async () => (JSON.stringify(told).includes("u/admin/v") ? true : undefined), "the last event");
  const moved = (name: string) => ({ old_path: `u/ann/${name}`, new_path: `u/anna/${name}` });
  const workspace = "acme";
  expect(told.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual(
    [
      { type: "UpdateApp", workspace, ...moved("a") },
      { type: "UpdateFlow", workspace, ...moved("f") },
      { type: "UpdateResource", workspace, ...moved("r") },
      { type: "UpdateScript", workspace, path: "u/anna/s", hash },
      { type: "UpdateVariable", workspace, old_path: "u/admin/v", new_path: "u/admin/v" },
      { type: "UpdateVariable", workspace, ...moved("v") },
    ].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  );
});
