/**
 * Lists of 10,000 queued jobs beside 1,000 and beside 1,000,000 completed ones: a page must take as long beside the
 * many as beside the few. What has to look at every row is measured too, and said, with how long it held up others.
 *
 *   bun test/bench/lists.ts        by itself, after `bun run build`
 */
import { DAY, storeJobs } from "../support/many-jobs.ts";
import { type Bench, startServer } from "./tools/processes.ts";

/** As `record` of run.ts takes it. */
interface Figure {
  what: string;
  measured: string;
  floor: string;
  ratio: number;
  target: string;
  holds: boolean;
}

const FEW = 1_000;
const MANY = 1_000_000;
const PASSES = 10;
/** Rounds of a page in each pass that are not counted: garbage of the page before it may still be collected. */
const WARM_UP_ROUNDS = 3;

/** Pages that an index serves, or that are full after a few rows: one row in ten or twenty matches. */
const PAGES = {
  "queue/list": "/jobs/queue/list?per_page=30",
  "queue/list, tag": "/jobs/queue/list?per_page=30&tag=tag3",
  "queue/list, created_by": "/jobs/queue/list?per_page=30&created_by=user3",
  "queue/list, script_path_exact": "/jobs/queue/list?per_page=30&script_path_exact=u/ann/script7",
  "queue/list, tag that none has": "/jobs/queue/list?per_page=30&tag=none",
  "queue/list, args": `/jobs/queue/list?per_page=30&args=${encodeURIComponent('{"kind":3}')}`,
  "queue/count": "/jobs/queue/count",
  "list?running=false": "/jobs/list?running=false&per_page=30",
  "list, first page of 1,000": "/jobs/list",
  "list, script_path_exact": "/jobs/list?per_page=30&script_path_exact=u/ann/script7",
  "list, created_by": "/jobs/list?per_page=30&created_by=user3",
  "list, label": "/jobs/list?per_page=30&label=label3",
  "list, tag": "/jobs/list?per_page=30&tag=tag3",
  "list, success=false": "/jobs/list?per_page=30&success=false",
  "list, args": `/jobs/list?per_page=30&args=${encodeURIComponent('{"kind":3}')}`,
  "list, completed in the last hour": `/jobs/list?per_page=30&created_after=${new Date(Date.now() - DAY / 24).toISOString()}`,
  "count_jobs of the last hour": "/jobs/completed/count_jobs?completed_after_s_ago=3600",
};

/** Query plans that scan a whole table or index. */
const SCANS = {
  "list, created_by that none has": "/jobs/list?per_page=30&created_by=nobody",
  "list, label that none has": "/jobs/list?per_page=30&label=none",
  "list, args that none has": `/jobs/list?per_page=30&args=${encodeURIComponent('{"kind":-1}')}`,
  "list, page 30,000": "/jobs/list?per_page=30&page=30000",
  "completed/count": "/jobs/completed/count",
};

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;

/** @param scale share of the requests that is made, for a quick look */
export async function lists(scale = 1): Promise<Figure[]> {
  const few = await beside(FEW);
  const many = await beside(MANY);
  try {
    const rounds = Math.max(PASSES, Math.round(200 * scale));
    const figures = await measurePages(few, many, rounds);
    for (const [name, path] of Object.entries(SCANS)) {
      figures.push(scanFigure(name, await scan(few, path), await scan(many, path)));
    }
    return figures;
  } finally {
    await Promise.all([few.stop(), many.stop()]);
  }
}

async function beside(completed: number): Promise<Bench> {
  const server = await startServer();
  storeJobs(server.data_dir, completed);
  return server;
}

const count = (jobs: number) => jobs.toLocaleString("en");

function pageFigure(name: string, took: { few: number; many: number }): Figure {
  const ratio = took.many / took.few;
  return {
    what: `${name}, p50 beside ${count(MANY)} completed jobs`,
    measured: ms(took.many),
    floor: `beside ${count(FEW)}: ${ms(took.few)}`,
    ratio,
    target: "<= 1.5 × beside few",
    holds: ratio <= 1.5,
  };
}

function scanFigure(name: string, few: Scan, many: Scan): Figure {
  return {
    what: `${name}: goes through all ${count(MANY)}`,
    measured: ms(many.took),
    floor: `beside ${count(FEW)}: ${ms(few.took)}`,
    ratio: many.heldUp,
    target: "p99 of others meanwhile <= 50 ms",
    holds: many.heldUp <= 50,
  };
}

interface Times {
  few: number[];
  many: number[];
}

/**
 * Measures each page in several passes over all pages, so that a second in which one server is slower does not decide
 * about a page.
 */
async function measurePages(few: Bench, many: Bench, rounds: number): Promise<Figure[]> {
  const pages = Object.entries(PAGES).map(([name, path]) => ({
    name,
    path,
    took: { few: [], many: [] } as Times,
  }));
  for (let pass = 0; pass < PASSES; pass++) {
    for (const { path, took } of pages) await measurePass(few, many, path, rounds / PASSES, took);
  }
  return pages.map(({ name, took }) => pageFigure(name, { few: median(took.few), many: median(took.many) }));
}

/** Calls both alternately, each of them first in every other round, and adds how long they took, in ms. */
async function measurePass(
  few: Bench,
  many: Bench,
  path: string,
  rounds: number,
  took: Times,
): Promise<void> {
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const servers = [
      { server: few, times: took.few },
      { server: many, times: took.many },
    ];
    if (round % 2 === 0) servers.reverse();
    for (const { server, times } of servers) {
      const spent = await timed(() => server.get(path));
      if (round >= 0) times.push(spent);
    }
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

interface Scan {
  took: number;
  heldUp: number;
}

/**
 * Makes one call, and others at the same time, one after the other.
 * @returns how long it and they took, in ms
 */
async function scan(server: Bench, path: string): Promise<Scan> {
  let done = false;
  const scanning = timed(() => server.get(path)).finally(() => {
    done = true;
  });
  const others: number[] = [];
  while (!done) others.push(await timed(() => fetch(`${server.url}/api/version`)));
  const took = await scanning;
  return { took, heldUp: others.toSorted((a, b) => a - b)[Math.floor(others.length * 0.99)] ?? 0 };
}

if (import.meta.main) {
  for (const { what, measured, floor, ratio, target, holds } of await lists()) {
    process.stdout.write(
      `${[what, measured, floor, ratio.toFixed(2), target, holds ? "holds" : "MISSED"].join(" | ")}\n`,
    );
  }
}
