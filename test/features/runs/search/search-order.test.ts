/** The order of search results, and how a search that exceeds its time is continued. */
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { inArray } from "drizzle-orm";
import { fillSearchIndex } from "../../../../src/features/runs/search/indexer.ts";
import { jobSearch, jobSearchProgress, jobs, type NewJob } from "../../../../src/platform/queue/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { completedRow, HOUR, idOf } from "../../../support/job-rows.ts";

let server: TestServer;
let ask: Ask;
let elsewhere: Ask;

beforeAll(async () => {
  server = await startTestServer({ retention_s: 0 });
  ({ ask } = await server.workspace());
  ({ ask: elsewhere } = await server.workspace("small"));
});
afterAll(() => server.stop());
beforeEach(async () => {
  start = new Date(start.getTime() + 10 * HOUR);
  await limit(0);
  await fill();
  await server.server.app.db.write((tx) => tx.delete(jobs));
});

/**
 * Later in each test, so that jobs that the server's own indexer saw in the previous one do not count. Not
 * expired.
 */
let start = new Date(Date.now() - 500 * HOUR);
const limit = (value: number) =>
  expectOk(server.operator("POST", "/settings/global/job_search_index", { value }));
/** Indexes everything that has completed. */
const fill = () => fillSearchIndex(server.server.app, new Date(Date.now() + 120_000));

/** A job created the given number of seconds after the start, which took one second. */
function job(seconds: number, text: string, more: Partial<NewJob> = {}): NewJob {
  const created = new Date(start.getTime() + seconds * 1_000);
  const completed_at = new Date(created.getTime() + 1_000);
  return completedRow(idOf(seconds), created, { completed_at, args: JSON.stringify({ text }), ...more });
}

async function store(rows: NewJob[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 50)
    await server.server.app.db.write((tx) => tx.insert(jobs).values(rows.slice(at, at + 50)));
}

async function search(query: string, by = ask, more = "", workspace = "acme") {
  const url = `/srch/w/${workspace}/index/search/job?search_query=${encodeURIComponent(query)}${more}`;
  const { hits, searched_until } = (await expectOk(by("GET", url))).json();
  return { ids: hits.map(({ document }: any) => document.id) as string[], searched_until };
}

/** Searches to the end, with a clock on which each batch takes a second. */
async function searchOnSlowClock(query: string, more = "", by = ask, workspace = "acme") {
  const ids: string[] = [];
  let calls = 0;
  let seconds = 0;
  const real = performance.now.bind(performance);
  const clock = spyOn(performance, "now").mockImplementation(() => real() + ++seconds * 6_000);
  try {
    for (let until: string | undefined = ""; until !== undefined && calls < 100; calls++) {
      const before: string = until && `&created_before=${encodeURIComponent(until)}`;
      const part = await search(query, by, `${more}${before}`, workspace);
      ids.push(...part.ids);
      until = part.searched_until;
    }
  } finally {
    clock.mockRestore();
  }
  return { ids, calls };
}

const indexedJobs = async () =>
  (await server.server.app.db.read.select().from(jobSearch).orderBy(jobSearch.id)).map(
    ({ job_id }) => job_id,
  );

test("an imported old job does not displace a newer one", async () => {
  await limit(10);
  await store(Array.from({ length: 10 }, (_, n) => job(100 + n, "plenty")));
  await fill();
  const [row] = [job(1, "plenty antique")];
  await store([row!]);
  const exported = (await expectOk(ask("GET", "/w/acme/jobs/completed/export"))).json();
  const antique = exported.find(({ id }: any) => id === row!.id);
  await server.server.app.db.write((tx) => tx.delete(jobs).where(inArray(jobs.id, [row!.id])));
  await expectOk(ask("POST", "/w/acme/jobs/completed/import", [antique]));
  expect((await search("antique")).ids).toEqual([row!.id]);
  await store([job(200, "plenty")]);
  await fill();
  expect(await indexedJobs()).toEqual([...Array.from({ length: 9 }, (_, n) => idOf(101 + n)), idOf(200)]);
  expect((await search("antique")).ids).toEqual([row!.id]);
  expect((await search("plenty")).ids).toHaveLength(12);
});

