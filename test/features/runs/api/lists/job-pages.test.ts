/**
 * Pages and counts of a large table: more rows than are scanned, skipped, or treated as a small set, at once.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { and, eq, getTableColumns, gt, lte, sql } from "drizzle-orm";
import { dialect } from "../../../../../src/database/kit.ts";
import type { JobQuery } from "../../../../../src/features/runs/api/lists/job-scan.ts";
import { listPageOfIds } from "../../../../../src/features/runs/api/lists/pages.ts";
import { jobs } from "../../../../../src/platform/queue/tables.ts";
import { expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";
import { completedRow, FUTURE, HOUR, idOf } from "../../../../support/job-rows.ts";

let server: TestServer;

const COUNT = 63_000;
const MADE = new Date(Date.now() - 100 * HOUR);
const four = (n: number) => String(n).padStart(4, "0");
const longId = (n: number) =>
  `0193${four(Math.floor(n / 10_000))}-${four(n % 10_000)}-7000-8000-000000000000`;

const numbers = Array.from({ length: COUNT }, (_, n) => n);
/** Every third is queued, the others are completed. */
const queued = numbers.filter((n) => n % 3 === 0);
/** One in a thousand has this tag, and arguments containing 7. */
const rare = numbers.filter((n) => n % 1000 === 7);

/** Generates the rows from one row, within the database. */
async function fill(): Promise<void> {
  const template = completedRow(idOf(0), MADE, {
    workspace_id: "none",
    parent_job: idOf(77),
    scheduled_for: FUTURE,
  });
  const later = (milliseconds: string) =>
    dialect === "sqlite"
      ? `template.created_at + ${milliseconds}`
      : `template.created_at + ${milliseconds} * interval '1 ms'`;
  const digits = (number: string) => `substr(cast(10000 + ${number} as text), 2, 4)`;
  const values = {
    ...Object.fromEntries(Object.values(getTableColumns(jobs)).map(({ name }) => [name, `template.${name}`])),
    id: `'0193' || ${digits("i / 10000")} || '-' || ${digits("i % 10000")} || '-7000-8000-000000000000'`,
    workspace_id: "'acme'",
    state: "CASE WHEN i % 3 = 0 THEN 'queued' ELSE 'completed' END",
    status: "CASE WHEN i % 3 = 0 THEN NULL ELSE 'success' END",
    tag: "CASE WHEN i % 1000 = 7 THEN 'rare' ELSE 'bun' END",
    args: `'{"n":' || (i % 1000) || '}'`,
    // Two are created at a time, and ten end at a time.
    created_at: later("i / 2"),
    completed_at: `CASE WHEN i % 3 = 0 THEN NULL ELSE ${later("i / 10 * 10000")} END`,
  };
  const statement = `INSERT INTO jobs (${Object.keys(values)})
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${COUNT - 1})
    SELECT ${Object.values(values)} FROM jobs template, n WHERE template.id = '${template.id}'`;
  await server.server.app.db.write(async (tx) => {
    await tx.insert(jobs).values(template);
    await tx.rows(sql.raw(statement));
  });
}

beforeAll(async () => {
  server = await startTestServer({ workers: 1, retention_s: 0 });
  await server.workspace();
  await fill();
}, 60_000);
afterAll(() => server.stop());

const look = async (path: string) => (await expectOk(server.operator("GET", `/w/acme/jobs/${path}`))).json();

function page(of: number[], page: number, per_page: number, descending = true): string[] {
  const ordered = descending ? of.toReversed() : of;
  return ordered.slice((page - 1) * per_page, page * per_page).map(longId);
}

const args = `args=${encodeURIComponent('{"n":7}')}`;
const after = (hours: number) => `created_after=${new Date(MADE.getTime() + hours * HOUR).toISOString()}`;

