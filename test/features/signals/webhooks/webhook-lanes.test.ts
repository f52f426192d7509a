/** Endpoints are created and deleted: the sender frees the state of each. */
import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { expectOk, startTestServer, until } from "../../../support/harness.ts";

/** Each may keep its lane for 400 ms more while the thread is busy. */
const ENDPOINTS = 20;

/** Number of stoppable objects in this process: each lane of the sender has one. */
function countStoppable(): number {
  Bun.gc(true);
  return heapStats().objectTypeCounts.AbortController ?? 0;
}

test("the sender keeps no lane of an endpoint that is idle or deleted", async () => {
  const server = await startTestServer({ allowed_targets: "127.0.0.1" });
  const { ask } = await server.workspace();
  let received = 0;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch() {
      received++;
      return new Response("thanks");
    },
  });
  let changes = 0;
  const change = () =>
    expectOk(
      ask("POST", "/w/acme/variables/create", {
        path: `u/admin/v${++changes}`,
        value: "1",
        is_secret: false,
        description: "",
      }),
    );
  let endpoints = 0;
  const createEndpoint = async (): Promise<string> => {
    const url = `${receiver.url}${++endpoints}`;
    return (await expectOk(ask("POST", "/w/acme/webhooks/create", { url }))).json().id;
  };
  try {
    const ids: string[] = [];
    for (let n = 0; n < ENDPOINTS; n++) ids.push(await createEndpoint());
    const before = countStoppable();
    await change();
    await until(() => received === ENDPOINTS, "all to be told");
    expect(countStoppable() - before).toBeGreaterThan(ENDPOINTS / 2);
    for (const id of ids) await expectOk(ask("DELETE", `/w/acme/webhooks/delete/${id}`));
    await createEndpoint();
    await until(async () => {
      await change();
      return countStoppable() - before < ENDPOINTS / 4;
    }, "the lanes to go");
  } finally {
    await server.stop();
    await receiver.stop(true);
  }
}, 60_000);
