/** Writes that are committed and flushed have succeeded, even if the work after the commit fails. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "svc-after-commit-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SOURCE = JSON.stringify(resolve(import.meta.dirname, "../../src/database/sqlite/sqlite.ts"));
const WRITES = 40;

/** Runs a program with its own database in another process, whose number of open files is limited. */
async function run(name: string, prepare: string): Promise<unknown> {
  const program = join(folder, `${name}.ts`);
  await Bun.write(
    program,
    `import { closeSync, openSync } from "node:fs";
    import { openSqlite } from ${SOURCE};
    import { sql } from ${JSON.stringify(require.resolve("drizzle-orm"))};
    let reported = 0;
    process.on("uncaughtException", () => void reported++);
    const db = openSqlite({ path: ${JSON.stringify(join(folder, `${name}.db`))}, max_bytes: 0 });
    const taken: number[] = [];
    ${prepare}
    let effects = 0;
    const failures: string[] = [];
    for (let n = 0; n < ${WRITES}; n++) {
      await db.write(async (tx) => {
        await tx.rows(sql.raw(n === 0 ? "CREATE TABLE kept (n INTEGER)" : \`INSERT INTO kept VALUES (\${n})\`));
        tx.afterCommit(() => void effects++);
      }).catch((cause) => void failures.push(String(cause)));
    }
    for (const descriptor of taken) closeSync(descriptor);
    await Bun.sleep(0);
    const broken = await Promise.resolve(db.readBarrier()).catch(String);
    console.log(JSON.stringify({ failures, effects, broken, isReported: reported > 0 }));
    process.exit(0);`,
  );
  const limited = ["bash", "-c", 'ulimit -n 200; exec "$0" "$@"', process.execPath, program];
  const started = Bun.spawn(limited, { stdout: "pipe", stderr: "pipe" });
  const [text, errors] = await Promise.all([started.stdout.text(), started.stderr.text()]);
  expect(errors).not.toContain("SyntaxError");
  return JSON.parse(text);
}

test("a failure to read the log's size is logged and fails no write", async () => {
  // A connection in a transaction cannot run a checkpoint.
  const prepare = `await db.read.rows(sql.raw("BEGIN"));
    await db.read.rows(sql.raw("SELECT count(*) FROM sqlite_schema"));`;
  expect(await run("look", prepare)).toEqual({ failures: [], effects: WRITES, isReported: true });
});

test("writes are flushed although the process cannot open more files", async () => {
  // A lazy write opens all files that SQLite needs, and is not flushed at once.
  const prepare = `await db.write((tx) => tx.rows(sql.raw("CREATE TABLE opened (n INTEGER)")), { lazy: true });
    try { for (;;) taken.push(openSync("/dev/null", "r")); } catch {}
    if (taken.length === 0) throw new Error("no limit");`;
  expect(await run("files", prepare)).toEqual({ failures: [], effects: WRITES, isReported: false });
});
