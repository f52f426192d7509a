/** Result streams: what a script streams, how it reaches who runs and who follows the job, and what is left of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { eq } from "drizzle-orm";
import { jobStreams, jobs } from "../../src/queue/tables.ts";
import { allEvents, eventsOf, type JobEvent, logged, streamed } from "../event-stream.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer, until } from "../harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;
let gates: ReturnType<typeof startGates>;

beforeAll(async () => {
  gates = startGates();
  server = await startTestServer({ max_result_mb: 30, max_stream_mb: 80 });
  ({ ask, token } = await server.workspace());
});
afterAll(async () => {
  await server.stop();
  await gates.stop();
});

/** Where scripts wait until the test lets them go on: `await pass("name")` in a script, `gates.open("name")` here. */
function startGates() {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const gate = (name: string) => {
    let found = waiting.get(name);
    if (!found) {
      found = Promise.withResolvers<void>();
      waiting.set(name, found);
    }
    return found;
  };
  const listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      await gate(new URL(request.url).pathname.slice(1)).promise;
      return new Response("go on");
    },
  });
  const url = `http://127.0.0.1:${listener.port}`;
  return {
    script: `const pass = (name: string) => fetch("${url}/" + name).then((answer) => answer.text());\n`,
    open: (name: string) => gate(name).resolve(),
    async stop() {
      for (const { resolve } of waiting.values()) resolve();
      await listener.stop(true);
    },
  };
}

let deployed = 0;

/** @returns the path of the deployed script */
async function script(content: string, more: object = {}): Promise<string> {
  const path = `u/admin/streams_${++deployed}`;
  await deploy(ask, "acme", path, content, more);
  return path;
}

const headers = () => ({ authorization: `Bearer ${token}` });

const open = (path: string, init: RequestInit = {}) =>
  fetch(`${server.url}/api/w/acme${path}`, { ...init, headers: { ...headers(), ...init.headers } });

const runAndStream = (path: string, query = "", init: RequestInit = {}) =>
  open(`/jobs/run_and_stream/p/${path}${query}`, { method: "POST", body: "{}", ...init });

const follow = (id: string, query = "") => open(`/jobs_u/getupdate_sse/${id}?${query}`);

const start = async (path: string) => (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {}))).text;

async function completed(id: string): Promise<any> {
  return until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);
}

/** Reads events up to the first that fits, and goes on with those after it at the next call. */
function reader(response: Response) {
  const events = eventsOf(response);
  return {
    async upTo(fits: (event: JobEvent) => boolean): Promise<JobEvent[]> {
      const seen: JobEvent[] = [];
      for (;;) {
        const next = await events.next();
        if (next.done) throw new Error(`the stream ended after ${JSON.stringify(seen)}`);
        seen.push(next.value);
        if (fits(next.value)) return seen;
      }
    },
    rest: async () => Array.fromAsync(events),
  };
}

