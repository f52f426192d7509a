/**
 * Operations on many rows, and how long the longest small call beside each has to wait: a read and a write of another
 * workspace, one after the other, for as long as the operation takes.
 *
 *   bun test/bench/rows/many-rows.ts [history] [queued] [part of a name]     by itself, after `bun run build`;
 *                                                                       on PostgreSQL with DATABASE_URL set
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { SQL } from "bun";
import { type Bench, startServer } from "../tools/processes.ts";
import { measureTime, measureWaits } from "../tools/waits.ts";

const [HISTORY = 1_000_000, QUEUED = 10_000] = process.argv.slice(2, 4).map(Number);
const WANTED = process.argv[4] ?? "";
const SECRETS = 5_000;
const MOST_MS = 100;
const isPostgres = process.env.DATABASE_URL !== undefined;

const idOf = (family: string, i: number) => `${family}-0000-7000-8000-${String(i).padStart(12, "0")}`;
const ids = (family: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => idOf(family, from + i));

interface Waits {
  took: number;
  read: number[];
  write: number[];
}

async function main(): Promise<void> {
  const server = await startServer(isPostgres ? { DATABASE_URL: process.env.DATABASE_URL! } : {}, {
    super_admin: true,
  });
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const answer = await fetch(`${server.url}/api${path}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
    return text;
  };

  async function beside(what: string, work: () => Promise<unknown>): Promise<void> {
    if (!what.includes(WANTED)) return;
    let isOver = false;
    const waits: Waits = { took: 0, read: [], write: [] };
    const working = measureTime(work).finally(() => {
      isOver = true;
    });
    const probe = async (list: number[], one: () => Promise<unknown>) => {
      while (!isOver) list.push(await measureWaits(server.pid, one));
    };
    const value = { value: "1", is_secret: false };
    await Promise.all([
      probe(waits.read, () => call("GET", "/w/probe/variables/get/f/all/x")),
      probe(waits.write, () => call("POST", "/w/probe/variables/update/f/all/x", value)),
    ]);
    waits.took = await working;
    report(what, waits);
  }

  try {
    await call("POST", "/workspaces/create", { id: "probe", name: "probe", username: "probe" });
    await call("POST", "/w/probe/folders/create", { name: "all" });
    await call("POST", "/w/probe/variables/create", {
      path: "f/all/x",
      value: "0",
      is_secret: false,
      description: "",
    });
    await beside("nothing", () => Bun.sleep(3_000));
    await fill(server);
    // Flushes the page cache that filling the tables left.
    await Bun.$`sync`;
    const secret = { value: "x", is_secret: true, description: "" };
    await call("POST", "/w/acme/folders/create", { name: "much" });
    for (let at = 0; at < 2 * SECRETS; at += 50) {
      const place = at < SECRETS ? "u/ann" : "f/much";
      const some = Array.from({ length: 50 }, (_, i) => `${place}/s${at + i}`);
      await Promise.all(some.map((path) => call("POST", "/w/acme/variables/create", { path, ...secret })));
    }
    await operations(beside, call);
  } finally {
    await server.stop();
  }
}

type Call = (method: string, path: string, body?: unknown) => Promise<string>;
type Beside = (what: string, work: () => Promise<unknown>) => Promise<void>;

async function operations(beside: Beside, call: Call): Promise<void> {
  const w = "/w/acme";
  const count = (n: number) => n.toLocaleString("en");
  await beside(`cancel_selection of ${count(QUEUED)}`, () =>
    call("POST", `${w}/jobs/queue/cancel_selection`, ids("01910000", Math.min(QUEUED, 10_000))),
  );
  await beside("jobs/delete of 10,000", () => call("POST", `${w}/jobs/delete`, ids("01900000", 10_000)));
  let exported = "[]";
  await beside("completed/export of 5,000", async () => {
    exported = await call("GET", `${w}/jobs/completed/export?per_page=5000`);
  });
  const again = JSON.parse(exported).map((job: object, i: number) => ({ ...job, id: idOf("01950000", i) }));
  await beside("completed/import of 5,000", () => call("POST", `${w}/jobs/completed/import`, again));
  await beside("add_batch_jobs of 10,000", () =>
    call("POST", `${w}/jobs/add_batch_jobs/10000`, { kind: "noop" }),
  );
  await beside("eight searches for what is not there", () =>
    Promise.all(Array.from({ length: 8 }, () => call("GET", `${w}/jobs/list?label=none`))),
  );
  await beside("a search inside of arguments", () =>
    call("GET", `${w}/jobs/list?args=${encodeURIComponent('{"kind":-1}')}`),
  );
  await beside(`another key for ${count(SECRETS * 2)} secrets`, () =>
    call("POST", `${w}/workspaces/encryption_key`, { new_key: "k".repeat(64) }),
  );
  await beside(
    `another name for a user with ${count(QUEUED * 2)} queued runs and ${count(SECRETS)} variables`,
    () => call("POST", "/users/rename/ann@example.org", { new_username: "anna" }),
  );
  await beside(`deletion of a folder with ${count(SECRETS)} variables`, () =>
    call("DELETE", `${w}/folders/delete/much`),
  );
  await beside(
    `pruning a concurrency group of ${count(QUEUED)} ended and ${count(QUEUED)} blocked runs`,
    () => call("DELETE", "/concurrency_groups/prune/crowd"),
  );
  const flow = { path: "f/all/flow", summary: "", value: { modules: [] }, schema: {} };
  await call("POST", `${w}/folders/create`, { name: "all" });
  await call("POST", `${w}/flows/create`, flow);
  await beside(`deletion of a flow, beside ${count(HISTORY)} runs`, () =>
    call("DELETE", `${w}/flows/delete/f/all/flow`),
  );
  await beside(`a member leaves with ${count(QUEUED)} queued runs`, () =>
    call("DELETE", `${w}/users/delete/leaver`),
  );
  let id = "acme";
  await beside(`another id for ${count(HISTORY)} jobs, ${count(QUEUED)} of them queued`, async () => {
    await call("POST", `${w}/workspaces/change_workspace_id`, { new_id: "umbra" });
    id = "umbra";
  });
  await beside(`archiving with ${count(QUEUED)} queued`, () => call("POST", `/w/${id}/workspaces/archive`));
  await beside(`deletion of ${count(HISTORY)} jobs`, () => call("DELETE", `/workspaces/delete/${id}`));
}

function report(what: string, { took, read, write }: Waits): void {
  const most = (list: number[]) => Math.max(0, ...list);
  const longest = Math.max(most(read), most(write));
  const verdict = longest <= MOST_MS ? "holds" : "MISSED";
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const line = [
    what,
    `took ${ms(took)}`,
    `longest read ${ms(most(read))} of ${read.length}`,
    `longest write ${ms(most(write))} of ${write.length}`,
  ];
  process.stdout.write(`${[...line, `<= ${MOST_MS} ms`, verdict].join(" | ")}\n`);
}

/** Stores jobs, secrets and a member while the server runs. */
async function fill({ data_dir }: Bench): Promise<void> {
  const statements = [
    jobRows(HISTORY, "01900000", "completed", "u/ann"),
    jobRows(QUEUED, "01910000", "queued", "u/ann"),
    jobRows(QUEUED, "01920000", "queued", "u/ann"),
    jobRows(QUEUED, "01930000", "queued", "u/leaver"),
    jobRows(QUEUED, "01940000", "completed", "u/ann", "crowd"),
    jobRows(QUEUED, "01960000", "queued", "u/admin", "crowd"),
    ...others(),
  ];
  if (isPostgres) {
    const client = new SQL(process.env.DATABASE_URL!);
    for (const statement of statements) await client.unsafe(statement);
    await client.unsafe("ANALYZE");
    await client.end();
    return;
  }
  const database = new Database(join(data_dir, "svc.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run("PRAGMA synchronous = OFF");
  database.transaction(() => {
    for (const statement of statements) database.run(statement);
  })();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

const moment = (ms: string) => (isPostgres ? `to_timestamp((${ms}) / 1000.0)` : ms);
const yes = isPostgres ? "true" : "1";
const no = isPostgres ? "false" : "0";
const numbered = (count: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
const padded = (width: number) => (isPostgres ? `lpad(i::text, ${width}, '0')` : `printf('%0${width}d', i)`);

function jobRows(
  count: number,
  family: string,
  state: "queued" | "completed",
  as: string,
  concurrency_key?: string,
): string {
  const isQueued = state === "queued";
  const at = moment(`${Date.now() - 86_400_000} + i * 10`);
  const unless = (value: string) => (isQueued ? "NULL" : value);
  const values = {
    id: `'${family}-0000-7000-8000-' || ${padded(12)}`,
    workspace_id: "'acme'",
    kind: "'script'",
    state: `'${state}'`,
    status: unless("'success'"),
    created_by: "'ann'",
    permissioned_as: `'${as}'`,
    email: "'ann@example.org'",
    created_at: at,
    scheduled_for: isQueued ? moment(String(Date.now() + 86_400_000)) : at,
    started_at: unless(at),
    completed_at: unless(at),
    duration_ms: unless("3"),
    script_path: "'u/ann/script'",
    script_hash: "'00000000000000aa'",
    language: "'bun'",
    tag: "'bun'",
    concurrency_key: concurrency_key === undefined ? "NULL" : `'${concurrency_key}'`,
    concurrency_blocked: concurrency_key !== undefined && isQueued ? yes : no,
    args: `'{"kind":1,"name":"Bob"}'`,
    result: unless(`'{"hello":"Bob"}'`),
  };
  const text = `INSERT INTO jobs (${Object.keys(values)}) ${numbered(count)} SELECT ${Object.values(values)} FROM n`;
  return text;
}

function others(): string[] {
  const now = moment(String(Date.now()));
  return [
    `INSERT INTO workspace_members (workspace_id, email, username, is_admin, operator, disabled, created_at)
     VALUES ('acme', 'leaver@example.org', 'leaver', ${no}, ${no}, ${no}, ${now})`,
  ];
}

await main();
