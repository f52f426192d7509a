/** Expired variables are deleted, with the same event as any other deletion. */
import { expect, test } from "bun:test";
import { variables } from "../../../../src/features/assets/variable-tables.ts";
import { createPruner } from "../../../../src/features/lifecycle/retention/pruner.ts";
import { expectOk, startTestServer, until } from "../../../support/harness.ts";

test("a variable that expires sends its event, once", async () => {
  await using own = await startTestServer({ allowed_targets: "127.0.0.1" });
  const { app } = own.server;
  const { ask } = await own.workspace();
  using receiver = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("ok") });
  const hook = { url: `http://127.0.0.1:${receiver.port}/`, types: ["DeleteVariable"] };
  const { id } = (await expectOk(ask("POST", "/w/acme/webhooks/create", hook))).json();
  const body = { value: "x", is_secret: false, description: "" };
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  await expectOk(ask("POST", "/w/acme/variables/create", { ...body, path: "u/admin/short", expires_at }));
  await expectOk(ask("POST", "/w/acme/variables/create", { ...body, path: "u/admin/kept" }));
  Object.assign(app, { clock: () => new Date(Date.now() + 3_601_000) });
  await createPruner(app).prune();
  await createPruner(app).prune();
  const kept = await app.db.read.select({ path: variables.path }).from(variables);
  expect(kept).toEqual([{ path: "u/admin/kept" }]);
  const told = await until(async () => {
    const sent = (await expectOk(ask("GET", `/w/acme/webhooks/deliveries/${id}`))).json();
    return sent.length > 0 ? sent : undefined;
  }, "the event");
  expect(told.map(({ type }: { type: string }) => type)).toEqual(["DeleteVariable"]);
});