describe("run_and_stream", () => {
  test("tells a piece as it is made, and at the end the whole", async () => {
    const path = await script(
      `${gates.script}export async function* main() { console.log("said"); yield "one\\n"; await pass("second"); yield "two\\n"; }`,
    );
    const response = await runAndStream(path);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache");
    const events = reader(response);
    // The script cannot go on before this has arrived.
    const before = await events.upTo((event) => event.new_result_stream !== undefined);
    expect(before.at(-1)).toEqual({ type: "update", new_result_stream: "one\n", stream_offset: 4 });
    gates.open("second");
    const after = await events.rest();
    expect(streamed(after)).toBe("two\n");
    expect(after.at(-1)).toMatchObject({ type: "update", completed: true, only_result: "one\ntwo\n" });
    expect([...before, ...after].filter((event) => event.completed)).toHaveLength(1);
    expect([...before, ...after].every((event) => event.type === "update")).toBe(true);
    expect(logged([...before, ...after])).toBe("");
  });

  test("makes its pieces also while the script blocks its thread", async () => {
    const path = await script(`export function* main() {
      yield String(Date.now()); Bun.sleepSync(500); yield "|"; yield String(Date.now());
    }`);
    const events = reader(await runAndStream(path));
    await events.upTo((event) => event.new_result_stream !== undefined);
    const arrived = Date.now();
    const rest = await events.rest();
    expect(arrived).toBeLessThan(Number((rest.at(-1)!.only_result as string).split("|")[1]));
  });

  test("is served by path and by hash, by POST and by GET", async () => {
    const path = await script("export async function* main(n: number) { yield `<${n}>` }");
    const { hash } = (await ask("GET", `/w/acme/scripts/get/p/${path}`)).json();
    const payload = Buffer.from('{"n":7}').toString("base64url");
    for (const target of [`p/${path}`, `h/${hash}`]) {
      const posted = await open(`/jobs/run_and_stream/${target}?poll_delay_ms=50`, {
        method: "POST",
        body: '{"n":7}',
      });
      const got = await open(`/jobs/run_and_stream/${target}?payload=${payload}`);
      for (const events of [await allEvents(posted), await allEvents(got)]) {
        expect([target, events.at(-1)]).toEqual([
          target,
          expect.objectContaining({ completed: true, only_result: "<7>" }),
        ]);
      }
    }
  });

  test("begins at once, also when the job has to wait for its turn", async () => {
    await using narrow = await startTestServer({ workers: 1 });
    const { ask, token } = await narrow.workspace();
    await deploy(ask, "acme", "u/admin/held", `${gates.script}export const main = () => pass("held")`);
    await deploy(ask, "acme", "u/admin/next", "export function* main() { yield 'x' }");
    const held = (await ask("POST", "/w/acme/jobs/run/p/u/admin/held", {})).text;
    await until(async () =>
      (await ask("GET", `/w/acme/jobs_u/get/${held}`)).json().running ? true : undefined,
    );
    const response = await fetch(`${narrow.url}/api/w/acme/jobs/run_and_stream/p/u/admin/next`, {
      method: "POST",
      body: "{}",
      headers: { authorization: `Bearer ${token}` },
    });
    const events = reader(response);
    expect(await events.upTo(() => true)).toEqual([{ type: "update", running: expect.any(Boolean) }]);
    gates.open("held");
    const rest = await events.rest();
    expect(streamed(rest)).toBe("x");
    expect(rest.at(-1)).toMatchObject({ completed: true, only_result: "x" });
  });

  test("of a caller who hangs up goes on, and is taken up where it was left", async () => {
    const path = await script(
      `${gates.script}export async function* main() { yield "before "; await pass("hangup"); yield "after" }`,
    );
    const job_id = crypto.randomUUID();
    const controller = new AbortController();
    const response = await runAndStream(path, `?job_id=${job_id}`, { signal: controller.signal });
    expect(response.headers.get("svc-job-id")).toBe(job_id);
    const [seen] = (await reader(response).upTo((event) => event.new_result_stream !== undefined)).slice(-1);
    controller.abort();
    const again = await follow(job_id, `stream_offset=${seen!.stream_offset}&only_result=true&running=true`);
    gates.open("hangup");
    const events = await allEvents(again);
    expect(streamed(events)).toBe("after");
    expect(events.at(-1)).toMatchObject({ completed: true, only_result: "before after" });
    expect(await completed(job_id)).toMatchObject({ success: true, canceled: false });
  });
});