test("results are ordered by creation, wherever they are found", async () => {
  await limit(4);
  const long = { completed_at: new Date(start.getTime() + 500_000) };
  await store([1, 2, 3, 4].map((n) => job(n * 10, "mixed")));
  await store([5, 6].map((n) => job(n * 10, "mixed")));
  await store([job(25, "mixed", long), job(55, "mixed", long)]);
  await fill();
  const now = new Date(Date.now() + HOUR);
  await store([job(35, "mixed", { completed_at: now }), job(70, "mixed", { completed_at: now })]);
  const expected = [70, 60, 55, 50, 40, 35, 30, 25, 20, 10].map((n) => idOf(n));
  expect((await search("mixed")).ids).toEqual(expected);
  expect((await search("mixed", ask, "&pagination_offset=4")).ids).toEqual(expected.slice(4));
  expect(await indexedJobs()).toHaveLength(4);
});

test("more jobs than ids within one millisecond are indexed and found", async () => {
  await limit(2_000);
  const moment = { created_at: start, completed_at: start };
  await store(Array.from({ length: 1_100 }, (_, n) => job(n, "crowd", moment)));
  await fill();
  expect(await indexedJobs()).toEqual(Array.from({ length: 1_100 }, (_, n) => idOf(n)));
  const before = `&created_before=${encodeURIComponent(start.toISOString())}`;
  expect((await search("crowd", ask, `${before}&pagination_offset=1050`)).ids).toHaveLength(50);
});

test("a continued search skips nothing that is indexed", async () => {
  await limit(100);
  await store([job(10, "needle"), job(45, "needle"), job(46, "hay")]);
  await fill();
  const later = new Date(Date.now() + HOUR);
  const big = "x ".repeat(350_000);
  await store([20, 30, 40, 50, 60].map((n) => job(n, big, { completed_at: later })));
  const { ids, calls } = await searchOnSlowClock("needle");
  expect(ids).toEqual([idOf(45), idOf(10)]);
  expect(calls).toBeGreaterThan(2);
});

test("a search for a frequent word with a rare filter is continued", async () => {
  await limit(1_000);
  await store(Array.from({ length: 600 }, (_, n) => job(n, "often", n === 3 ? { tag: "rare" } : {})));
  await fill();
  const { ids, calls } = await searchOnSlowClock("often", "&tag=rare");
  expect(ids).toEqual([idOf(3)]);
  expect(calls).toBeGreaterThan(1);
});

test("results of several index queries are complete and in order", async () => {
  const total = 1_600;
  const numbers = Array.from({ length: total }, (_, n) => n);
  // Completed, and so indexed, in another order than created.
  const late = (n: number) => new Date(start.getTime() + ((n * 7919) % total) * 1_000 + 5_000_000);
  await store(
    numbers.map((n) =>
      job(n, n % 100 === 7 ? "often seldom" : "often", {
        completed_at: late(n),
        tag: n % 3 === 0 ? "third" : "bun",
      }),
    ),
  );
  // Not earlier: a pass of the server's own indexer would skip rows that are stored after it.
  await limit(10_000);
  await fill();
  expect(await indexedJobs()).toHaveLength(total);
  const newest = numbers.toReversed();
  const before = new Date(start.getTime() + 900_000);
  const cases: [string, string, number[]][] = [
    ["often", "", newest],
    ["seldom", "", newest.filter((n) => n % 100 === 7)],
    ["often", "&tag=third", newest.filter((n) => n % 3 === 0)],
    ["often seldom", "&tag=third", newest.filter((n) => n % 100 === 7 && n % 3 === 0)],
    ["often", "&tag=none", []],
    ["often nowhere", "", []],
    ["often", `&created_before=${encodeURIComponent(before.toISOString())}`, newest.filter((n) => n <= 900)],
    ["often", `&created_after=${encodeURIComponent(before.toISOString())}`, newest.filter((n) => n > 900)],
  ];
  for (const [query, more, expected] of cases) {
    const found: string[] = [];
    for (let offset = 0; offset === found.length; offset += 100)
      found.push(...(await search(query, ask, `${more}&pagination_offset=${offset}`)).ids);
    expect({ query, more, found }).toEqual({ query, more, found: expected.map((n) => idOf(n)) });
  }
  const continued = await searchOnSlowClock("often", "&tag=none");
  expect(continued.ids).toEqual([]);
  expect(continued.calls).toBeGreaterThan(2);
});

