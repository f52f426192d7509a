/** Result streams of scripts in every language, and the stored stream after the job's end. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { allEvents, joinLogs, reader, streamed } from "../../../support/event-stream.ts";
import { expectOk } from "../../../support/harness.ts";
import { type Streaming, startStreaming } from "../../../support/streaming.ts";

let on: Streaming;
beforeAll(async () => {
  on = await startStreaming();
});
afterAll(() => on.stop());

describe("the stream of a script", () => {
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
    [
      "lines on stdout, and a generator that yields nothing",
      `${emit}export function* main() { emit("a") }`,
      bun,
      "a",
      "a",
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
    const path = await on.script(content, language);
    const response = await on.runAndStream(path);
    const id = response.headers.get("svc-job-id")!;
    const events = await allEvents(response);
    expect(streamed(events)).toBe(stream);
    const offsets = events.flatMap((event) => event.stream_offset ?? []);
    expect(offsets.at(-1) ?? 0).toBe(stream.length);
    expect(events.at(-1)).toMatchObject({ completed: true, only_result: result as object });
    // No part of the stream is in the log, and later readers receive the same.
    const later = await allEvents(await on.follow(id));
    expect(streamed(later)).toBe(stream);
    expect(joinLogs(later)).not.toContain("WM_STREAM");
    expect(later.at(-1)!.job).toMatchObject({
      type: "CompletedJob",
      success: true,
      result: result as object,
    });
    expect(later.at(-1)!.job!.logs).toBeUndefined();
    expect((await on.ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`)).json()).toEqual(result);
  });

  test("by the SDK of existing scripts", async () => {
    const content = `import { appendToResultStream, streamResult } from "windmill-client@1.818.0";
      async function* pieces() { yield "a\\n"; yield "b" }
      export async function main() { await streamResult(pieces()); appendToResultStream("c"); return { n: 1 } }`;
    const events = await allEvents(await on.runAndStream(await on.script(content)));
    expect(streamed(events)).toBe("a\nbc");
    expect(events.at(-1)!.only_result).toEqual({ n: 1, wm_stream: "a\nbc" });
  }, 60_000);

  test("is in the result once, also if the script has set that field", async () => {
    const content = `${emit}export function main() { emit("a"); return { wm_stream: "b", n: 1 } }`;
    const answer = await on.ask("POST", `/w/acme/jobs/run_wait_result/p/${await on.script(content)}`, {});
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
    "stays when %s fails in the middle, and the last event has the error",
    async (_, content, language, name) => {
      const response = await on.runAndStream(await on.script(content, language));
      const id = response.headers.get("svc-job-id")!;
      const events = await allEvents(response);
      expect(streamed(events)).toBe("so far");
      const error = { name, message: expect.stringContaining("half way") };
      expect(events.at(-1)).toMatchObject({ completed: true, only_result: { error } });
      const update = (await on.ask("GET", `/w/acme/jobs_u/getupdate/${id}?only_result=true`)).json();
      expect(update).toMatchObject({ completed: true, new_result_stream: "so far", only_result: { error } });
      expect((await on.completed(id)).success).toBe(false);
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
      const response = await on.runAndStream(await on.script(content, language));
      const id = response.headers.get("svc-job-id")!;
      const events = reader(response);
      const [first] = (await events.upTo((event) => event.new_result_stream !== undefined)).slice(-1);
      const pid = Number.parseInt(first!.new_result_stream!, 10);
      expect(existsSync(`/proc/${pid}`)).toBe(true);
      await expectOk(on.ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "enough" }));
      const rest = await events.rest();
      expect(rest.at(-1)).toMatchObject({ completed: true, only_result: { error: { name: "Canceled" } } });
      expect(existsSync(`/proc/${pid}`)).toBe(false);
    },
  );
});
