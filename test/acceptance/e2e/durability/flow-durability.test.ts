import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, processesOf, type Serving, setUp, until } from "../executable.ts";

const place = createInstallation();
afterAll(() => place.remove());

const ROUNDS = 20;
/** Duration of a flow that is not killed; kills happen within it. */
const ABOUT_MS = 1_200;

/** File in which jobs record their side effects. */
const notes = join(place.folder, "notes");
mkdirSync(notes);
const journal = join(notes, "journal");
const js = (expr: string) => ({ type: "javascript", expr });

/** Appends the job's id to a journal, so that repeated runs are visible from outside. */
const NOTE = `import { appendFileSync } from "node:fs";
const note = () => appendFileSync(${JSON.stringify(journal)}, process.env.WM_JOB_ID + "\\n");
`;
const script = (id: string, main: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content: NOTE + main, input_transforms: inputs },
  ...more,
});
const plusOne = (id: string, from: string, more: object = {}) =>
  script(id, "export const main = (n: number) => { note(); return n + 1; };", { n: js(from) }, more);
const times = (id: string) =>
  script(id, "export const main = (v: number, n: number) => { note(); return v * n; };", {
    v: js("flow_input.iter.value"),
    n: js("flow_input.n"),
  });
const sum = (id: string, from: string) =>
  script(id, "export const main = (l: number[]) => { note(); return l.reduce((a, b) => a + b, 0); };", {
    l: js(from),
  });
const chain = (prefix: string, first: string, length: number) =>
  Array.from({ length }, (_, at) =>
    plusOne(`${prefix}${at}`, at === 0 ? first : `results.${prefix}${at - 1}`),
  );

/** Fails until it has run three times in total, on whichever server. */
const FLAKY = `import { readFileSync } from "node:fs";
export const main = (n: number, flow: string) => {
  const mine = ${JSON.stringify(journal)} + "-" + flow;
  appendFileSync(mine, "x");
  note();
  if (readFileSync(mine, "utf8").length < 3) throw new Error("not yet");
  return n + 1;
};`;

/** Thirty steps, and more jobs, because loops run theirs repeatedly. */
const modules = [
  ...chain("a", "flow_input.n", 8),
  {
    id: "one",
    value: {
      type: "branchone",
      branches: [{ expr: "results.a7 > 1000000", modules: [plusOne("never", "0")] }],
      default: chain("b", "results.a7", 4),
    },
    sleep: { type: "static", value: 0.15 },
  },
  {
    id: "many",
    value: {
      type: "forloopflow",
      parallel: true,
      skip_failures: false,
      iterator: js("[1, 2, 3, 4, 5, 6]"),
      modules: [times("m")],
    },
  },
  sum("s", "results.many"),
  script(
    "flaky",
    FLAKY,
    { n: js("results.s"), flow: js("flow_input.flow") },
    {
      retry: { constant: { attempts: 20, seconds: 0 } },
    },
  ),
  {
    id: "each",
    value: {
      type: "forloopflow",
      skip_failures: false,
      iterator: js("[1, 2, 3]"),
      modules: [times("e"), plusOne("f", "results.e")],
    },
  },
  sum("t", "results.each"),
  {
    id: "all",
    value: {
      type: "branchall",
      parallel: true,
      branches: [{ modules: chain("c", "results.t", 2) }, { modules: chain("d", "results.flaky", 2) }],
    },
  },
  sum("u", "results.all"),
  ...chain("g", "results.u", 5),
];

/**
 * The expected result: 21 n of the parallel loop and one, 6 n + 3 of the other, 2 for each branch, 5 at the
 * end.
 */
const expected = (n: number) => 21 * n + 1 + (6 * n + 3) + 4 + 5;

test("after kill -9 at random moments, each flow completes correctly and no completed step runs again", async () => {
  let token = "";
  let n = 0;
  const flows = new Map<string, number>();
  const finished = new Map<string, number>();
  const journalSize = () => (existsSync(journal) ? statSync(journal).size : 0);
  const runsOf = () => {
    const runs = new Map<string, number>();
    if (!existsSync(journal)) return runs;
    for (const id of readFileSync(journal, "utf8").split("\n")) runs.set(id, (runs.get(id) ?? 0) + 1);
    return runs;
  };
  for (let round = 0; round < ROUNDS; round++) {
    const server = await place.serve({ env: { SVC_SANDBOX_WRITE: notes } });
    if (round === 0) token = await begin(server);
    for (let each = 0; each < 2; each++) flows.set(await run(server, token, ++n), n);
    // A slow machine gets to its first job, and a job that lost its worker twice to its end: after the third time it
    // would fail, as intended.
    const before = journalSize();
    await until(async () => (journalSize() > before ? true : undefined), "a job to run");
    await Bun.sleep(Math.random() * ABOUT_MS);
    await until(
      () => listSteps("state <> 'completed' AND attempts > 1").length === 0,
      "last attempts",
      60_000,
    );
    process.kill(server.pid, "SIGKILL");
    await server.process.exited;
    await until(
      async () => ((await processesOf(place.data_dir)).length === 0 ? true : undefined),
      "the children's end",
      // A process that was not yet reported to the watchdog ends by itself after five seconds.
      60_000,
    );
    // Jobs that are recorded as completed now will not run again.
    const runs = runsOf();
    for (const id of listSteps("state = 'completed'"))
      if (!finished.has(id)) finished.set(id, runs.get(id) ?? 0);
  }
  expect(finished.size).toBeGreaterThan(ROUNDS);

  const server = await place.serve({ env: { SVC_SANDBOX_WRITE: notes } });
  const headers = { authorization: `Bearer ${token}` };
  for (const [id, input] of flows) {
    const job = await until(async () => {
      const response = await fetch(`${server.url}/api/w/acme/jobs_u/completed/get/${id}`, { headers });
      return response.status === 200
        ? ((await response.json()) as { success: boolean; result: unknown })
        : undefined;
    }, `flow ${id}`);
    expect([id, job.success, job.result]).toEqual([id, true, expected(input)]);
  }
  process.kill(server.pid, "SIGTERM");
  expect(await server.process.exited).toBe(0);
  const runs = runsOf();
  for (const [id, before] of finished) expect([id, runs.get(id) ?? 0]).toEqual([id, before]);
}, 240_000);

async function begin(server: Serving): Promise<string> {
  const token = await setUp(server);
  const value = { modules };
  await server.operator("/w/acme/flows/create", { path: "u/ann/long", summary: "", value });
  return token;
}

async function run(server: Serving, token: string, n: number): Promise<string> {
  const response = await fetch(`${server.url}/api/w/acme/jobs/run/f/u/ann/long`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ n, flow: String(n) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return text;
}

/** Lists the ids of script jobs by a condition (SQL), as the database has them. */
function listSteps(condition: string): string[] {
  const db = new Database(join(place.data_dir, "svc.db"), { readwrite: true });
  try {
    const rows = db.query(`SELECT id FROM jobs WHERE kind = 'flowscript' AND ${condition}`).all();
    return (rows as { id: string }[]).map(({ id }) => id);
  } finally {
    db.close();
  }
}
