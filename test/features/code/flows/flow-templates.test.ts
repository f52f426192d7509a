/** The templates of new flows run unchanged, and pass the editor's own checks. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { listProblems } from "../../../../src/console/pages/scripts/flow-editor/model/check.ts";
import { TEMPLATES } from "../../../../src/console/pages/scripts/flow-editor/templates/templates.ts";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ann: Ask;

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
  ({ ask: ann } = await server.member("acme", "ann"));
});
afterAll(() => server.stop());

/** Expected outcomes of flows for which the first result is not decisive. */
const OUTCOMES: Record<string, [args: object, result: unknown]> = {
  empty: [{}, null],
  webhook: [{ event: { id: 7 } }, { sent: false, body: expect.objectContaining({ id: 7 }) }],
  report: [
    { day: "2026-01-02" },
    { render_all: [{ md: "# Orders of 2026-01-02\n\n2 orders, 100 in total" }] },
  ],
  approval: [
    { order: 7, amount: 20 },
    { order: 7, refunded: 20 },
  ],
  "fan-out": [{ items: ["x", "y"] }, { done: 2, failed: 0 }],
  watch: [{}, { told: false, text: "An example" }],
};

test.each(TEMPLATES.map(({ id, flow }) => [id, flow] as const))("%s", async (id, flow) => {
  expect(listProblems({ ...flow, path: "f/a/b" })).toEqual([]);
  const [args, result] = OUTCOMES[id]!;
  const answer = await ann("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value: flow.value, args });
  expect([answer.status, await answer.json()]).toEqual([200, result]);
  await expectOk(ann("POST", "/w/acme/flows/create", { ...flow, path: `u/ann/${id.replace("-", "_")}` }));
});

test("deployed unchanged, they call another service, post to a chat, and wait for an approval", async () => {
  const received: any[] = [];
  await using peer = Bun.serve({
    port: 0,
    async fetch(request) {
      if (request.method === "GET")
        return Response.json([
          { id: "2", title: "New" },
          { id: "1", title: "Old" },
        ]);
      received.push(await request.json());
      return new Response("noted");
    },
  });
  const call = async (name: string, args: object) =>
    (await expectOk(ann("POST", `/w/acme/jobs/run_wait_result/f/u/ann/${name}`, args))).json();
  const target = peer.url.href;
  const event = { id: 7 };
  const signature = createHmac("sha256", "s3").update(JSON.stringify(event)).digest("hex");
  expect(await call("webhook", { event, signature, secret: "s3", target })).toEqual({
    sent: true,
    status: 200,
  });
  expect(received.pop()).toMatchObject({ id: 7, received_at: expect.any(String) });
  const watched = await call("watch", { address: target, chat: target, after: "1" });
  expect([watched, received.pop()]).toEqual([{ told: true, text: "New" }, { text: "New" }]);
  expect(await call("watch", { address: target, chat: target, after: "2" })).toEqual([]);
  expect(received).toEqual([]);
  expect(await call("report", {})).toEqual({ render_all: [{ md: expect.stringContaining("100 in total") }] });
  expect(await call("fan_out", {})).toEqual({ done: 3, failed: 0 });
  const id = (await expectOk(ann("POST", "/w/acme/jobs/run/f/u/ann/approval", { order: 7, amount: 250 })))
    .text;
  await until(
    async () =>
      (await ann("POST", `/w/acme/jobs/flow/resume/${id}`, { note: "fine" })).status === 201 || undefined,
    "the approval",
  );
  const end = await until(async () => {
    const answer = (await ann("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)).json();
    return answer.completed ? answer.result : undefined;
  }, "the refund");
  expect(end).toEqual({ order: 7, refunded: 250 });
});

test("the webhook's template rejects a wrong signature", async () => {
  const { flow } = TEMPLATES.find(({ id }) => id === "webhook")!;
  const args = { event: { id: 7 }, secret: "s", signature: "00" };
  const answer = await ann("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value: flow.value, args });
  expect(answer.text).toContain("The signature is wrong");
});