test("lists with a JSON filter over few large jobs are continued too", async () => {
  const big = { text: "x".repeat(700_000) };
  const parent_job = idOf(999);
  await store(
    [20, 30, 40].map((n) =>
      job(n, "", { parent_job, args: JSON.stringify({ ...big, n: n === 20 ? 1 : 0 }) }),
    ),
  );
  const args = encodeURIComponent('{"n":1}');
  const ids: string[] = [];
  let calls = 0;
  let seconds = 0;
  const real = performance.now.bind(performance);
  const clock = spyOn(performance, "now").mockImplementation(() => real() + ++seconds * 6_000);
  try {
    for (let until: string | null = ""; until !== null && calls < 10; calls++) {
      const before: string = until && `&created_before=${encodeURIComponent(until)}`;
      const answer = await expectOk(
        ask("GET", `/w/acme/jobs/list?args=${args}&parent_job=${parent_job}${before}`),
      );
      ids.push(...answer.json().map(({ id }: any) => id));
      until = answer.headers.get("searched-until");
    }
  } finally {
    clock.mockRestore();
  }
  expect(ids).toEqual([idOf(20)]);
  expect(calls).toBeGreaterThan(1);
});

test("a search in a small workspace reads nothing of large ones", async () => {
  await limit(1_000);
  await store([job(1, "shared", { workspace_id: "small", email: "admin_small@example.org" })]);
  await store(Array.from({ length: 600 }, (_, n) => job(n + 10, "shared")));
  await fill();
  expect(await searchOnSlowClock("shared", "", elsewhere, "small")).toEqual({ ids: [idOf(1)], calls: 1 });
});

test("the index follows a workspace to a changed id, and its position survives that", async () => {
  await limit(100);
  await server.workspace("before");
  await store([job(1, "traveller", { workspace_id: "before" })]);
  await fill();
  const body = { new_id: "after", new_name: "after" };
  await expectOk(server.operator("POST", "/w/before/workspaces/change_workspace_id", body));
  await server.server.app.db.write((tx) =>
    tx
      .update(jobs)
      .set({ args: "{}" })
      .where(inArray(jobs.id, [idOf(1)])),
  );
  expect((await search("traveller", server.operator, "", "after")).ids).toEqual([idOf(1)]);
  await expectOk(server.operator("DELETE", "/workspaces/delete/after"));
  expect(await indexedJobs()).toEqual([]);
  expect(await server.server.app.db.read.select().from(jobSearchProgress)).toHaveLength(1);
});

test("a short word must match completely, a longer one as a prefix", async () => {
  await limit(100);
  await store([job(1, "ab abc abcd"), job(2, "abcd")]);
  const find = async (query: string) => (await search(query)).ids;
  for (const _ of ["read", "indexed"]) {
    expect(await find("ab")).toEqual([idOf(1)]);
    expect(await find("abc")).toEqual([idOf(2), idOf(1)]);
    expect(await find("a")).toEqual([]);
    await fill();
  }
});

test("a job whose completion is stored late is indexed", async () => {
  await limit(100);
  const now = Date.now();
  const just = (ms: number) => ({ created_at: new Date(now - 60_000), completed_at: new Date(now - ms) });
  await store([job(1, "punctual", just(1_000))]);
  await fillSearchIndex(server.server.app, new Date(now));
  await store([job(2, "tardy", just(5_000))]);
  await fill();
  expect((await indexedJobs()).sort()).toEqual([idOf(1), idOf(2)]);
});
