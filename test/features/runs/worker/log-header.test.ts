/** The header of a job's log: its id, the worker, and the isolation. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { hostname } from "node:os";
import { allEvents, joinLogs } from "../../../support/event-stream.ts";
import { expectOk, until } from "../../../support/harness.ts";
import { type Streaming, startStreaming } from "../../../support/streaming.ts";

let on: Streaming;
beforeAll(async () => {
  on = await startStreaming();
});
afterAll(() => on.stop());

const logOf = async (id: string) => (await expectOk(on.ask("GET", `/w/acme/jobs_u/get_logs/${id}`))).text;
/** Returns the expected log header of a script. */
const head = (id: string, tag: string, worker: string) =>
  `job=${id} tag=${tag}\nworker=${worker} hostname=${hostname()}\nisolation=${on.server.server.app.runner.sandboxSummary()}\n\n`;

test("a log begins with its header in every operation that returns it", async () => {
  const path = await on.script(
    `${on.gates.script}export async function main() { await pass("said"); console.log("said"); await pass("end") }`,
  );
  const id = await on.start(path);
  await until(async () => ((await on.head(id)) === "" ? undefined : true), "the job to begin");
  const { worker } = (await on.ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
  const expected = head(id, "bun", worker);
  expect(worker).toStartWith(`${hostname()}-`);
  expect(await logOf(id)).toBe(expected);
  const followed = on.follow(id);
  on.gates.open("said");
  await until(async () => ((await logOf(id)).endsWith("said\n") ? true : undefined), "what it says");
  const update = (await on.ask("GET", `/w/acme/jobs_u/getupdate/${id}?log_offset=${expected.length}`)).json();
  expect(update).toMatchObject({ new_logs: "said\n", log_offset: expected.length + 5 });
  on.gates.open("end");
  expect(joinLogs(await allEvents(await followed))).toBe(`${expected}said\n`);
  const completed = await on.completed(id);
  const tail = await on.ask("GET", `/w/acme/jobs_u/get_completed_logs_tail/${id}`);
  expect([await logOf(id), completed.logs, tail.text]).toEqual(Array(3).fill(`${expected}said\n`));
});

test("a follower receives the end of a silent or canceled job from any offset", async () => {
  const silent = await on.start(await on.script("export const main = () => 1"));
  const endless = await on.start(await on.script("export const main = () => Bun.sleep(60_000)"));
  await until(async () => ((await on.head(endless)) === "" ? undefined : true), "the job to begin");
  await expectOk(on.ask("POST", `/w/acme/jobs_u/queue/cancel/${endless}`, {}));
  for (const id of [silent, endless]) {
    const { worker, logs } = await on.completed(id);
    const expected = head(id, "bun", worker);
    expect([logs, await logOf(id)]).toEqual([expected, expected]);
    for (const offset of [0, 10, expected.length, expected.length + 10]) {
      const rest = expected.slice(offset);
      const events = await allEvents(await on.follow(id, `log_offset=${offset}`));
      const update = (await on.ask("GET", `/w/acme/jobs_u/getupdate/${id}?log_offset=${offset}`)).json();
      expect([offset, joinLogs(events), update.new_logs ?? ""]).toEqual([offset, rest, rest]);
    }
  }
});

test("a job that has not begun, or that runs no code, has no log header", async () => {
  const queued = (
    await expectOk(
      on.ask(
        "POST",
        `/w/acme/jobs/run/p/${await on.script("export const main = () => 1")}?scheduled_in_secs=600`,
        {},
      ),
    )
  ).text;
  expect(await logOf(queued)).toBe("");
  const value = { modules: [{ id: "a", value: { type: "identity" } }] };
  const flow = (await expectOk(on.ask("POST", "/w/acme/jobs/run/preview_flow", { value, args: {} }))).text;
  await on.completed(flow);
  expect(await logOf(flow)).toBe("");
});
