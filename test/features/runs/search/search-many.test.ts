/** Searches for words that occur in thousands of jobs. */
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { sql } from "drizzle-orm";
import { computeFirstId } from "../../../../src/features/runs/search/rows.ts";
import { jobSearch, jobSearchProgress, jobs } from "../../../../src/platform/queue/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { completedRow, HOUR, idOf } from "../../../support/job-rows.ts";

const MANY = 5_000;
const EVERY = 700;
/** Jobs created in the same millisecond, whose entries have adjacent ids. */
const AT_ONCE = 10;
const start = Date.now() - 500 * HOUR;

const createdAt = (n: number) => new Date(start + Math.floor(n / AT_ONCE) * 1_000);

let server: TestServer;
let ask: Ask;
let token: string;
let elsewhere: Ask;

beforeAll(async () => {
  server = await startTestServer({ retention_s: 0 });
  ({ ask, token } = await server.workspace());
  ({ ask: elsewhere } = await server.workspace("small"));
  const { db } = server.server.app;
  for (let at = 0; at < MANY; at += 50) {
    const numbers = Array.from({ length: 50 }, (_, n) => at + n);
    const rows = numbers.map((n) => {
      const workspace_id = n % 1_000 === 1 ? "small" : "acme";
      const path = n % EVERY === 0 ? "u/admin/rare" : "u/admin/one";
      return completedRow(idOf(n), createdAt(n), { workspace_id, script_path: path });
    });
    const entries = rows.map(({ id, workspace_id, created_at }, index) => ({
      id: computeFirstId(created_at as Date) + (index % AT_ONCE),
      job_id: id,
      workspace_id,
      words: `often${at + index === 7 ? " once" : ""} everywhere`,
    }));
    await db.write(async (tx) => {
      await tx.insert(jobs).values(rows);
      await tx.insert(jobSearch).values(entries);
    });
  }
  const last = { completed_at: new Date(), last_job: "", job_id: "", oldest: null };
  await db.write((tx) =>
    tx
      .insert(jobSearchProgress)
      .values({ id: 1, ...last })
      .onConflictDoUpdate({ target: jobSearchProgress.id, set: last }),
  );
});
afterAll(() => server.stop());

async function find(query: string, more = "", by = ask, workspace = "acme"): Promise<string[]> {
  const url = `/srch/w/${workspace}/index/search/job?search_query=${encodeURIComponent(query)}${more}`;
  const { hits, searched_until } = (await expectOk(by("GET", url))).json();
  expect(searched_until).toBeUndefined();
  return hits.map(({ document }: any) => document.id);
}

const numbersOf = (isWanted: (n: number) => boolean) =>
  Array.from({ length: MANY }, (_, n) => n)
    .filter(isWanted)
    .reverse()
    .map((n) => idOf(n));
const here = numbersOf((n) => n % 1_000 !== 1);

test("the newest are found first, and further pages down to the oldest", async () => {
  expect(await find("often")).toEqual(here.slice(0, 100));
  const offset = here.length - 30;
  expect(await find("often", `&pagination_offset=${offset}`)).toEqual(here.slice(offset));
});

test("a filter that few jobs match finds each of them", async () => {
  const rare = numbersOf((n) => n % EVERY === 0);
  expect(await find("often", "&script_path_exact=u/admin/rare")).toEqual(rare);
  expect(await find("often", "&created_by=nobody")).toEqual([]);
});

test("a rare word with a frequent one, and an unknown word", async () => {
  expect(await find("often once")).toEqual([idOf(7)]);
  expect(await find("often nowhere")).toEqual([]);
  expect(await find('"often everywhere"')).toEqual(here.slice(0, 100));
});

test("limits on the creation time apply, and other workspaces are not searched", async () => {
  const at = (n: number) => encodeURIComponent(createdAt(n).toISOString());
  const between = numbersOf((n) => n >= 4_450 && n < 4_470);
  expect(await find("often", `&created_after=${at(4_440)}&created_before=${at(4_460)}`)).toEqual(between);
  expect(await find("often", "", elsewhere, "small")).toEqual(numbersOf((n) => n % 1_000 === 1));
});

test("a caller who disconnects frees the slot for the next ones", async () => {
  const { db } = server.server.app;
  const url = `${server.url}/api/srch/w/acme/index/search/job?search_query=often&created_by=nobody`;
  // Delayed, so that each is running or waiting when the caller disconnects.
  const held = db.readAside(counting, { timeout_ms: 120_000 });
  const callers = Array.from({ length: 6 }, () => new AbortController());
  const headers = { authorization: `Bearer ${token}` };
  const gone = callers.map(({ signal }) => fetch(url, { headers, signal }).catch(() => "gone"));
  await db.read.select().from(jobSearchProgress);
  for (const caller of callers) caller.abort();
  expect(await Promise.all(gone)).toEqual(callers.map(() => "gone"));
  expect(await find("often once")).toEqual([idOf(7)]);
  await held;
});

test("a search whose index query takes too long fails with 503, and the next one works", async () => {
  const { db } = server.server.app;
  const slow = sql.raw(
    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) FROM n)",
  );
  const read = db.readAside.bind(db);
  const limited = spyOn(db, "readAside").mockImplementation((query) =>
    read(sql`SELECT * FROM (${query}) AS one WHERE ${slow} > 0`, { timeout_ms: 20 }),
  );
  try {
    const late = await ask("GET", "/srch/w/acme/index/search/job?search_query=often");
    expect(late.status).toBe(503);
    expect(late.text).toContain("reading the database took longer than the 0.02 s it may");
    expect(late.text).toContain("narrow the query");
  } finally {
    limited.mockRestore();
  }
  expect(await find("often once")).toEqual([idOf(7)]);
});

const counting = sql.raw(
  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) AS total FROM n",
);
