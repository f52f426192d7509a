/** Jobs with large arguments and results are read and compared beside the serving thread. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { jobs } from "../../../../../src/platform/queue/tables.ts";
import { expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";
import { completedRow, HOUR, idOf } from "../../../../support/job-rows.ts";
import { longestPause } from "../../../../support/pause.ts";
import { encodeJson } from "./job-lists-setup.ts";

const START = Date.now() - 100 * HOUR;
/** JSON that takes long to parse. */
const dense = (bytes: number, head: string) =>
  `{${head},"list":[${'{"a":1.5,"b":[true,null],"c":"x"},'.repeat(bytes / 35)}1]}`;

const HUGE = dense(11_000_000, '"name":"huge"');
const JOBS = {
  huge: { args: HUGE, labels: ["blue"] },
  medium: { args: dense(300_000, '"name":"médium"'), result: dense(300_000, '"city":"Kraków"') },
  other: { args: dense(300_000, '"name":"other","exact":12345678901234567890'), result: null },
  small: { args: '{"name":"small"}', result: '{"city":"Rome"}' },
};
type Name = keyof typeof JOBS;
const NAMES = Object.keys(JOBS) as Name[];

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ workers: 1 });
  await server.workspace();
  for (const [index, name] of NAMES.entries()) {
    const row = completedRow(idOf(index), new Date(START + index), JOBS[name]);
    await server.server.app.db.write((tx) => tx.insert(jobs).values([row]));
  }
}, 60_000);
afterAll(() => server.stop());

const toName = ({ id }: { id: string }) => NAMES.find((_, index) => idOf(index) === id);

async function list(filter: string): Promise<(Name | undefined)[]> {
  const answer = await expectOk(server.operator("GET", `/w/acme/jobs/list?order_desc=false&${filter}`));
  return answer.json<{ id: string }[]>().map(toName);
}

describe("a filter finds", () => {
  test.each<[filter: string, found: Name[]]>([
    [`args=${encodeJson({ name: "huge" })}`, ["huge"]],
    ["args=%7B%22exact%22%3A12345678901234567890%7D", ["other"]],
    ["args=%7B%22exact%22%3A12345678901234567891%7D", []],
    [`args=${encodeJson({ list: [{ a: 1.5 }] })}`, ["huge", "medium", "other"]],
    [`args=${encodeJson({ name: "médium" })}`, ["medium"]],
    [`result=${encodeJson({ city: "Kraków" })}`, ["medium"]],
    [`args=${encodeJson({ name: "médium" })}&result=${encodeJson({ city: "Kraków" })}`, ["medium"]],
    [`args=${encodeJson({ name: "other" })}&result=${encodeJson({ city: "Kraków" })}`, []],
    [`result=${encodeJson({ city: "Rome" })}`, ["small"]],
    [`args=${encodeJson({})}`, NAMES],
  ])("%s", async (filter, found) => {
    expect(await list(filter)).toEqual(found);
  });
});

test.each<[words: string, found: Name[]]>([
  ["huge", ["huge"]],
  ["blue", ["huge"]],
  ["krakow", ["medium"]],
  ["rome", ["small"]],
])("a search for %j finds them", async (words, found) => {
  const url = `/srch/w/acme/index/search/job?search_query=${words}`;
  const { hits } = (await expectOk(server.operator("GET", url))).json<{
    hits: { document: { id: string } }[];
  }>();
  expect(hits.map(({ document }) => toName(document))).toEqual(found);
});

test("a list with arguments leaves out the large ones", async () => {
  const answer = await expectOk(
    server.operator("GET", "/w/acme/jobs/list?order_desc=false&include_args=true"),
  );
  const args = answer.json<{ args: unknown }[]>().map((job) => job.args);
  const tooBig = { reason: "WINDMILL_TOO_BIG" };
  expect(args).toEqual([tooBig, tooBig, tooBig, { name: "small" }]);
});

test("the serving thread is not blocked for as long as it takes to parse a large job", async () => {
  const shares: number[] = [];
  // Other programs on the machine may interrupt one attempt.
  for (let attempt = 0; attempt < 3 && !shares.some((share) => share < 0.5); attempt++) {
    const before = performance.now();
    JSON.parse(HUGE);
    const parsing = performance.now() - before;
    const pause = await longestPause(async () => void (await list(`args=${encodeJson({ name: "none" })}`)));
    shares.push(pause / parsing);
  }
  expect(Math.min(...shares)).toBeLessThan(0.5);
}, 60_000);
