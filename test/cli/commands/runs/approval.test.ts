/** A flow that waits for approval: shown in lists and by the job, answered by a command and on its page. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, formatError } from "../../program.ts";

const FLOW = {
  modules: [
    {
      id: "ask",
      suspend: {
        required_events: 1,
        timeout: 600,
        resume_form: { schema: { properties: { reason: { type: "string" } }, required: ["reason"] } },
      },
      value: {
        type: "rawscript",
        language: "bun",
        content: "export const main = (order: number) => `Refund order ${order}?`",
        input_transforms: { order: { type: "javascript", expr: "flow_input.order" } },
      },
    },
    {
      id: "pay",
      value: {
        type: "rawscript",
        language: "bun",
        content: "export const main = (answer: { reason: string }) => `refunded: ${answer.reason}`",
        input_transforms: { answer: { type: "javascript", expr: "resume" } },
      },
    },
  ],
};

let server: TestServer;
let place: CliEnvironment;
beforeAll(async () => {
  place = createCliEnvironment();
  server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  const body = { path: "u/admin/refund", summary: "Refunds an order", value: FLOW };
  await expectOk(ask("POST", "/w/acme/flows/create", body));
});
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

async function startWaiting(): Promise<string> {
  const id = (await place.svc(["flow", "run", "u/admin/refund", "order=7", "--async"])).out.trim();
  await until(async () => {
    const job = (await server.operator("GET", `/w/acme/jobs_u/get/${id}`)).json();
    return job.suspend === undefined ? undefined : job;
  }, "the flow to wait");
  return id;
}

test("it is listed as waiting, drawn with its step, and approved with values", async () => {
  const id = await startWaiting();
  for (const status of ["waiting", "running"]) {
    const { out } = await place.svc(["job", "list", "--status", status]);
    expect({ status, listed: out.includes(`${id}\twaiting\t`) }).toEqual({
      status,
      listed: status === "waiting",
    });
  }
  const shown = await place.svc(["job", "get", id]);
  expect(shown.out).toStartWith("waiting  u/admin/refund\n");
  expect(shown.out).toMatch(/├─ \? ask .*waits for approval.* [0-9a-f-]{36}\n└─ ○ pay/);
  expect(shown.err).toContain(`svc job approve ${id} --workspace acme`);

  const page = await (await fetch(/http\S+\/approve\/\S+/.exec(shown.err)![0])).text();
  for (const text of ["Refunds an order", "Refund order 7?", "<dt>order</dt><dd>7</dd>", "reason"]) {
    expect(page).toContain(text);
  }
  const step = /\? ask .* ([0-9a-f-]{36})$/m.exec(shown.out)![1]!;
  for (const [asked, words, error] of [
    [id, [], "the argument reason is missing"],
    [step, [], "the argument reason is missing"],
    [id, ["reson=typo"], "there is no argument reson"],
  ] as const) {
    expect(await place.svc(["job", "approve", asked, ...words])).toEqual({
      code: 2,
      out: "",
      err: formatError(error, "the arguments are: reason: string"),
    });
  }
  const approved = await place.svc(["job", "approve", id, "reason=it arrived broken"]);
  expect(approved).toEqual({ code: 0, out: "", err: `approved ${id}\n` });
  expect(JSON.parse((await place.svc(["job", "result", id, "--wait"])).out)).toBe(
    "refunded: it arrived broken",
  );
  const late = await place.svc(["job", "approve", id]);
  expect([late.code, late.err]).toEqual([1, expect.stringContaining("does not wait for approval")]);
}, 60_000);

test("it is rejected, and the failed flow shows the step", async () => {
  const id = await startWaiting();
  expect((await place.svc(["job", "reject", id])).err).toBe(`rejected ${id}\n`);
  expect((await place.svc(["job", "result", id, "--wait"])).code).toBe(1);
  expect((await place.svc(["job", "get", id])).out).toMatch(/✗ (ask|pay)/);
}, 60_000);
