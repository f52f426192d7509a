/** The synchronous endpoint with random input: never a 500, a lost job, or a hung connection. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type Ask, deploy, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;
let hash: string;

const RUNS = 300;
/** A connection that takes longer hangs: the slowest of these calls takes milliseconds. */
const HUNG_MS = 20_000;

beforeAll(async () => {
  server = await startTestServer({ workers: 4, max_body_mb: 1 });
  ({ ask, token } = await server.workspace());
  const echo =
    "export function main(body: unknown, raw_string: unknown, a: unknown) { return { body, raw_string, a } }";
  hash = await deploy(ask, "acme", "u/admin/echo", echo);
  const answers = "export function main(answer: string) { return JSON.parse(answer) }";
  await deploy(ask, "acme", "u/admin/answers", answers);
  const made = `export function preprocessor(event: any) { return { a: event.kind, body: event.body } }
${echo}`;
  await deploy(ask, "acme", "u/admin/made", made);
});
afterAll(() => server.stop());

const contentType = fc.oneof(
  fc.constantFrom(
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "text/plain; charset=utf-16le",
    "text/plain; charset=no-such",
    "application/xml",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=x",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
    "application/octet-stream",
    "application/vnd.api+json",
    "*/*",
    ";;;",
  ),
  fc.stringMatching(/^[\x21-\x7e]{1,30}$/),
  fc.constant(undefined),
);

const text = fc.oneof(fc.string({ unit: "binary" }), fc.json(), fc.webQueryParameters());
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  text.map((value) => new TextEncoder().encode(value)),
  fc.json({ depthSize: "large" }).map((value) => new TextEncoder().encode(value)),
);

const flagText = fc.constantFrom("true", "false", "1", "0", "", "maybe");
/** Few at once: most generated values are invalid somewhere, which hides the others. */
const few = <T>(all: fc.Arbitrary<Record<string, T>>) =>
  fc
    .tuple(all, fc.array(fc.nat({ max: 13 }), { maxLength: 2 }))
    .map(([record, chosen]) =>
      Object.fromEntries(Object.entries(record).filter((_, index) => chosen.includes(index))),
    );

const query: fc.Arbitrary<Record<string, string>> = few(
  fc.record<Record<string, string>>({
    raw: flagText,
    wrap_body: flagText,
    skip_preprocessor: flagText,
    error_status: flagText,
    include_header: fc.oneof(fc.constant("content-type,x-a"), fc.string({ maxLength: 20 })),
    include_query: fc.oneof(fc.constant("a,b"), fc.string({ maxLength: 20 })),
    payload: fc.oneof(fc.base64String(), fc.string({ unit: "binary", maxLength: 30 })),
    a: fc.string({ unit: "binary", maxLength: 10 }),
    tag: fc.string({ maxLength: 10 }),
    timeout: fc.constantFrom("1", "60", "-1", "x", "1e99"),
    cache_ttl: fc.constantFrom("0", "5", "-5", "abc"),
    queue_limit: fc.constantFrom("1000", "-1", "NaN"),
    job_id: fc.oneof(fc.uuid(), fc.constant("no-uuid")),
    parent_job: fc.oneof(fc.uuid(), fc.constant("")),
  }),
);

const header: fc.Arbitrary<Record<string, string>> = few(
  fc.record<Record<string, string>>({
    "x-a": fc.stringMatching(/^[\x20-\x7e]{0,20}$/),
    "idempotency-key": fc.oneof(fc.uuid(), fc.stringMatching(/^[\x21-\x7e]{1,20}$/)),
    "ce-specversion": fc.constantFrom("1.0", "0.3", "9"),
    "ce-id": fc.constant("1"),
    "ce-type": fc.constantFrom("t", ""),
    "ce-source": fc.constant("/s"),
  }),
);

interface Call {
  method: string;
  target: string;
  type: string | undefined;
  body: Uint8Array;
  query: Record<string, string | undefined>;
  headers: Record<string, string | undefined>;
}

