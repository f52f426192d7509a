/** Events and their deliveries are kept for a while, and longer while a delivery is pending. */
import { expect, test } from "bun:test";
import { createPruner } from "../../../../src/features/lifecycle/retention/pruner.ts";
import { webhookDeliveries, webhookEvents } from "../../../../src/features/signals/webhooks/tables.ts";
import { expectOk, startTestServer, until } from "../../../support/harness.ts";

const DAY_MS = 24 * 3_600_000;

test("old deliveries are deleted; pending and recent ones stay", async () => {
  await using server = await startTestServer({ allowed_targets: "127.0.0.1", webhook_retention_s: 86_400 });
  const { ask } = await server.workspace();
  const { app } = server.server;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith("/fails")
        ? new Response("", { status: 500, headers: { "retry-after": "3600" } })
        : new Response(""),
  });
  const endpoint = async (path: string, types: string[] | null) => {
    const body = { url: `http://127.0.0.1:${receiver.port}${path}`, types };
    return (await expectOk(ask("POST", "/w/acme/webhooks/create", body))).json().id;
  };
  const well = await endpoint("/well", null);
  const fails = await endpoint("/fails", ["DeleteVariable"]);
  const variable = (path: string) => ({ path, value: "", is_secret: false, description: "" });
  await expectOk(ask("POST", "/w/acme/variables/create", variable("u/admin/a")));
  await expectOk(ask("DELETE", "/w/acme/variables/delete/u/admin/a"));
  const stateOf = async (id: string) =>
    (await expectOk(ask("GET", `/w/acme/webhooks/deliveries/${id}`)))
      .json()
      .map(({ type, state }: any) => [type, state]);
  await until(async () => {
    const [told, failed] = [await stateOf(well), await stateOf(fails)];
    const states = [...told, ...failed].map(([, state]) => state).join(" ");
    return states === "delivered delivered pending" ? true : undefined;
  }, "the first tries");
  const started = app.clock;
  Object.assign(app, { clock: () => new Date(started().getTime() + DAY_MS - 60_000) });
  await expectOk(ask("POST", "/w/acme/variables/create", variable("u/admin/young")));
  await until(async () => {
    const told = await stateOf(well);
    return told.length === 3 && told[0][1] === "delivered" ? true : undefined;
  }, "the young one");
  Object.assign(app, { clock: () => new Date(started().getTime() + DAY_MS + 60_000) });
  await createPruner(app).prune();
  expect(await stateOf(well)).toEqual([
    ["CreateVariable", "delivered"],
    ["DeleteVariable", "delivered"],
  ]);
  expect(await stateOf(fails)).toEqual([["DeleteVariable", "pending"]]);

  // A deleted endpoint retains nothing, and then everything expires.
  await expectOk(ask("DELETE", `/w/acme/webhooks/delete/${fails}`));
  Object.assign(app, { clock: () => new Date(started().getTime() + 3 * DAY_MS) });
  await createPruner(app).prune();
  expect(await app.db.read.select().from(webhookEvents)).toEqual([]);
  expect(await app.db.read.select().from(webhookDeliveries)).toEqual([]);
  await receiver.stop(true);
});