describe("what a script streams", () => {
  const bun = { language: "bun" };
  const python = { language: "python3" };
  const bash = { language: "bash" };
  const emit = 'const emit = (text: string) => console.log("WM_STREAM: " + text.replace(/\\n/g, "\\\\n"));\n';
  const cases: [what: string, content: string, language: object, stream: string, result: unknown][] = [
    [
      "an async generator",
      "export async function* main() { yield 'a'; await 1; yield 'b' }",
      bun,
      "ab",
      "ab",
    ],
    ["a generator", "export function* main() { yield 'a\\n'; yield 'b' }", bun, "a\nb", "a\nb"],
    [
      "a generator of promises",
      "export function* main() { yield Promise.resolve('a'); yield 'b' }",
      bun,
      "ab",
      "ab",
    ],
    ["a generator that yields nothing", "export function* main() {}", bun, "", ""],
    [
      "objects and numbers, a line of JSON each",
      "export function* main() { yield { a: 1 }; yield undefined; yield [2]; yield 3 }",
      bun,
      '{"a":1}\n[2]\n3\n',
      '{"a":1}\n[2]\n3\n',
    ],
    [
      "a ReadableStream of bytes, cut inside a character",
      `export const main = () => new ReadableStream({ start(controller) {
        for (const byte of new TextEncoder().encode("€😀")) controller.enqueue(new Uint8Array([byte]));
        controller.close();
      } })`,
      bun,
      "€😀",
      "€😀",
    ],
    [
      "a Response",
      "export const main = () => new Response('from elsewhere')",
      bun,
      "from elsewhere",
      "from elsewhere",
    ],
    [
      "half pairs, each in a piece of its own",
      "export function* main() { yield 'a\\ud83d'; yield '\\ude00b\\ud83d'; yield 'c\\ud83d' }",
      bun,
      "a😀b\ufffdc\ufffd",
      "a😀b\ufffdc\ufffd",
    ],
    [
      "lines on stdout, and nothing returned",
      `${emit}export function main() { emit("a\\n"); emit("b") }`,
      bun,
      "a\nb",
      "a\nb",
    ],
    [
      "lines on stdout, and an object returned",
      `${emit}export function main() { emit("a"); emit("b"); return { n: 1 } }`,
      bun,
      "ab",
      { n: 1, wm_stream: "ab" },
    ],
    [
      "lines on stdout, and an empty object returned",
      `${emit}export function main() { emit("a"); return {} }`,
      bun,
      "a",
      { wm_stream: "a" },
    ],
    [
      "lines on stdout, and an object that has the field already",
      `${emit}export function main() { emit("a"); return { wm_stream: "b", n: 1 } }`,
      bun,
      "a",
      { wm_stream: "a", n: 1 },
    ],
    [
      "lines on stdout, and a list returned",
      `${emit}export function main() { emit("a"); return [1] }`,
      bun,
      "a",
      [1],
    ],
    [
      "lines on stdout, and a generator returned",
      `${emit}export async function* main() { emit("a"); await Bun.sleep(50); yield "b" }`,
      bun,
      "ab",
      "ab",
    ],
    ["a Python generator", "def main():\n    yield 'ä\\n'\n    yield '😀'", python, "ä\n😀", "ä\n😀"],
    ["a Python iterator", "def main():\n    return iter(['a', 'b'])", python, "ab", "ab"],
    ["a Python list", "def main():\n    return ['a', 'b']", python, "", ["a", "b"]],
    [
      "a Python async generator",
      "import asyncio\nasync def main():\n    yield 'a'\n    await asyncio.sleep(0)\n    yield 'b'",
      python,
      "ab",
      "ab",
    ],
    [
      "a Python async generator on what its main opened",
      `import asyncio
async def main():
    opened = asyncio.get_running_loop()
    async def pieces():
        yield str(asyncio.get_running_loop() is opened)
    return pieces()`,
      python,
      "True",
      "True",
    ],
    [
      "Python bytes cut inside a character, and objects",
      "def main():\n    yield '€'.encode()[:1]\n    yield '€'.encode()[1:]\n    yield None\n    yield {'a': 1}",
      python,
      '€{"a": 1}\n',
      '€{"a": 1}\n',
    ],
    [
      "Python lines on stdout, and an object returned",
      "def main():\n    print('WM_STREAM: a\\\\nb')\n    return {'n': 1}",
      python,
      "a\nb",
      { n: 1, wm_stream: "a\nb" },
    ],
    ["bash lines alone", "echo 'WM_STREAM: a\\n'\necho 'WM_STREAM: ä😀'", bash, "a\nä😀", "a\nä😀"],
    ["bash lines, and a last line", "echo 'WM_STREAM: a'\necho done", bash, "a", "done"],
    [
      "bash lines, and a result.json",
      "echo 'WM_STREAM: a'\necho '{\"n\":1}' > result.json",
      bash,
      "a",
      { n: 1, wm_stream: "a" },
    ],
  ];
  test.each(cases)("%s", async (_, content, language, stream, result) => {
    const path = await script(content, language);
    const response = await runAndStream(path);
    const id = response.headers.get("svc-job-id")!;
    const events = await allEvents(response);
    expect(streamed(events)).toBe(stream);
    const offsets = events.flatMap((event) => event.stream_offset ?? []);
    expect(offsets.at(-1) ?? 0).toBe(stream.length);
    expect(events.at(-1)).toMatchObject({ completed: true, only_result: result as object });
    // Nothing of a stream is log, and who comes later finds the same.
    const later = await allEvents(await follow(id));
    expect(streamed(later)).toBe(stream);
    expect(logged(later)).not.toContain("WM_STREAM");
    expect(later.at(-1)!.job).toMatchObject({
      type: "CompletedJob",
      success: true,
      result: result as object,
    });
    expect(later.at(-1)!.job!.logs).toBeUndefined();
    expect((await ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`)).json()).toEqual(result);
  });

  test("by the SDK of existing scripts", async () => {
    const content = `import { appendToResultStream, streamResult } from "windmill-client@1.818.0";
      async function* pieces() { yield "a\\n"; yield "b" }
      export async function main() { await streamResult(pieces()); appendToResultStream("c"); return { n: 1 } }`;
    const events = await allEvents(await runAndStream(await script(content)));
    expect(streamed(events)).toBe("a\nbc");
    expect(events.at(-1)!.only_result).toEqual({ n: 1, wm_stream: "a\nbc" });
  }, 60_000);

  test("is in the result once, also when the script has put something there", async () => {
    const content = `${emit}export function main() { emit("a"); return { wm_stream: "b", n: 1 } }`;
    const answer = await ask("POST", `/w/acme/jobs/run_wait_result/p/${await script(content)}`, {});
    expect(answer.text).toBe('{"wm_stream":"a","n":1}');
  });

  const halfway: [what: string, content: string, language: object, name: string][] = [
    [
      "TypeScript",
      "export async function* main() { yield 'so far'; throw new RangeError('half way') }",
      bun,
      "RangeError",
    ],
    ["Python", "def main():\n    yield 'so far'\n    raise KeyError('half way')", python, "KeyError"],
    ["bash", "echo 'WM_STREAM: so far'\necho half way >&2\nexit 3", bash, "ExecutionErr"],
  ];
  test.each(halfway)(
    "stays when %s fails half way, and the end tells the error",
    async (_, content, language, name) => {
      const response = await runAndStream(await script(content, language));
      const id = response.headers.get("svc-job-id")!;
      const events = await allEvents(response);
      expect(streamed(events)).toBe("so far");
      const error = { name, message: expect.stringContaining("half way") };
      expect(events.at(-1)).toMatchObject({ completed: true, only_result: { error } });
      const update = (await ask("GET", `/w/acme/jobs_u/getupdate/${id}?only_result=true`)).json();
      expect(update).toMatchObject({ completed: true, new_result_stream: "so far", only_result: { error } });
      expect((await completed(id)).success).toBe(false);
    },
  );

  const endless: [what: string, content: string, language: object][] = [
    [
      "TypeScript",
      "export async function* main() { for (;;) { yield process.pid + ' '; await Bun.sleep(20) } }",
      bun,
    ],
    [
      "busy TypeScript",
      "export function* main() { for (;;) { yield process.pid + ' '; Bun.sleepSync(1) } }",
      bun,
    ],
    [
      "Python",
      "import os, time\ndef main():\n    while True:\n        yield str(os.getpid()) + ' '\n        time.sleep(0.02)",
      python,
    ],
    ["bash", 'while true; do echo "WM_STREAM: $$ "; sleep 0.02; done', bash],
  ];
  test.each(endless)(
    "ends with the job when it is canceled, and so does its process: %s",
    async (_, content, language) => {
      const response = await runAndStream(await script(content, language));
      const id = response.headers.get("svc-job-id")!;
      const events = reader(response);
      const [first] = (await events.upTo((event) => event.new_result_stream !== undefined)).slice(-1);
      const pid = Number.parseInt(first!.new_result_stream!, 10);
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "enough" }));
      const rest = await events.rest();
      expect(rest.at(-1)).toMatchObject({ completed: true, only_result: { error: { name: "Canceled" } } });
      expect(existsSync(`/proc/${pid}`)).toBe(false);
    },
  );
});

describe("following a job", () => {
  const text = "aß😀€\n😀😀z";
  /** Offsets that are handed out: none inside a pair. */
  const offsets = [0, 1, 2, 4, 5, 6, 8, 10, 11];

  test("goes on exactly where an offset says, while the job runs and afterwards", async () => {
    const path = await script(`${gates.script}export async function* main() {
      for (const piece of ${JSON.stringify([...text])}) { yield piece; process.stdout.write(piece) }
      await pass("offsets");
    }`);
    const id = await start(path);
    await until(async () => ((await logOf(id)) === text ? true : undefined));
    const live = await Promise.all(
      offsets.map((offset) => follow(id, `stream_offset=${offset}&log_offset=${offset}&running=true`)),
    );
    gates.open("offsets");
    for (const [index, offset] of offsets.entries()) {
      const rest = text.slice(offset);
      for (const response of [
        live[index]!,
        await follow(id, `stream_offset=${offset}&log_offset=${offset}`),
      ]) {
        const events = await allEvents(response);
        expect([offset, streamed(events), logged(events)]).toEqual([offset, rest, rest]);
        for (const name of ["stream_offset", "log_offset"] as const) {
          const told = events.flatMap((event) => event[name] ?? []);
          expect([offset, told.at(-1) ?? text.length]).toEqual([offset, text.length]);
        }
      }
      const update = (
        await ask("GET", `/w/acme/jobs_u/getupdate/${id}?log_offset=${offset}&stream_offset=${offset}`)
      ).json();
      expect([update.new_result_stream ?? "", update.new_logs ?? ""]).toEqual([rest, rest]);
      expect([update.stream_offset, update.log_offset]).toEqual([text.length, text.length]);
    }
    // Nobody was given an offset inside a pair; who has one all the same gets the whole character.
    const inside = (await ask("GET", `/w/acme/jobs_u/getupdate/${id}?stream_offset=3`)).json();
    expect(inside.new_result_stream).toBe(text.slice(2));
  });

  const logOf = async (id: string) => (await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text;

  test("from any place of a long text, stored or not, gives all of it once", async () => {
    const path = await script(`${gates.script}export async function* main() {
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
    const id = await start(path);
    await until(async () => {
      const update = await ask(
        "GET",
        `/w/acme/jobs_u/getupdate/${id}?stream_offset=${stream.length - 8}&log_offset=${log.length - 8}`,
      );
      return update.json().new_result_stream?.endsWith("199999\n") && update.json().new_logs
        ? true
        : undefined;
    }, "the whole text");
    expect(await logOf(id)).toBe(log);
    const places = [0, 100, 600_000, stream.length - 300_000, stream.length - 10];
    const live = await Promise.all(
      places.map((offset) =>
        follow(id, `stream_offset=${offset}&log_offset=${Math.min(offset, log.length)}`),
      ),
    );
    // Those that are behind have been given a part before the job goes on.
    const readers = live.map((response) => reader(response));
    const begun = await Promise.all(
      readers.map((each) => each.upTo((event) => event.stream_offset !== undefined)),
    );
    gates.open("long");
    for (const [index, offset] of places.entries()) {
      const events = [...begun[index]!, ...(await readers[index]!.rest())];
      expect(streamed(events) === `${stream}the end`.slice(offset)).toBe(true);
      expect(logged(events) === log.slice(Math.min(offset, log.length))).toBe(true);
      expect(events.at(-1)).toMatchObject({ completed: true });
      expect(Math.max(...events.map((event) => event.new_result_stream?.length ?? 0))).toBeLessThan(70_000);
    }
    const later = await allEvents(await follow(id, "only_result=true&no_logs=true"));
    expect(streamed(later) === `${stream}the end`).toBe(true);
    expect(later.at(-1)!.only_result === `${stream}the end`).toBe(true);
    expect(logged(later)).toBe("");
  }, 60_000);

  test("many at once are all told the same", async () => {
    const path = await script(`${gates.script}export async function* main() {
      await pass("many");
      for (let i = 0; i < 50; i++) { yield i + " "; if (i % 10 === 0) await Bun.sleep(1) }
    }`);
    const id = await start(path);
    const whole = Array.from({ length: 50 }, (_, i) => `${i} `).join("");
    const queries = ["only_result=true", "", "no_logs=true&running=true", "stream_offset=4&only_result=true"];
    const followers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => follow(id, queries[i % queries.length]!)),
    );
    gates.open("many");
    for (const [i, response] of followers.entries()) {
      const events = await allEvents(response);
      const query = queries[i % queries.length]!;
      expect([query, streamed(events)]).toEqual([query, query.includes("offset") ? whole.slice(4) : whole]);
      const { completed, only_result, job } = events.at(-1)!;
      expect([completed, only_result ?? job?.result]).toEqual([true, whole]);
      expect(only_result === undefined).toBe(!query.includes("only_result"));
    }
  });

  test("who knows nothing yet is told what is, who knows it only what changes", async () => {
    const path = await script(
      `${gates.script}export async function main() { console.log("begun"); await pass("belief"); return 1 }`,
    );
    const id = await start(path);
    await until(async () => ((await logOf(id)) === "begun\n" ? true : undefined));
    const update = async (query: string) =>
      (await ask("GET", `/w/acme/jobs_u/getupdate/${id}?${query}`)).json();
    expect(await update("")).toEqual({ running: true, new_logs: "begun\n", log_offset: 6 });
    expect(await update("running=false&log_offset=2")).toEqual({
      running: true,
      new_logs: "gun\n",
      log_offset: 6,
    });
    // Clients that ask again at once, until the job has ended, are held up a little.
    const asked = performance.now();
    expect(await update("running=true&log_offset=6")).toEqual({ log_offset: 6 });
    expect(performance.now() - asked).toBeGreaterThan(200);
    expect(await update("running=true&no_logs=true")).toEqual({});
    const known = reader(await follow(id, "running=true&log_offset=6"));
    const unknown = reader(await follow(id, "only_result=true"));
    expect(await known.upTo(() => true)).toEqual([{ type: "update" }]);
    expect(await unknown.upTo(() => true)).toEqual([
      { type: "update", running: true, new_logs: "begun\n", log_offset: 6 },
    ]);
    gates.open("belief");
    const [last, ...more] = await known.rest();
    expect(more).toEqual([]);
    expect(last).toMatchObject({ running: false, completed: true, job: { id, result: 1, success: true } });
    const end = { type: "update", running: false, completed: true, only_result: 1 };
    expect(await unknown.rest()).toEqual([end]);
    expect(await allEvents(await follow(id, "only_result=true&no_logs=true"))).toEqual([
      { ...end, mem_peak: expect.any(Number) },
    ]);
    expect(await update("running=false&log_offset=6&only_result=true")).toMatchObject({
      completed: true,
      only_result: 1,
    });
  });

  test("a job that waits for its time begins with an update, and ends when it is canceled", async () => {
    const path = await script("export const main = () => 1");
    const id = (await ask("POST", `/w/acme/jobs/run/p/${path}?scheduled_in_secs=3600`, {})).text;
    const events = reader(await open(`/job_u/getupdate_sse/${id.toUpperCase()}?only_result=true`));
    expect(await events.upTo(() => true)).toEqual([{ type: "update", running: false }]);
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    expect((await events.rest()).at(-1)).toMatchObject({
      completed: true,
      only_result: { error: { name: "Canceled" } },
    });
  });

  test("the job's progress is told to who asks for it", async () => {
    const path = await script(`${gates.script}export const main = () => pass("progress")`);
    const id = await start(path);
    const progress = (percent: number) =>
      server.server.app.db.write(async (tx) => {
        await tx.update(jobs).set({ progress: percent }).where(eq(jobs.id, id));
      });
    await progress(10);
    const events = reader(await follow(id, "get_progress=true&fast=true"));
    expect((await events.upTo((event) => event.progress !== undefined)).at(-1)!.progress).toBe(10);
    await progress(60);
    expect((await events.upTo((event) => event.progress !== undefined)).at(-1)).toEqual({
      type: "update",
      progress: 60,
    });
    const update = async (query: string) =>
      (await ask("GET", `/w/acme/jobs_u/getupdate/${id}?${query}`)).json();
    expect((await update("get_progress=true")).progress).toBe(60);
    expect((await update("")).progress).toBeUndefined();
    gates.open("progress");
    await events.rest();
  });

  test("what another process runs is told from the database", async () => {
    const id = (
      await ask(
        "POST",
        `/w/acme/jobs/run/p/${await script("export const main = () => 1")}?scheduled_in_secs=3600`,
        {},
      )
    ).text;
    const store = (change: Partial<typeof jobs.$inferInsert>, seq: number, content: string) =>
      server.server.app.db.write(async (tx) => {
        await tx.update(jobs).set(change).where(eq(jobs.id, id));
        await tx.insert(jobStreams).values({ job_id: id, seq, content });
      });
    const events = reader(await follow(id, "get_progress=true&fast=true&only_result=true"));
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

  test("a job that there is not is one event, a job of others is none of a stranger's", async () => {
    const path = await script("export function* main() { yield 'mine' }");
    const id = await start(path);
    await completed(id);
    const stranger = await server.member("acme", "stranger");
    const unknown = "0198f0a0-0000-7000-8000-00000000abcd";
    for (const spelling of ["jobs_u", "job_u"]) {
      const read = (asker: Ask, job: string) =>
        asker("GET", `/w/acme/${spelling}/getupdate_sse/${job}?only_result=true`);
      const notFound = 'data: {"type":"notfound"}\n\n';
      expect((await read(ask, unknown)).text).toBe(notFound);
      expect((await read(stranger.ask, id)).text).toBe(notFound);
      expect((await read(ask, id)).text).toContain('"only_result":"mine"');
      expect((await read(ask, "no-id")).status).toBe(400);
      // Without a login only what was started without one can be read.
      const nobody = await read(server.as(undefined), id);
      expect([nobody.status, nobody.text]).toEqual([400, expect.stringContaining("log in to see this job")]);
      const foreigner = await server.user(`foreigner_${spelling}`);
      expect((await read(foreigner.ask, id)).status).toBe(401);
    }
    await server.server.app.db.write(async (tx) => {
      await tx.update(jobs).set({ created_by: "anonymous" }).where(eq(jobs.id, id));
    });
    const open = await server.as(undefined)("GET", `/w/acme/job_u/getupdate_sse/${id}?only_result=true`);
    expect(open.text).toContain('"only_result":"mine"');
    const update = await server.as(undefined)("GET", `/w/acme/jobs_u/getupdate/${id}`);
    expect(update.json().new_result_stream).toBe("mine");
  });
});
