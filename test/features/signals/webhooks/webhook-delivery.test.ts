/** Undeliverable events: attempts, timeouts, backoff, and delivery of other events meanwhile. */
import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { dialect } from "../../../../src/database/kit.ts";
import { computeNextAttempt } from "../../../../src/features/signals/webhooks/deliveries.ts";
import { findDueBatch } from "../../../../src/features/signals/webhooks/sender/webhook-batch.ts";
import { webhookEndpoints } from "../../../../src/features/signals/webhooks/tables.ts";
import { expectOk, until } from "../../../support/harness.ts";
import {
  advanceClock,
  ask,
  awaitDeliveries,
  change,
  createEndpoint,
  createVariableBody,
  listDeliveries,
  receiver,
  server,
  setUpWebhooks,
  WEBHOOKS,
} from "./webhook-setup.ts";

setUpWebhooks();

describe("a delivery that fails", () => {
  test("is retried with backoff, while later events are sent", async () => {
    const { id } = await createEndpoint();
    receiver.answer = ({ body }) =>
      new Response("", { status: body.includes("failing") && receiver.messages.length < 3 ? 500 : 200 });
    await expectOk(ask("POST", "/w/acme/variables/create", createVariableBody("u/admin/failing")));
    await awaitDeliveries(id, "pending");
    await change();
    await awaitDeliveries(id, "delivered");
    const [waits] = await listDeliveries(id, "?state=pending");
    expect(waits).toMatchObject({ attempts: 1, status: 500, error: "the receiver answered 500" });
    advanceClock(60_000);
    await change();
    await awaitDeliveries(id, "delivered", 3);
    const all = await listDeliveries(id);
    expect(all.map(({ attempts }: any) => attempts)).toEqual([1, 1, 2]);
    const ids = receiver.messages.map(({ headers }) => headers.get("webhook-id"));
    expect(ids.filter((each) => each === waits.event_id)).toHaveLength(2);
    expect((await ask("GET", `${WEBHOOKS}/list`)).json()[0].failing_since).toBeNull();
  });

  test("is kept as failed after a day, and can be redelivered", async () => {
    const { id } = await createEndpoint();
    receiver.answer = () => new Response("", { status: 503 });
    await change();
    await awaitDeliveries(id, "pending");
    await until(
      async () => ((await listDeliveries(id))[0].attempts === 1 ? true : undefined),
      "the first try",
    );
    advanceClock(25 * 3_600_000);
    const failing = (await ask("GET", `${WEBHOOKS}/list`)).json()[0].failing_since;
    expect(failing).not.toBeNull();
    await change();
    const [given_up] = await awaitDeliveries(id, "failed");
    expect(given_up).toMatchObject({ attempts: 2, status: 503 });
    const alert = await until(async () => {
      const all = (await expectOk(server.operator("GET", "/settings/critical_alerts"))).json();
      return all.find(({ kind }: any) => kind === "webhook_dead");
    }, "the alert");
    expect(alert).toMatchObject({ alert_type: "critical_error", workspace_id: "acme" });
    expect(alert.message).toContain(`${id} at 127.0.0.1`);
    expect(alert.message).not.toContain("/hook");
    receiver.answer = () => new Response("");
    expect((await ask("POST", `${WEBHOOKS}/redeliver/${id}`, {})).json()).toEqual({ count: 1 });
    const again = await until(async () => {
      const found = (await listDeliveries(id)).find(({ event_seq }: any) => event_seq === given_up.event_seq);
      return found.state === "delivered" ? found : undefined;
    }, "the third try");
    expect(again.attempts).toBe(3);
    const one = { event_seq: given_up.event_seq };
    expect((await ask("POST", `${WEBHOOKS}/redeliver/${id}`, one)).json()).toEqual({ count: 1 });
    expect((await ask("POST", `${WEBHOOKS}/redeliver/${id}`, { event_seq: 10 ** 9 })).status).toBe(404);
    advanceClock(-25 * 3_600_000);
  });

  test("times out after 5 seconds and is retried", async () => {
    const { id } = await createEndpoint();
    const held = Promise.withResolvers<Response>();
    receiver.answer = () => held.promise;
    const began = performance.now();
    await change();
    const found = await until(async () => {
      const [first] = await listDeliveries(id);
      return first?.error ? first : undefined;
    }, "the first try");
    expect(found).toMatchObject({
      state: "pending",
      status: null,
      error: "127.0.0.1 did not answer within 5 s",
    });
    expect(performance.now() - began).toBeGreaterThan(4_900);
    held.resolve(new Response(""));
  });

  test.each([
    [1, 1, 2_500],
    [1, 0, 5_000],
    [3, 1, 10_000],
    [3, 0, 20_000],
    [40, 1, 5_400_000],
    [40, 0, 10_800_000],
  ])("is retried after attempt %i with chance %i in %i ms", (attempts, chance, wanted) => {
    const now = new Date();
    const young = { attempts, created_at: now, now };
    expect(computeNextAttempt(young, { ok: false }, () => chance)!.getTime() - now.getTime()).toBe(wanted);
    const asked = computeNextAttempt(young, { ok: false, retry_after_ms: 60_000_000 }, () => chance)!;
    expect(asked.getTime() - now.getTime()).toBe(60_000_000);
    const old = { ...young, created_at: new Date(now.getTime() - 24 * 3_600_000) };
    expect(computeNextAttempt(old, { ok: false }, () => chance)).toBeUndefined();
  });

  test.each([
    ["301", 301],
    ["302", 302],
    ["404", 404],
    ["410", 410],
    ["a redirect to where there is nobody", 308],
  ])("counts as failed: %s", async (_, status) => {
    const { id } = await createEndpoint();
    receiver.answer = () => new Response("", { status, headers: { location: "http://127.0.0.1:1/" } });
    await change();
    const [found] = await until(async () => {
      const all = await listDeliveries(id, "?state=pending");
      return all[0]?.attempts === 1 ? all : undefined;
    }, "the first try");
    expect(found.error).toBe(
      status === 308
        ? "127.0.0.1 cannot be reached: the connection was refused"
        : `the receiver answered ${status}`,
    );
  });
});

// On PostgreSQL both run at once: the first may disable it before the other enables it.
test.if(dialect === "sqlite")(
  "an endpoint that is disabled and enabled again keeps its pending events",
  async () => {
    const { app } = server.server;
    receiver.answer = () => new Response("", { status: 500 });
    const { id } = await createEndpoint();
    await change();
    await until(async () => (await listDeliveries(id))[0]?.error ?? undefined, "the first try");
    const at = eq(webhookEndpoints.id, id);
    await app.db.write((tx) => tx.update(webhookEndpoints).set({ enabled: false }).where(at));
    const { promise: seen, resolve: go } = Promise.withResolvers<void>();
    const switchedOn = app.db.write(async (tx) => {
      await tx.update(webhookEndpoints).set({ enabled: true }).where(at);
      await seen;
    });
    const look = findDueBatch(app, id, true);
    // It has read that the endpoint is disabled once it waits to write.
    setTimeout(go, 100);
    await Promise.all([switchedOn, look]);
    expect((await listDeliveries(id))[0]).toMatchObject({ state: "pending" });
    await app.db.write((tx) => tx.update(webhookEndpoints).set({ enabled: false }).where(at));
    await findDueBatch(app, id, true);
    expect((await listDeliveries(id))[0]).toMatchObject({
      state: "failed",
      error: "the endpoint was switched off",
    });
  },
);
