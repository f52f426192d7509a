/** Many pending events of one endpoint. */
import { expect, test } from "bun:test";
import { until } from "../../../support/harness.ts";
import {
  advanceClock,
  awaitDeliveries,
  awaitMessages,
  change,
  createEndpoint,
  listDeliveries,
  receiver,
  setUpWebhooks,
} from "./webhook-setup.ts";

setUpWebhooks();

const HOUR_MS = 3_600_000;

test("are sent concurrently if many wait, until all have arrived", async () => {
  const { id } = await createEndpoint();
  receiver.answer = () => new Response("", { status: 503 });
  for (let at = 0; at < 150; at += 10) await Promise.all(Array.from({ length: 10 }, change));
  let most = 0;
  let now = 0;
  let count = 0;
  receiver.answer = async () => {
    most = Math.max(most, ++now);
    await Bun.sleep(5);
    now--;
    // The first of the backlog arrives: otherwise the sender would back off.
    return new Response("", { status: ++count % 2 === 0 ? 500 : 200 });
  };
  // On a slow machine some were tried several times, and wait for minutes.
  advanceClock(HOUR_MS);
  await change();
  await until(() => (most > 1 ? true : undefined), "several at once");
  receiver.answer = () => new Response("");
  advanceClock(22 * HOUR_MS);
  await change();
  await awaitDeliveries(id, "delivered", 152);
  expect(await listDeliveries(id, "?state=failed")).toEqual([]);
  advanceClock(-23 * HOUR_MS);
}, 60_000);

test("do not delay other endpoints", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await createEndpoint("/slow");
  const fast = await createEndpoint("/fast");
  receiver.answer = async ({ path }) => {
    if (path === "/slow") await held;
    return new Response("");
  };
  for (let round = 0; round < 5; round++) await change();
  await awaitDeliveries(fast.id, "delivered", 5);
  expect(receiver.messages.filter(({ path }) => path === "/slow")).toHaveLength(1);
  release();
  await awaitMessages(10);
});