test.each<[path: string, ids: string[]]>([
  ["list?per_page=20&page=2600", page(numbers, 2600, 20)],
  ["list?per_page=20&page=2600&order_desc=false", page(numbers, 2600, 20, false)],
  ["list?per_page=10000&page=2", page(numbers, 2, 10_000)],
  ["list?per_page=10000&page=3", page(numbers, 3, 10_000)],
  ["list?per_page=10000&page=7", page(numbers, 7, 10_000)],
  ["list?per_page=10000&page=8", []],
  ["list?running=false&per_page=20&page=1000", page(queued, 1000, 20)],
  ["queue/list?per_page=100000", page(queued, 1, 100_000)],
  [
    "completed/list?per_page=20",
    page(
      numbers.filter((n) => n % 3 > 0),
      1,
      20,
    ),
  ],
  ["list?tag=rare", page(rare, 1, 1000)],
  ["list?tag=rare&per_page=10&page=3&order_desc=false", page(rare, 3, 10, false)],
  [
    "list?tag=rare&running=false",
    page(
      rare.filter((n) => n % 3 === 0),
      1,
      1000,
    ),
  ],
  [`list?${args}&per_page=10&page=3`, page(rare, 3, 10)],
  [`list?${args}&script_path_exact=u/admin/one`, page(rare, 1, 1000)],
  [`list?parent_job=${idOf(77)}&tag=rare`, page(rare, 1, 1000)],
  [`list?${after(-1)}&tag=rare`, page(rare, 1, 1000)],
  [`list?${after(1)}`, []],
  ["queue/list_filtered_uuids?per_page=100000", page(queued, 1, 100_000)],
])("%s", async (path, ids) => {
  expect((await look(path)).map((entry: any) => entry.id ?? entry)).toEqual(ids);
});

test.each([true, false])(
  "a search that reaches its time limit says where to continue; ascending: %p",
  async (ascending) => {
    const { app } = server.server;
    const found: string[] = [];
    let reached: Date | undefined;
    for (let calls = 0; calls === 0 || reached; calls++) {
      expect(calls).toBeLessThan(COUNT / 5_000);
      const selection: JobQuery = {
        base: eq(jobs.workspace_id, "acme"),
        within: reached && (ascending ? gt : lte)(jobs.created_at, reached),
        filters: and(eq(jobs.tag, "rare")),
        sets: [],
        ascending,
        budget: { ms: 0 },
      };
      found.push(...(await listPageOfIds(app, selection, { offset: 0, limit: 1000 })));
      reached = selection.budget!.reached;
    }
    expect([...new Set(found)]).toEqual((ascending ? rare : rare.toReversed()).map(longId));
  },
);

test("many searches without results take turns, and other requests are served meanwhile", async () => {
  const began = performance.now();
  let isOver = false;
  const searching = Promise.all(Array.from({ length: 8 }, () => look("list?tag=none"))).then((answers) => {
    isOver = true;
    return answers;
  });
  let longest = 0;
  while (!isOver) {
    const asked = performance.now();
    await expectOk(server.operator("GET", "/version"));
    longest = Math.max(longest, performance.now() - asked);
  }
  expect(await searching).toEqual(Array(8).fill([]));
  // Independent of the machine: a caller who is not served between the slices waits for all of them.
  expect(longest).toBeLessThan((performance.now() - began) / 2);
});

test("counts everything", async () => {
  expect(await look("completed/count")).toEqual({ database_length: COUNT - queued.length });
  expect(await look("completed/count_jobs?tags=rare,none")).toBe(rare.filter((n) => n % 3 > 0).length);
  expect(await look("queue/count")).toEqual({ database_length: 0, suspended: 0 });
});

test("counts jobs completed in a workspace that has fewer jobs than completed since then", async () => {
  for (const [hours, found] of [
    [99, [{ tag: "bun", count: 1 }]],
    [97, []],
  ] as const) {
    const path = `/jobs/completed/count_by_tag?horizon_secs=${hours * 3_600}&workspace_id=none`;
    expect((await expectOk(server.operator("GET", path))).json()).toEqual(found);
  }
});

test("counts jobs completed since a time, all of them and by tag", async () => {
  const completed = numbers.filter((n) => n % 3 > 0);
  for (const hours of [101, 90, 85, 80]) {
    const seconds = hours * 3_600;
    const since = (now: number) =>
      completed.filter((n) => MADE.getTime() + Math.floor(n / 10) * 10_000 > now - seconds * 1_000);
    const most = since(Date.now());
    const count = (await look(`completed/count_jobs?completed_after_s_ago=${seconds}`)) as number;
    const path = `/jobs/completed/count_by_tag?horizon_secs=${seconds}&workspace_id=acme`;
    const rows = (await expectOk(server.operator("GET", path))).json<{ tag: string; count: number }[]>();
    const least = since(Date.now());
    const tags = Object.fromEntries(rows.map((row) => [row.tag, row.count]));
    for (const [found, wanted] of [
      [count, "all"],
      [(tags.bun ?? 0) + (tags.rare ?? 0), "all"],
      [tags.rare ?? 0, "rare"],
    ] as const) {
      const size = (list: number[]) => list.filter((n) => wanted === "all" || n % 1000 === 7).length;
      expect(found).toBeGreaterThanOrEqual(size(least));
      expect(found).toBeLessThanOrEqual(size(most));
    }
  }
});
