/** The full-text index of jobs: its content, who finds what, and when entries are deleted. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { inArray, sql } from "drizzle-orm";
import { createPruner } from "../../../../src/features/lifecycle/retention/pruner.ts";
import { fillSearchIndex } from "../../../../src/features/runs/search/indexer.ts";
import { jobSearch, jobs } from "../../../../src/platform/queue/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { completedRow, HOUR, idOf } from "../../../support/job-rows.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  const schema = { type: "object", properties: { key: { type: "string", password: true } } };
  await deploy(ask, "acme", "u/admin/echo", "export const main = (x: unknown) => ({ got: x })", { schema });
  await limit(100);
});
afterAll(() => server.stop());

const limit = (value: number) =>
  expectOk(server.operator("POST", "/settings/global/job_search_index", { value }));
const run = (args: unknown) => expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/echo", args));
/** Indexes everything that has completed: clocks may differ by a minute at most. */
const fill = () => fillSearchIndex(server.server.app, new Date(Date.now() + 120_000));

/** Changes the size of the index. The server's own pass may still use the previous one. */
async function resize(size: number): Promise<void> {
  await limit(size);
  await until(async () => {
    await fill();
    return (await server.server.app.db.read.select().from(jobSearch)).length === size;
  }, `${size} indexed jobs`);
}

async function find(query: string, by = ask, more = ""): Promise<string[]> {
  const url = `/srch/w/acme/index/search/job?search_query=${encodeURIComponent(query)}${more}`;
  return (await expectOk(by("GET", url))).json().hits.map(({ document }: any) => document.id);
}

/** Ids of the indexed jobs with a word, read from the index. */
async function indexed(word: string): Promise<string[]> {
  const { db } = server.server.app;
  const rows = await db.read.rows<{ job_id: string }>(
    db.dialect === "postgres"
      ? sql`SELECT job_id FROM job_search WHERE words @@ ${word}::tsquery`
      : sql`SELECT job_id FROM job_search_words JOIN job_search ON id = job_search_words.rowid WHERE job_search_words MATCH ${word}`,
  );
  return rows.map(({ job_id }) => job_id);
}

/** Adds a word to an indexed job's entry only, so that only the index can find it. */
async function giveWord(job_id: string, word: string): Promise<void> {
  await server.server.app.db.write(async (tx) => {
    const [row] = await tx
      .delete(jobSearch)
      .where(inArray(jobSearch.job_id, [job_id]))
      .returning({
        id: jobSearch.id,
        workspace_id: jobSearch.workspace_id,
      });
    await tx.insert(jobSearch).values({ ...row!, job_id, words: word });
  });
}

test("search results contain arguments only if requested", async () => {
  await run({ name: "Quetzalcoatl" });
  const url = "/srch/w/acme/index/search/job?search_query=quetzalcoatl";
  const documentOf = async (more: string) => (await expectOk(ask("GET", url + more))).json().hits[0].document;
  expect((await documentOf("")).args).toEqual({ name: "Quetzalcoatl" });
  expect((await documentOf("&include_args=false")).args).toBeUndefined();
});

test("a job is found before it is indexed, and from the index after that", async () => {
  await run({ x: "walrus" });
  const before = await find("walrus");
  expect(before).toHaveLength(1);
  await fill();
  expect(await indexed("walrus")).toEqual(before);
  expect(await find("walrus")).toEqual(before);
  await giveWord(before[0]!, "onlyhere");
  await run({ x: "onlyhere too" });
  expect(await find("onlyhere")).toHaveLength(2);
  expect(await find("onlyhere", ask, "&pagination_offset=1")).toEqual(before);
  expect(await find("onlyhere", ask, "&tag=other")).toEqual([]);
  expect(await find("onlyhere", ask, `&args=${encodeURIComponent('{"x":"walrus"}')}`)).toEqual(before);
  const { ask: stranger } = await server.member("acme", "stranger");
  expect(await find("onlyhere", stranger)).toEqual([]);
});

