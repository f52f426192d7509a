/** The stream of a flow's last step is the flow's stream. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { allEvents, reader, streamed } from "../../../support/event-stream.ts";
import { expectOk } from "../../../support/harness.ts";
import { type Streaming, startStreaming } from "../../../support/streaming.ts";

let on: Streaming;
beforeAll(async () => {
  on = await startStreaming();
});
afterAll(() => on.stop());

const script = (id: string, content: string, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: {} },
  ...more,
});
let count = 0;
async function push(modules: object[]): Promise<string> {
  const path = `u/admin/flow_${++count}`;
  await expectOk(on.ask("POST", "/w/acme/flows/create", { path, summary: "", value: { modules } }));
  return path;
}
const runAndStream = (path: string) =>
  on.open(`/jobs/run_and_stream/f/${path}`, { method: "POST", body: "{}" });
const other = script("a", `export function* main() { yield "not this" }`);

test("run_and_stream sends chunks as they are produced, and the whole at the end", async () => {
  const last = script(
    "b",
    `${on.gates.script}export async function* main() { yield "one\\n"; await pass("second"); yield "two\\n" }`,
  );
  const response = await runAndStream(await push([other, last]));
  const events = reader(response);
  const before = await events.upTo((event) => event.new_result_stream !== undefined);
  expect(before.at(-1)).toMatchObject({ type: "update", new_result_stream: "one\n", stream_offset: 4 });
  const id = response.headers.get("svc-job-id")!;
  // A later reader receives what has been streamed so far, and the rest.
  const late = reader(await on.follow(id));
  await late.upTo((event) => event.new_result_stream === "one\n");
  on.gates.open("second");
  const after = await events.rest();
  expect(streamed(after)).toBe("two\n");
  expect(after.at(-1)).toMatchObject({ completed: true, only_result: "one\ntwo\n" });
  expect(streamed(await late.rest())).toBe("two\n");
  const afterwards = await allEvents(await on.follow(id));
  expect(streamed(afterwards)).toBe("one\ntwo\n");
  expect((afterwards.at(-1)!.job as any).result).toBe("one\ntwo\n");
});

test("a flow that continues after its last step is followed to its end", async () => {
  const failing = script("b", `export function* main() { yield "so far"; throw new Error("no") }`);
  const path = `u/admin/flow_${++count}`;
  const failure_module = script(
    "failure",
    `${on.gates.script}export const main = async () => { await pass("mend"); return "mended" }`,
  );
  const body = { path, summary: "", value: { modules: [failing], failure_module } };
  await expectOk(on.ask("POST", "/w/acme/flows/create", body));
  const events = reader(await runAndStream(path));
  await events.upTo((event) => event.new_result_stream === "so far");
  on.gates.open("mend");
  expect((await events.rest()).at(-1)).toMatchObject({ completed: true, only_result: "mended" });
});

test("other steps, and steps with retries, are not forwarded to the flow's stream", async () => {
  const retry = { constant: { attempts: 1, seconds: 0 } };
  const plain = script("b", "export const main = () => 1");
  for (const modules of [[other, plain], [script("a", `export function* main() { yield "x" }`, { retry })]]) {
    const events = await allEvents(await runAndStream(await push(modules)));
    expect(streamed(events)).toBe("");
    expect(events.at(-1)).toMatchObject({ completed: true });
  }
});
