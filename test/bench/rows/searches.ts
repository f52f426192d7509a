/**
 * Searches of 1,000,000 indexed jobs on SQLite, and how long the longest small read and write beside each has to wait.
 *
 *   bun test/bench/rows/searches.ts [jobs]     by itself, after `bun run build`
 */
import { indexJobs, storeJobs } from "../../support/many-jobs.ts";
import { startServer } from "../tools/processes.ts";
import { measureTime, measureWaits } from "../tools/waits.ts";

const JOBS = Number(process.argv[2] ?? 1_000_000);
const MOST_MS = 100;
/** Number of concurrent searches of each kind. */
const ROUNDS = 4;
/** Duration of the first row, without a search, which shows the load of the machine. */
const IDLE_MS = 10_000;

const SEARCHES = {
  "a word of all jobs": "search_query=bob",
  "three words of all jobs": "search_query=bob%20hello%20item",
  "a phrase of all jobs": `search_query=${encodeURIComponent('"hello bob"')}`,
  "a word of one job": "search_query=item4711",
  "the beginning of a word of each job": "search_query=000",
  "a word of none": "search_query=needle",
  "a word of all beside one of none": "search_query=bob%20needle",
  "a word of all, by a user who has none": "search_query=bob&created_by=nobody",
  "a word of all, with a path that none has": "search_query=bob&script_path_exact=u/ann/none",
  "a word of all, with arguments that none has": `search_query=bob&args=${encodeURIComponent('{"kind":-1}')}`,
};

const server = await startServer({}, { super_admin: true });
const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
const call = async (path: string, body?: unknown) => {
  const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(`${server.url}/api${path}`, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
  return text;
};

const variable = { value: "0", is_secret: false, description: "" };
const ms = (value: number) => `${value.toFixed(0)} ms`;
const print = (cells: string[]) => process.stdout.write(`${cells.join(" | ")}\n`);

/** On a busy machine, twice the wait without a search is a better limit than a fixed time. */
const mostBeside = (idle: number) => Math.max(MOST_MS, 2 * idle);

/** Reads and writes one after the other during the work. @returns the longest wait of each, in milliseconds */
async function beside(work: () => Promise<unknown>) {
  let isOver = false;
  const working = measureTime(work).finally(() => {
    isOver = true;
  });
  const longest = { read: 0, write: 0 };
  const probe = async (what: "read" | "write", one: () => Promise<unknown>) => {
    while (!isOver) longest[what] = Math.max(longest[what], await measureWaits(server.pid, one));
  };
  await Promise.all([
    probe("read", () => call("/w/acme/variables/get/u/ann/x")),
    probe("write", () => call("/w/acme/variables/update/u/ann/x", variable)),
  ]);
  return { ...longest, took: await working };
}

try {
  await call("/settings/global/job_search_index", { value: 10_000_000 });
  await call("/w/acme/variables/create", { path: "u/ann/x", ...variable });
  storeJobs(server.data_dir, JOBS);
  indexJobs(server.data_dir);
  const idle = await beside(() => Bun.sleep(IDLE_MS));
  print([
    `nothing for ${IDLE_MS / 1_000} s`,
    `longest read ${ms(idle.read)}`,
    `longest write ${ms(idle.write)}`,
  ]);
  for (const [what, query] of Object.entries(SEARCHES)) {
    let found = "";
    const search = async () => {
      const { hits, searched_until } = JSON.parse(await call(`/srch/w/acme/index/search/job?${query}`));
      found = `${hits.length} found${searched_until ? ", to be continued" : ""}`;
    };
    const longest = await beside(() => Promise.all(Array.from({ length: ROUNDS }, search)));
    const most = { read: mostBeside(idle.read), write: mostBeside(idle.write) };
    print([
      `${ROUNDS} x ${what}`,
      found,
      `took ${ms(longest.took)}`,
      `longest read ${ms(longest.read)} (<= ${ms(most.read)})`,
      `longest write ${ms(longest.write)} (<= ${ms(most.write)})`,
      longest.read <= most.read && longest.write <= most.write ? "holds" : "MISSED",
    ]);
  }
} finally {
  await server.stop();
}
