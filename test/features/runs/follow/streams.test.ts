/** run_and_stream: the call that creates a job and streams it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { allEvents, joinLogs, reader, streamed } from "../../../support/event-stream.ts";
import { until } from "../../../support/harness.ts";
import { type Streaming, startStreaming } from "../../../support/streaming.ts";

let on: Streaming;
beforeAll(async () => {
  on = await startStreaming();
});
afterAll(() => on.stop());

describe("run_and_stream", () => {
  test("sends a chunk when it is produced, and the whole at the end", async () => {
    const path = await on.script(
      `${on.gates.script}export async function* main() { console.log("said"); yield "one\\n"; await pass("second"); yield "two\\n"; }`,
    );
    const response = await on.runAndStream(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const events = reader(response);
    // The script cannot continue before this has arrived.
    const before = await events.upTo((event) => event.new_result_stream !== undefined);
    expect(before.at(-1)).toEqual({ type: "update", new_result_stream: "one\n", stream_offset: 4 });
    on.gates.open("second");
    const after = await events.rest();
    expect(streamed(after)).toBe("two\n");
    expect(after.at(-1)).toMatchObject({ type: "update", completed: true, only_result: "one\ntwo\n" });
    expect([...before, ...after].filter((event) => event.completed)).toHaveLength(1);
    expect([...before, ...after].every((event) => event.type === "update")).toBe(true);
    expect(joinLogs([...before, ...after])).toBe("");
  });

  test("produces its chunks also while the script blocks its thread", async () => {
    const path = await on.script(`export function* main() {
      yield String(Date.now()); Bun.sleepSync(500); yield "|"; yield String(Date.now());
    }`);
    const events = reader(await on.runAndStream(path));
    await events.upTo((event) => event.new_result_stream !== undefined);
    const arrived = Date.now();
    const rest = await events.rest();
    expect(arrived).toBeLessThan(Number((rest.at(-1)!.only_result as string).split("|")[1]));
  });

  test("is served by path and by hash, by POST and by GET", async () => {
    const path = await on.script("export async function* main(n: number) { yield `<${n}>` }");
    const { hash } = (await on.ask("GET", `/w/acme/scripts/get/p/${path}`)).json();
    const payload = Buffer.from('{"n":7}').toString("base64url");
    for (const target of [`p/${path}`, `h/${hash}`]) {
      const posted = await on.open(`/jobs/run_and_stream/${target}?poll_delay_ms=50`, {
        method: "POST",
        body: '{"n":7}',
      });
      const got = await on.open(`/jobs/run_and_stream/${target}?payload=${payload}`);
      for (const events of [await allEvents(posted), await allEvents(got)]) {
        expect([target, events.at(-1)]).toEqual([
          target,
          expect.objectContaining({ completed: true, only_result: "<7>" }),
        ]);
      }
    }
  });

  test("starts at once, also if the job has to wait for a slot", async () => {
    await using narrow = await startStreaming({ workers: 1 });
    const waits = await narrow.script(`${narrow.gates.script}export const main = () => pass("held")`);
    const next = await narrow.script("export function* main() { yield 'x' }");
    const held = await narrow.start(waits);
    await until(async () =>
      (await narrow.ask("GET", `/w/acme/jobs_u/get/${held}`)).json().running ? true : undefined,
    );
    const events = reader(await narrow.runAndStream(next));
    expect(await events.upTo(() => true)).toEqual([{ type: "update", running: expect.any(Boolean) }]);
    narrow.gates.open("held");
    const rest = await events.rest();
    expect(streamed(rest)).toBe("x");
    expect(rest.at(-1)).toMatchObject({ completed: true, only_result: "x" });
  });

  test("of a caller who disconnects continues, and is resumed at its offset", async () => {
    const path = await on.script(
      `${on.gates.script}export async function* main() { yield "before "; await pass("hangup"); yield "after" }`,
    );
    const job_id = crypto.randomUUID();
    const controller = new AbortController();
    const response = await on.runAndStream(path, `?job_id=${job_id}`, { signal: controller.signal });
    expect(response.headers.get("svc-job-id")).toBe(job_id);
    const [seen] = (await reader(response).upTo((event) => event.new_result_stream !== undefined)).slice(-1);
    controller.abort();
    const again = await on.follow(
      job_id,
      `stream_offset=${seen!.stream_offset}&only_result=true&running=true`,
    );
    on.gates.open("hangup");
    const events = await allEvents(again);
    expect(streamed(events)).toBe("after");
    expect(events.at(-1)).toMatchObject({ completed: true, only_result: "before after" });
    expect(await on.completed(job_id)).toMatchObject({ success: true, canceled: false });
  });
});
