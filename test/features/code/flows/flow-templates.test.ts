/** The flows that new ones begin with run as they stand, and pass the editor's own checks. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { listProblems } from "../../../../src/console/pages/scripts/drawing/model/check.ts";
import { TEMPLATES } from "../../../../src/console/pages/scripts/drawing/templates/templates.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ann: Ask;

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
  ({ ask: ann } = await server.member("acme", "ann"));
});
afterAll(() => server.stop());

/** What a flow comes to where it is not its first result that counts. */
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

test("the webhook's template refuses a wrong signature", async () => {
  const { flow } = TEMPLATES.find(({ id }) => id === "webhook")!;
  const args = { event: { id: 7 }, secret: "s", signature: "00" };
  const answer = await ann("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value: flow.value, args });
  expect(answer.text).toContain("The signature is wrong");
});
