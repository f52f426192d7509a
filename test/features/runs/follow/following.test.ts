/** getupdate and getupdate_sse: following a job, from any offset, while it runs and afterwards. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { jobStreams, jobs } from "../../../../src/platform/queue/tables.ts";
import { allEvents, joinLogs, reader, streamed } from "../../../support/event-stream.ts";
import { type Ask, expectOk, until } from "../../../support/harness.ts";
import { type Streaming, startStreaming } from "../../../support/streaming.ts";

let on: Streaming;
beforeAll(async () => {
  on = await startStreaming();
});
afterAll(() => on.stop());

describe("following a job", () => {
  const text = "aß😀€\n😀😀z";
  /** Valid offsets: none is inside a surrogate pair. */
  const offsets = [0, 1, 2, 4, 5, 6, 8, 10, 11];

  test("resumes exactly at an offset, during the job and after it", async () => {
    const path = await on.script(`${on.gates.script}export async function* main() {
      for (const piece of ${JSON.stringify([...text])}) { yield piece; process.stdout.write(piece) }
      await pass("offsets");
    }`);
    const id = await on.start(path);
    await until(async () => ((await on.log(id)) === text ? true : undefined));
    const head = (await on.head(id)).length;
    const live = await Promise.all(
      offsets.map((offset) =>
        on.follow(id, `stream_offset=${offset}&log_offset=${head + offset}&running=true`),
      ),
    );
    on.gates.open("offsets");
    for (const [index, offset] of offsets.entries()) {
      const rest = text.slice(offset);
      for (const response of [
        live[index]!,
        await on.follow(id, `stream_offset=${offset}&log_offset=${head + offset}`),
      ]) {
        const events = await allEvents(response);
        expect([offset, streamed(events), joinLogs(events)]).toEqual([offset, rest, rest]);
        for (const [name, length] of [
          ["stream_offset", text.length],
          ["log_offset", head + text.length],
        ] as const) {
          const told = events.flatMap((event) => event[name] ?? []);
          expect([offset, told.at(-1) ?? length]).toEqual([offset, length]);
        }
      }
      const update = (
        await on.ask(
          "GET",
          `/w/acme/jobs_u/getupdate/${id}?log_offset=${head + offset}&stream_offset=${offset}`,
        )
      ).json();
      expect([update.new_result_stream ?? "", update.new_logs ?? ""]).toEqual([rest, rest]);
      expect([update.stream_offset, update.log_offset]).toEqual([text.length, head + text.length]);
    }
    // No offset inside a pair is ever returned; a client that sends one receives the whole character.
    const inside = (await on.ask("GET", `/w/acme/jobs_u/getupdate/${id}?stream_offset=3`)).json();
    expect(inside.new_result_stream).toBe(text.slice(2));
  });

  test("from any offset of a long text, stored or not, returns all of it once", async () => {
    const path = await on.script(`${on.gates.script}export async function* main() {
      for (let i = 0; i < 200_000; i++) {
        const line = "line 😀 " + i + "\\n";
        yield line;
        if (i % 10 === 0) process.stdout.write(line.repeat(10));
        if (i % 20_000 === 0) await Bun.sleep(1);
      }
      await pass("long");
      yield "the end";
    }`);
    const lines = Array.from({ length: 200_000 }, (_, i) => `line 😀 ${i}\n`);
    const stream = lines.join("");
    const log = lines
      .filter((_, i) => i % 10 === 0)
      .map((line) => line.repeat(10))
      .join("");
    const id = await on.start(path);
    await until(async () => {
      const update = await on.ask(
        "GET",
        `/w/acme/jobs_u/getupdate/${id}?stream_offset=${stream.length - 8}&log_offset=${log.length - 8}`,
      );
      return update.json().new_result_stream?.endsWith("199999\n") && update.json().new_logs
        ? true
        : undefined;
    }, "the whole text");
    expect((await on.log(id)) === log).toBe(true);
    const head = (await on.head(id)).length;
    const places = [0, 100, 600_000, stream.length - 300_000, stream.length - 10];
    const live = await Promise.all(
      places.map((offset) =>
        on.follow(id, `stream_offset=${offset}&log_offset=${head + Math.min(offset, log.length)}`),
      ),
    );
    // Slow readers have received a part before the job continues.
    const readers = live.map((response) => reader(response));
    const begun = await Promise.all(
      readers.map((each) => each.upTo((event) => event.stream_offset !== undefined)),
    );
    on.gates.open("long");
    for (const [index, offset] of places.entries()) {
      const events = [...begun[index]!, ...(await readers[index]!.rest())];
      expect(streamed(events) === `${stream}the end`.slice(offset)).toBe(true);
      expect(joinLogs(events) === log.slice(Math.min(offset, log.length))).toBe(true);
      expect(events.at(-1)).toMatchObject({ completed: true });
      expect(Math.max(...events.map((event) => event.new_result_stream?.length ?? 0))).toBeLessThan(70_000);
    }
    const later = await allEvents(await on.follow(id, "only_result=true&no_logs=true"));
    expect(streamed(later) === `${stream}the end`).toBe(true);
    expect(later.at(-1)!.only_result === `${stream}the end`).toBe(true);
    expect(joinLogs(later)).toBe("");
  }, 60_000);

  test("many concurrent callers get the same response", async () => {
    const path = await on.script(`${on.gates.script}export async function* main() {
      await pass("many");
      for (let i = 0; i < 50; i++) { yield i + " "; if (i % 10 === 0) await Bun.sleep(1) }
    }`);
    const id = await on.start(path);
    const whole = Array.from({ length: 50 }, (_, i) => `${i} `).join("");
    const queries = ["only_result=true", "", "no_logs=true&running=true", "stream_offset=4&only_result=true"];
    const followers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => on.follow(id, queries[i % queries.length]!)),
    );
    on.gates.open("many");
    for (const [i, response] of followers.entries()) {
      const events = await allEvents(response);
      const query = queries[i % queries.length]!;
      expect([query, streamed(events)]).toEqual([query, query.includes("offset") ? whole.slice(4) : whole]);
      const { completed, only_result, job } = events.at(-1)!;
      expect([completed, only_result]).toEqual([true, whole]);
      expect(job?.result).toBe(query.includes("only_result") ? undefined : whole);
    }
  });

  test("a caller without state gets the current one, others only changes", async () => {
    const path = await on.script(
      `${on.gates.script}export async function main() { console.log("begun"); await pass("belief"); return 1 }`,
    );
    const id = await on.start(path);
    await until(async () => ((await on.log(id)) === "begun\n" ? true : undefined));
    const update = async (query: string) =>
      (await on.ask("GET", `/w/acme/jobs_u/getupdate/${id}?${query}`)).json();
    const head = await on.head(id);
    const end_of_log = head.length + 6;
    const all = { running: true, new_logs: `${head}begun\n`, log_offset: end_of_log };
    expect(await update("")).toEqual(all);
    expect(await update(`running=false&log_offset=${head.length + 2}`)).toEqual({
      ...all,
      new_logs: "gun\n",
    });
    // Clients that poll again at once are delayed a little, until the job has ended.
    const asked = performance.now();
    expect(await update(`running=true&log_offset=${end_of_log}`)).toEqual({ log_offset: end_of_log });
    expect(performance.now() - asked).toBeGreaterThan(200);
    expect(await update("running=true&no_logs=true")).toEqual({});
    const known = reader(await on.follow(id, `running=true&log_offset=${end_of_log}`));
    const unknown = reader(await on.follow(id, "only_result=true"));
    expect(await known.upTo(() => true)).toEqual([{ type: "update" }]);
    expect(await unknown.upTo(() => true)).toEqual([{ type: "update", ...all }]);
    on.gates.open("belief");
    const [last, ...more] = await known.rest();
    expect(more).toEqual([]);
    expect(last).toMatchObject({ running: false, completed: true, job: { id, result: 1, success: true } });
    const end = { type: "update", running: false, completed: true, only_result: 1 };
    expect(await unknown.rest()).toEqual([end]);
    expect(await allEvents(await on.follow(id, "only_result=true&no_logs=true"))).toEqual([
      { ...end, mem_peak: expect.any(Number) },
    ]);
    expect(await update(`running=false&log_offset=${end_of_log}&only_result=true`)).toMatchObject({
      completed: true,
      only_result: 1,
    });
  });

  test("a job scheduled for later sends an update first, and ends when it is canceled", async () => {
    const path = await on.script("export const main = () => 1");
    const id = (await on.ask("POST", `/w/acme/jobs/run/p/${path}?scheduled_in_secs=3600`, {})).text;
    const events = reader(await on.open(`/job_u/getupdate_sse/${id.toUpperCase()}?only_result=true`));
    expect(await events.upTo(() => true)).toEqual([{ type: "update", running: false }]);
    await expectOk(on.ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    expect((await events.rest()).at(-1)).toMatchObject({
      completed: true,
      only_result: { error: { name: "Canceled" } },
    });
  });

  test("the job's progress is sent on request", async () => {
    const path = await on.script(`${on.gates.script}export const main = () => pass("progress")`);
    const id = await on.start(path);
    const progress = (percent: number) =>
      on.server.server.app.db.write(async (tx) => {
        await tx.update(jobs).set({ progress: percent }).where(eq(jobs.id, id));
      });
    await progress(10);
    const events = reader(await on.follow(id, "get_progress=true&fast=true"));
    expect((await events.upTo((event) => event.progress !== undefined)).at(-1)!.progress).toBe(10);
    await progress(60);
    expect((await events.upTo((event) => event.progress !== undefined)).at(-1)).toEqual({
      type: "update",
      progress: 60,
    });
    const update = async (query: string) =>
      (await on.ask("GET", `/w/acme/jobs_u/getupdate/${id}?${query}`)).json();
    expect((await update("get_progress=true")).progress).toBe(60);
    expect((await update("")).progress).toBeUndefined();
    on.gates.open("progress");
    await events.rest();
  });

  test("output of another process is sent from the database", async () => {
    const id = (
      await on.ask(
        "POST",
        `/w/acme/jobs/run/p/${await on.script("export const main = () => 1")}?scheduled_in_secs=3600`,
        {},
      )
    ).text;
    const store = (change: Partial<typeof jobs.$inferInsert>, seq: number, content: string) =>
      on.server.server.app.db.write(async (tx) => {
        await tx.update(jobs).set(change).where(eq(jobs.id, id));
        await tx.insert(jobStreams).values({ job_id: id, seq, content });
      });
    const events = reader(await on.follow(id, "get_progress=true&fast=true&only_result=true"));
    await events.upTo(() => true);
    await store({ state: "running", worker: "elsewhere" }, 0, "first ");
    const first = await events.upTo((event) => event.new_result_stream !== undefined);
    expect(first.at(-1)).toMatchObject({ running: true, new_result_stream: "first ", stream_offset: 6 });
    const end = {
      state: "completed",
      status: "success",
      result: '"first second"',
      completed_at: new Date(),
    } as const;
    await store(end, 6, "second");
    expect((await events.rest()).at(-1)).toMatchObject({
      running: false,
      completed: true,
      new_result_stream: "second",
      only_result: "first second",
    });
  });

  test("a missing job is a 404, and so is a job of others", async () => {
    const path = await on.script("export function* main() { yield 'mine' }");
    const id = await on.start(path);
    await on.completed(id);
    const stranger = await on.server.member("acme", "stranger");
    const unknown = "0198f0a0-0000-7000-8000-00000000abcd";
    for (const spelling of ["jobs_u", "job_u"]) {
      const read = (asker: Ask, job: string) =>
        asker("GET", `/w/acme/${spelling}/getupdate_sse/${job}?only_result=true`);
      for (const answer of [await read(on.ask, unknown), await read(stranger.ask, id)]) {
        const type = answer.headers.get("content-type");
        expect([answer.status, type]).toEqual([404, "text/plain; charset=utf-8"]);
      }
      expect((await read(on.ask, id)).text).toContain('"only_result":"mine"');
      expect((await read(on.ask, "no-id")).status).toBe(400);
      // Without a login, only jobs that were started without one can be read.
      const nobody = await read(on.server.as(undefined), id);
      expect([nobody.status, nobody.text]).toEqual([400, expect.stringContaining("log in to see this job")]);
      const foreigner = await on.server.user(`foreigner_${spelling}`);
      expect((await read(foreigner.ask, id)).status).toBe(401);
    }
    await on.server.server.app.db.write(async (tx) => {
      await tx.update(jobs).set({ created_by: "anonymous" }).where(eq(jobs.id, id));
    });
    const open = await on.server.as(undefined)("GET", `/w/acme/job_u/getupdate_sse/${id}?only_result=true`);
    expect(open.text).toContain('"only_result":"mine"');
    const whole = await on.server.as(undefined)("GET", `/w/acme/job_u/getupdate_sse/${id}`);
    const last = JSON.parse(whole.text.trim().split("\n\n").at(-1)!.slice("data: ".length));
    expect(last).toMatchObject({
      completed: true,
      only_result: "mine",
      job: { email: "", permissioned_as: "" },
    });
    const update = await on.server.as(undefined)("GET", `/w/acme/jobs_u/getupdate/${id}`);
    expect(update.json().new_result_stream).toBe("mine");
  });
});
