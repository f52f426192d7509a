/**
 * A script's function `preprocessor`, which converts the request into main's arguments: semantics of webhooks,
 * rule 7.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { ask, completed, run, server, setUpPreprocessors, token } from "./preprocessors-setup.ts";

setUpPreprocessors();

const stored = async (id: string) => {
  const [row] = await server.server.app.db.read
    .select({ input: jobs.preprocessor_input })
    .from(jobs)
    .where(eq(jobs.id, id));
  return row!.input;
};

interface Dialect {
  language: string;
  event: string;
  named: string;
}

/** main returns its arguments and its process. */
const typescript = {
  event: `
    export async function preprocessor(event: any) {
      await Promise.resolve();
      return { seen: event, at: new Date(0) };
    }
    export const main = (seen: any, at: Date) => ({ seen, year: at.getFullYear(), pid: process.pid });`,
  named: `
    export function preprocessor(wm_trigger: any, b: number, a: string, missing?: string) {
      return { a: a + b, kind: wm_trigger.kind, missing: missing ?? "none" };
    }
    export const main = (a: string, kind: string, missing: string) => ({ a, kind, missing, pid: process.pid });`,
};
const dialects: Dialect[] = [
  { language: "bun", ...typescript },
  { language: "nativets", ...typescript },
  {
    language: "python3",
    event: `
import os
from datetime import datetime, timezone
async def preprocessor(event: dict):
    return {"seen": event, "at": datetime(1970, 1, 1, tzinfo=timezone.utc)}
def main(seen: dict, at: datetime):
    return {"seen": seen, "year": at.year, "pid": os.getpid()}
`,
    named: `
import os
def preprocessor(wm_trigger, b: int, a: str, missing="none"):
    return {"a": a + str(b), "kind": wm_trigger["kind"], "missing": missing}
def main(a: str, kind: str, missing: str):
    return {"a": a, "kind": kind, "missing": missing, "pid": os.getpid()}
`,
  },
];

describe.each(dialects)("in $language", ({ language, event, named }) => {
  const path = `u/admin/named_${language}`;
  beforeAll(() => deploy(ask, "acme", path, named, { language }));

  test("a single parameter `event` receives the request, in a new process and in a warm one", async () => {
    const takesEvent = `u/admin/event_${language}`;
    await deploy(ask, "acme", takesEvent, event, { language });
    const pids = new Set<number>();
    for (const n of [1, 2]) {
      const job = await run(takesEvent, { n }, "?include_query=q&q=x");
      expect(job.result).toMatchObject({
        seen: { kind: "webhook", body: { n }, raw_string: `{"n":${n}}` },
        year: 1970,
      });
      expect(job.result.seen.query).toEqual({ include_query: "q", q: "x" });
      expect(job.result.seen.headers["content-type"]).toBe("application/json");
      // The stored arguments are those that main received.
      expect(job.preprocessed).toBe(true);
      expect(new Date(job.args.at).getTime()).toBe(0);
      expect(job.args).toMatchObject({ seen: job.result.seen });
      pids.add(job.result.pid);
    }
    expect(pids.size).toBe(1);
  });

  test("other parameters receive the arguments by name, and the trigger", async () => {
    const pids = new Set<number>();
    for (const b of [1, 2]) {
      const job = await run(path, { a: "x", b, ignored: true });
      expect(job.result).toMatchObject({ a: `x${b}`, kind: "webhook", missing: "none" });
      expect([job.preprocessed, job.args]).toEqual([true, { a: `x${b}`, kind: "webhook", missing: "none" }]);
      pids.add(job.result.pid);
    }
    expect(pids.size).toBe(1);
  });

  test("skip_preprocessor=true passes the arguments to main unchanged", async () => {
    const job = await run(path, { a: "x", kind: "y", missing: "z" }, "?skip_preprocessor=true");
    expect(job.result).toMatchObject({ a: "x", kind: "y", missing: "z" });
    expect([job.preprocessed, job.args]).toEqual([undefined, { a: "x", kind: "y", missing: "z" }]);
  });
});