test("secret arguments are not in the index", async () => {
  await run({ x: "beside", key: "hidden-word" });
  await fill();
  const [id] = await indexed("beside");
  const [row] = await server.server.app.db.read
    .select({ args: jobs.args })
    .from(jobs)
    .where(inArray(jobs.id, [id!]));
  expect(row!.args).toContain("$encrypted:");
  expect(await indexed("hidden")).toEqual([]);
  const sealed = /\$encrypted:(\w+)/.exec(row!.args)![1]!.toLowerCase();
  expect(await indexed(sealed.slice(0, 64))).toEqual([]);
});

test("wiped or deleted jobs leave the index", async () => {
  await run({ x: "wiped" });
  await run({ x: "removed" });
  await fill();
  const [wiped] = await indexed("wiped");
  const [removed] = await indexed("removed");
  await expectOk(ask("POST", `/w/acme/jobs/completed/delete/${wiped}`, {}));
  await expectOk(ask("POST", "/w/acme/jobs/delete", [removed]));
  await fill();
  expect([...(await indexed("wiped")), ...(await indexed("removed"))]).toEqual([]);
});

test("imported jobs are indexed, however old they are", async () => {
  await run({ x: "carried" });
  await fill();
  const [job] = await indexed("carried");
  const exported = (await expectOk(ask("GET", "/w/acme/jobs/completed/export"))).json();
  const one = exported.find(({ id }: any) => id === job);
  await expectOk(ask("POST", "/w/acme/jobs/delete", [job]));
  await run({ x: "later" });
  await fill();
  await expectOk(ask("POST", "/w/acme/jobs/completed/import", [one]));
  expect(await find("carried")).toEqual([job!]);
  await fill();
  expect(await indexed("carried")).toEqual([job!]);
});

test("the index contains the newest jobs only; older ones are found without it", async () => {
  const { db } = server.server.app;
  const start = Date.now() - 500 * HOUR;
  const rows = Array.from({ length: 250 }, (_, n) =>
    completedRow(idOf(n), new Date(start + n * 1_000), { args: `{"x":"old${n}"}` }),
  );
  await db.write((tx) => tx.delete(jobs));
  for (let n = 0; n < 250; n += 50) await db.write((tx) => tx.insert(jobs).values(rows.slice(n, n + 50)));
  await resize(0);
  expect(await find("old7")).toHaveLength(11);
  await resize(120);
  expect(await indexed("old130")).toEqual([idOf(130)]);
  expect(await find("old3")).toEqual([39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 3].map((n) => idOf(n)));
  await resize(10);
  expect(await find("old23")).toHaveLength(11);
  expect(await find("old24")).toHaveLength(11);
});

test("an index that grows far beyond its limit in one pass keeps the newest jobs", async () => {
  const { db } = server.server.app;
  const start = Date.now() - 400 * HOUR;
  const insertJobs = (from: number, to: number) =>
    db.write(async (tx) => {
      for (let n = from; n < to; n++) {
        const row = completedRow(idOf(n), new Date(start + n * 1_000), { args: `{"x":"grown${n}"}` });
        await tx.insert(jobs).values(row);
      }
    });
  await db.write((tx) => tx.delete(jobs));
  await resize(0);
  await insertJobs(0, 60);
  await limit(100);
  await fill();
  await insertJobs(60, 260);
  await resize(100);
  expect(await indexed("grown160")).toEqual([idOf(160)]);
  expect(await indexed("grown159")).toEqual([]);
  expect(await find("grown59")).toEqual([idOf(59)]);
});

test("retention and deleting the workspace empty the index", async () => {
  await limit(100);
  const other = await server.workspace("gone");
  await deploy(other.ask, "gone", "u/admin/echo", "export const main = () => 'farewell'");
  await expectOk(other.ask("POST", "/w/gone/jobs/run_wait_result/p/u/admin/echo", {}));
  await run({ x: "expired" });
  await fill();
  expect(await indexed("farewell")).toHaveLength(1);
  await expectOk(server.operator("DELETE", "/workspaces/delete/gone"));
  expect(await indexed("farewell")).toEqual([]);
  const { db } = server.server.app;
  await db.write((tx) => tx.update(jobs).set({ completed_at: new Date(Date.now() - 10 * HOUR) }));
  await expectOk(server.operator("POST", "/settings/global/retention_period_secs", { value: 3_600 }));
  await createPruner(server.server.app).prune();
  expect(await db.read.select().from(jobs)).toEqual([]);
  expect(await db.read.select().from(jobSearch)).toEqual([]);
});