async function send({ method, target, type, body, query, headers }: Call): Promise<Response> {
  const given = (record: Record<string, string | undefined>) =>
    Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >;
  const search = new URLSearchParams(given(query));
  return fetch(`${server.url}/api/w/acme/jobs/run_wait_result/${target}?${search}`, {
    method,
    headers: {
      ...given(headers),
      ...(type === undefined ? {} : { "content-type": type }),
      authorization: `Bearer ${token}`,
    },
    ...(method === "POST" ? { body: Buffer.from(body) } : {}),
    signal: AbortSignal.timeout(HUNG_MS),
  });
}

async function allJobsEnded(): Promise<void> {
  await until(async () => {
    const open = (await ask("GET", "/w/acme/jobs/queue/list")).json();
    return open.length === 0 ? true : undefined;
  }, "all jobs to end");
}

test("any request gets a result or an error, and its job ends", async () => {
  let answered = 0;
  const call = fc.record({
    method: fc.constantFrom("POST", "POST", "POST", "GET"),
    target: fc.constantFrom(
      "p/u/admin/echo",
      "hash",
      "p/u/admin/made",
      "p/u/admin/nothing",
      "f/u/admin/echo",
    ),
    type: contentType,
    body: payload,
    query,
    headers: header,
  });
  await fc.assert(
    fc.asyncProperty(call, async (drawn) => {
      const target = drawn.target === "hash" ? `h/${hash}` : drawn.target;
      const answer = await send({ ...drawn, target });
      const body = await answer.text();
      if (answer.status >= 500) throw new Error(`${answer.status} ${body}`);
      if (answer.status === 200) answered++;
      else expect(body).not.toBe("");
    }),
    { numRuns: RUNS },
  );
  expect(answered).toBeGreaterThan(RUNS / 10);
  await allJobsEnded();
}, 120_000);

test("any result becomes a response: as JSON, or by its response controls", async () => {
  const control = (suffix: string, value: fc.Arbitrary<unknown>) =>
    fc
      .tuple(fc.constantFrom("wm_", "svc_", "windmill_"), value)
      .map(([prefix, inner]) => ({ [prefix + suffix]: inner }));
  const anything = fc.jsonValue();
  const controlled = fc
    .tuple(
      // Status codes and headers that no response can have are errors of the script, tested separately.
      control("status_code", fc.oneof(fc.integer({ min: 200, max: 599 }), fc.string(), fc.constant(null))),
      control("content_type", fc.oneof(fc.constantFrom("text/html", "image/png"), fc.integer())),
      control("headers", fc.oneof(fc.constant({ "x-made": "1" }), fc.string(), fc.array(fc.integer()))),
      control("failure", fc.oneof(fc.string(), fc.boolean())),
      fc.oneof(fc.constant({}), fc.record({ result: anything })),
      fc.subarray([0, 1, 2, 3, 4]),
    )
    .map(([status, type, headers, failure, result, chosen]) =>
      Object.assign({}, ...chosen.map((index) => [status, type, headers, failure, result][index])),
    );
  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, controlled), async (result) => {
      const answer = await send({
        method: "POST",
        target: "p/u/admin/answers",
        type: "application/json",
        body: new TextEncoder().encode(JSON.stringify({ answer: JSON.stringify(result) })),
        query: {},
        headers: {},
      });
      const body = await answer.text();
      expect(answer.headers.get("svc-error")).toBeNull();
      const isPlain = typeof result !== "object" || result === null || !JSON.stringify(result).includes('_"');
      if (isPlain && answer.status === 200 && !/"(wm|svc|windmill)_/.test(JSON.stringify(result))) {
        expect(JSON.parse(body)).toEqual(JSON.parse(JSON.stringify(result)));
      }
    }),
    { numRuns: RUNS },
  );
  await allJobsEnded();
}, 120_000);