describe("the event", () => {
  const path = "u/admin/event";
  beforeAll(() =>
    deploy(
      ask,
      "acme",
      path,
      "export const preprocessor = (event: any) => ({ event });\nexport const main = (event: any) => event",
    ),
  );

  const form = "application/x-www-form-urlencoded";
  const bodies: [what: string, body: string, type: string, query: string, seen: unknown][] = [
    ["an object, to the letter", '{ "a": 1 }', "application/json", "", { a: 1 }],
    ["an array", "[1]", "application/json", "", [1]],
    ["an array, whatever the arguments shall be", "[1]", "application/json", "?wrap_body=true", [1]],
    ["nothing", "", "application/json", "", {}],
    ["null", "null", "application/json", "", {}],
    ["a form", "a=1&b=%20", form, "", { a: "1", b: " " }],
    ["text", "hello", "text/plain", "", "hello"],
    ["a byte order mark", '\ufeff{"a":1}', "application/json", "", { a: 1 }],
  ];

  test.each(bodies)("contains the body and its text: %s", async (_, body, type, query, seen) => {
    const answer = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}${query}`, body, {
      "content-type": type,
    });
    expect([answer.status, answer.json()]).toMatchObject([200, { body: seen, raw_string: body }]);
    expect(answer.json().body).toEqual(seen);
  });

  test("contains the data of a CloudEvent", async () => {
    const body = '{"specversion":"1.0","id":"1","source":"/","type":"t","data":{"a":1}}';
    const headers = { "content-type": "application/cloudevents+json" };
    const answer = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, body, headers);
    expect(answer.json()).toMatchObject({ body: { a: 1 }, raw_string: body });
  });

  test("contains the payload of a GET request", async () => {
    const payload = Buffer.from('{"a": 1}').toString("base64url");
    const answer = await ask("GET", `/w/acme/jobs/run_wait_result/p/${path}?payload=${payload}`);
    expect(answer.json()).toMatchObject({ body: { a: 1 }, raw_string: '{"a": 1}', query: { payload } });
  });

  test("contains every header and query parameter except credentials", async () => {
    const asNobody = server.as(undefined);
    const answer = await asNobody(
      "POST",
      `/w/acme/jobs/run_wait_result/p/${path}?token=${token}&a=1&a=2`,
      {},
      {
        "X-Sign": "abc",
        authorization: "Basic Zm9vOmJhcg==",
        cookie: "other=1",
      },
    );
    const event = answer.json();
    expect(event.query).toEqual({ a: "2" });
    expect(event.headers).toMatchObject({ "x-sign": "abc", "content-type": "application/json" });
    expect(Object.keys(event.headers)).not.toContain("authorization");
    expect(Object.keys(event.headers)).not.toContain("cookie");
    expect(answer.text).not.toContain(token);
  });
});

test("an argument may be called event if it is not the only one", async () => {
  const path = "u/admin/an_event";
  const content = "export const preprocessor = (event: any, wm_trigger: any) => ({ event, wm_trigger })";
  await deploy(ask, "acme", path, `${content}\nexport const main = ({ ...all }: object) => all`);
  const job = await run(path, { event: 1 });
  expect(job.result).toEqual({ event: 1, wm_trigger: { kind: "webhook" } });
});

describe("the preprocessor's input", () => {
  const path = "u/admin/kept";
  const headers = { "x-api-key": "secret-of-the-sender" };
  beforeAll(() =>
    deploy(
      ask,
      "acme",
      path,
      "export const preprocessor = (event: any) => ({ n: event.body.n })\nexport const main = (n: number) => n",
    ),
  );

  test("is stored until the job has run, and returned to nobody", async () => {
    const call = ask("POST", `/w/acme/jobs/run/p/${path}?scheduled_in_secs=3600`, { n: 1 }, headers);
    const id = (await expectOk(call)).text;
    const waiting = await ask("GET", `/w/acme/jobs_u/get/${id}`);
    expect(waiting.json()).toMatchObject({ type: "QueuedJob", args: { n: 1 } });
    expect(waiting.text).not.toContain("secret-of-the-sender");
    expect(await stored(id)).toContain("secret-of-the-sender");

    await server.server.app.db.write(async (tx) => {
      await tx
        .update(jobs)
        .set({ scheduled_for: new Date(0) })
        .where(eq(jobs.id, id));
      tx.afterCommit(() => server.server.app.queue.wake());
    });
    expect(await completed(id)).toMatchObject({ result: 1, preprocessed: true });
    expect(await stored(id)).toBeNull();
  });

  test("is deleted with a job that is canceled before it ran", async () => {
    const call = ask("POST", `/w/acme/jobs/run/p/${path}?scheduled_in_secs=3600`, { n: 1 }, headers);
    const id = (await expectOk(call)).text;
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    expect(await completed(id)).toMatchObject({ canceled: true, args: { n: 1 } });
    expect(await stored(id)).toBeNull();
  });
});

describe("a flow's preprocessor", () => {
  const headers = { "x-api-key": "secret-of-the-sender" };
  const raw = (id: string, content: string, input_transforms: object = {}) => ({
    id,
    value: { type: "rawscript", language: "bun", content, input_transforms },
  });
  const push = async (path: string, content: string, modules: object[]) => {
    const value = { preprocessor_module: raw("preprocessor", content), modules };
    await expectOk(ask("POST", "/w/acme/flows/create", { path, summary: "", value }));
    return path;
  };
  const identity = { id: "a", value: { type: "identity" } };
  const READS = `export async function preprocessor(event: any) {
    return { kind: event.kind, body: event.body, q: event.query.q, key: event.headers["x-api-key"].length };
  }`;
  const wanted = { kind: "webhook", body: { n: [1] }, q: "1", key: 20 };
  const startedAs = async (path: string, query: string) =>
    (await expectOk(ask("POST", `/w/acme/jobs/run/f/${path}${query}`, { n: [1] }, headers))).text;

  test("receives the request, and returns the flow's input", async () => {
    const path = await push("u/admin/flow_reads", READS, [identity]);
    const call = ask("POST", `/w/acme/jobs/run_wait_result/f/${path}?q=1`, { n: [1] }, headers);
    expect((await expectOk(call)).json()).toEqual(wanted);
    const job = await completed(await startedAs(path, "?q=1"));
    expect(job).toMatchObject({ args: wanted, result: wanted, preprocessed: true });
    const skipped = await expectOk(
      ask("POST", `/w/acme/jobs/run_wait_result/f/${path}?skip_preprocessor=true`, { n: 1 }),
    );
    expect(skipped.json()).toEqual({ n: 1 });
  });

  test("receives the arguments by name if it declares them", async () => {
    const content =
      "export const preprocessor = (wm_trigger: any, n: number[], q: string) => ({ wm_trigger, n, q })";
    const path = await push("u/admin/flow_named", content, [identity]);
    const job = await completed(await startedAs(path, "?include_query=q&q=1"));
    expect(job.result).toEqual({ wm_trigger: { kind: "webhook" }, n: [1], q: "1" });
  });

  test("shows its input to nobody, and nothing remains after the run", async () => {
    const gate = { ...identity, suspend: { required_events: 1 } };
    const seen = raw("z", "export const main = (all: any) => all", {
      all: { type: "javascript", expr: "flow_input" },
    });
    const path = await push("u/admin/flow_waits", READS, [gate, seen]);
    const id = await startedAs(path, "?q=1");
    await until(async () => {
      const { suspend } = (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
      return suspend === 1 ? true : undefined;
    }, "the flow to wait");
    expect(await stored(id)).toBeNull();
    const { flow_status } = (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
    const step = flow_status.preprocessor_module.job;
    expect((await completed(step)).args).toEqual({});
    expect(await stored(step)).toBeNull();
    await expectOk(ask("POST", `/w/acme/jobs/flow/resume/${id}`, {}));
    expect((await completed(id)).result).toEqual(wanted);
  });

  test("in a flow that starts later receives the same, and its failure is the flow's", async () => {
    const path = await push("u/admin/flow_later", READS, [identity]);
    const id = await startedAs(path, "?q=1&scheduled_in_secs=1");
    expect((await completed(id)).result).toEqual(wanted);
    const content = "export function preprocessor(event: any) { throw new Error('no ' + event.kind) }";
    const fails = await push("u/admin/flow_fails", content, [identity]);
    const { success, result } = await completed(await startedAs(fails, ""));
    expect([success, result.error.message, result.error.step_id]).toEqual([
      false,
      "no webhook",
      "preprocessor",
    ]);
  });
});
