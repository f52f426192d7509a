/**
 * The baseline of a synchronous webhook: a server without features that does the same durable work with the same
 * libraries. It stores each call, runs it in a warm child, stores the result, and responds; both writes are flushed,
 * and concurrent ones share a commit.    bun prototype.ts <data directory> <number of children>
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { H3, serve } from "h3";

/** Message between parent and child. */
type Message = { id: number; value: unknown };

/** The job: a function that a warm process calls. */
const JOB = (args: { name: string }) => ({ hello: args.name });

const jobs = sqliteTable("job", {
  id: text().primaryKey(),
  workspace: text(),
  args: text({ mode: "json" }),
  state: text(),
  result: text(),
  created: integer(),
  completed: integer(),
});

if (process.send) {
  const answer = process.send.bind(process);
  process.on("message", ({ id, value }: Message) => answer({ id, value: JOB(value as { name: string }) }));
} else {
  const [folder, children] = process.argv.slice(2);
  await serveJobs(folder!, Number(children));
}

async function serveJobs(folder: string, children: number): Promise<void> {
  const commit = openDatabase(folder);
  const run = startChildren(children);
  const app = new H3().post("/api/w/:workspace/jobs/run_wait_result/p/**:path", async (event) => {
    const args = await event.req.json();
    const id = Bun.randomUUIDv7();
    const { workspace } = event.context.params!;
    await commit((job) => job.insert.run({ id, workspace, args, state: "running", created: Date.now() }));
    const result = await run(args);
    const completed = Date.now();
    await commit((job) =>
      job.complete.run({ id, state: "completed", result: JSON.stringify(result), completed }),
    );
    return result;
  });
  const server = serve(app, { port: 0, hostname: "127.0.0.1", silent: true, gracefulShutdown: false });
  await server.ready();
  process.stdout.write(`${new URL(server.url!).port}\n`);
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(file: Database) {
  const db = drizzle({ client: file });
  const { placeholder } = sql;
  return {
    insert: db
      .insert(jobs)
      .values({
        id: placeholder("id"),
        workspace: placeholder("workspace"),
        args: placeholder("args"),
        state: placeholder("state"),
        created: placeholder("created"),
      })
      .prepare(),
    complete: db
      .update(jobs)
      .set({
        state: sql`${placeholder("state")}`,
        result: sql`${placeholder("result")}`,
        completed: sql`${placeholder("completed")}`,
      })
      .where(eq(jobs.id, placeholder("id")))
      .prepare(),
  };
}

/**
 * Opens the database; writes of one turn of the event loop share a commit, which is flushed before they
 * resolve.
 */
function openDatabase(folder: string) {
  const file = new Database(join(folder, "prototype.db"));
  file.run("PRAGMA journal_mode = WAL");
  file.run("PRAGMA synchronous = FULL");
  file.run(
    "CREATE TABLE job (id TEXT PRIMARY KEY, workspace TEXT, args TEXT, state TEXT, result TEXT, created INTEGER, completed INTEGER)",
  );
  file.run("CREATE INDEX job_by_state ON job (state, created)");
  file.run("CREATE INDEX job_by_workspace ON job (workspace, created)");
  const statements = prepareStatements(file);
  let waiting: { write: (statements: Statements) => void; resolve: () => void }[] = [];
  function commitAll(): void {
    const batch = waiting;
    waiting = [];
    file.run("BEGIN IMMEDIATE");
    for (const { write } of batch) write(statements);
    file.run("COMMIT");
    for (const { resolve } of batch) resolve();
  }
  return (write: (statements: Statements) => void) =>
    new Promise<void>((resolve) => {
      if (waiting.length === 0) setImmediate(commitAll);
      waiting.push({ write, resolve });
    });
}

/** Starts warm children, which take jobs in turn. */
function startChildren(count: number) {
  const waiting = new Map<number, (value: unknown) => void>();
  const children = Array.from({ length: count }, () =>
    Bun.spawn([process.execPath, import.meta.path], {
      serialization: "json",
      ipc({ id, value }: Message) {
        waiting.get(id)!(value);
        waiting.delete(id);
      },
    }),
  );
  let sent = 0;
  return (args: unknown) =>
    new Promise<unknown>((resolve) => {
      const id = ++sent;
      waiting.set(id, resolve);
      children[id % count]!.send({ id, value: args } satisfies Message);
    });
}
