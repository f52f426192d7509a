/**
 * `svc backup` and `svc restore`: a consistent snapshot, under load, on both databases and from one to the
 * other.
 */
import { Database as SqliteFile } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { getTableColumns, getTableName, is, Table } from "drizzle-orm";
import { migrations } from "../../../src/database/migrations/index.ts";
import { splitMigration } from "../../../src/database/migrations/migrate.ts";
import { openDatabase } from "../../../src/database/open-database.ts";
import { createDatabase, expectOk, startTestServer, until } from "../../support/harness.ts";
import {
  acme,
  backup,
  createTarget,
  env,
  place,
  postgres,
  quiet,
  readTables,
  restore,
  server,
  setUpBackups,
  url,
} from "./backup-setup.ts";

setDefaultTimeout(60_000);

setUpBackups();

/**
 * Without rows that a running server writes every few seconds: heartbeats, the leader's lease, usage counts.
 */
const atRest = ({
  workers: _,
  leaders: _leaders,
  workspace_usage: _usage,
  ...tables
}: Record<string, string[]>) => tables;

describe("a backup", () => {
  test("has mode 0600 and a header, and contains neither key nor secret", () => {
    expect(statSync(quiet).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(quiet);
    const end = bytes.indexOf(10);
    const header = JSON.parse(bytes.subarray("svc-backup ".length, end).toString());
    expect(header).toMatchObject({ format: 1, with_key: false, database: postgres ? "postgres" : "sqlite" });
    expect(header.migrations[0]).toBe("0000_init");
    const text = gunzipSync(bytes.subarray(end + 1)).toString();
    expect(text).toContain("u/admin/one");
    expect(text).not.toContain("the-secret-value");
    expect(text).not.toContain(readFileSync(join(server.data_dir, "instance.key"), "utf8").trim());
    expect(readdirSync(place.folder).filter((name) => name.includes(".part"))).toEqual([]);
  });

  test("does not replace an existing file unless forced", async () => {
    const path = join(place.folder, "there");
    writeFileSync(path, "mine");
    const refused = await backup(path);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("exists already")]);
    expect(readFileSync(path, "utf8")).toBe("mine");
    expect((await backup(path, "--force", "--json")).code).toBe(0);
    expect(readFileSync(path, "latin1")).toStartWith("svc-backup ");
  });

  test("to a path that cannot be written is rejected with the reason", async () => {
    const away = await backup(join(place.folder, "away", "all.backup"));
    const folder = join(place.folder, "away");
    expect([away.code, away.err]).toEqual([1, expect.stringContaining(`there is no folder ${folder}\n`)]);
    const onFolder = await backup(place.folder, "--force");
    expect([onFolder.code, onFolder.out]).toEqual([1, ""]);
    expect(readdirSync(place.folder).filter((name) => name.includes(".part"))).toEqual([]);
  });

  test.skipIf(Boolean(postgres))("of an empty folder is refused", async () => {
    const run = await place.svc(["backup", "nothing.backup", "--data-dir", createTarget()]);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining("there is nothing to back up")]);
    expect(existsSync(join(place.folder, "nothing.backup"))).toBe(false);
  });
});

describe("restored", () => {
  test("into another folder, every row and file is the same", async () => {
    const target = createTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    const run = await restore(quiet, target, { database: database?.url });
    expect([run.code, run.err]).toEqual([0, expect.stringContaining("there is no instance key here")]);
    const there = await readTables(server.data_dir, url);
    expect(atRest(await readTables(target, database?.url))).toEqual(atRest(there));
    const file = "storage/acme/_default_/a/big.bin";
    const found = [...new Bun.Glob("storage/**/*").scanSync({ cwd: target, dot: true })].sort();
    const wanted = [...new Bun.Glob("storage/**/*").scanSync({ cwd: server.data_dir, dot: true })].sort();
    expect(found).toEqual(wanted);
    const big = wanted.find((name) => name.endsWith("big.bin")) ?? file;
    expect(readFileSync(join(target, big)).equals(readFileSync(join(server.data_dir, big)))).toBe(true);
    const times = [target, server.data_dir].map((root) => Math.floor(statSync(join(root, big)).mtimeMs));
    expect(times[0]).toBe(times[1]!);
    expect(existsSync(join(target, "restoring"))).toBe(false);
    await database?.drop();
  });

  test.skipIf(!postgres)("from PostgreSQL to SQLite and back, every row is the same", async () => {
    const target = createTarget();
    expect((await restore(quiet, target)).code).toBe(0);
    const original = atRest(await readTables(server.data_dir, url));
    expect(atRest(await readTables(target))).toEqual(original);
    const again = join(place.folder, "again.backup");
    expect((await place.svc(["backup", again, "--data-dir", target])).code).toBe(0);
    const database = await createDatabase(postgres!);
    expect((await restore(again, createTarget(), { database: database.url })).code).toBe(0);
    expect(atRest(await readTables("", database.url))).toEqual(original);
    await database.drop();
  });

  test("a backup of an older schema is migrated and keeps its rows", async () => {
    const old = join(place.folder, "older");
    mkdirSync(old);
    const file = new SqliteFile(join(old, "svc.db"));
    file.run("CREATE TABLE svc_migrations (name text PRIMARY KEY, applied_at integer NOT NULL)");
    const [first] = migrations.sqlite;
    for (const text of splitMigration(first!)) file.run(text);
    file.run("INSERT INTO svc_migrations VALUES (?, 0)", [first!.name]);
    file.run(
      "INSERT INTO users (email, login_type, super_admin, verified, first_time_user, created_at) VALUES ('old@example.org', 'password', 1, 1, 0, 1700000000123)",
    );
    file.close();
    const path = join(place.folder, "older.backup");
    expect((await place.svc(["backup", path, "--data-dir", old])).code).toBe(0);
    const target = createTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(path, target, { database: database?.url })).code).toBe(0);
    const found = await readTables(target, database?.url);
    expect(found.users).toEqual([expect.stringContaining("old@example.org")]);
    expect(found.users![0]).toContain("1700000000123");
    expect(Object.keys(found)).toEqual(Object.keys(await readTables(server.data_dir, url)));
    const doctor = await place.svc(["doctor", "--data-dir", target, "--port", "0"], {
      env: env(database?.url),
    });
    expect(doctor.out).toContain(`all ${migrations.sqlite.length} are done`);
    await database?.drop();
  });

  test("with the instance key, a server starts on it with its secrets, files and tokens", async () => {
    const path = join(place.folder, "with-key.backup");
    const made = await backup(path, "--with-key");
    expect([made.code, made.err]).toEqual([0, expect.stringContaining("it holds the instance key")]);
    const target = createTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(path, target, { database: database?.url })).err).not.toContain("warning");
    expect(statSync(join(target, "instance.key")).mode & 0o777).toBe(0o600);
    // The harness creates a separate database.
    if (!database) {
      await using restored = await startTestServer({ data_dir: target });
      const ask = restored.as(acme.token);
      const value = await ask("GET", "/w/acme/variables/get_value/u/admin/secret");
      expect(value.json()).toBe("the-secret-value");
      expect((await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/one", { n: 7 })).json().n).toBe(7);
      const file = await ask("GET", "/w/acme/job_helpers/download_s3_file?file_key=a/big.bin");
      expect(file.text.length).toBe(700_000);
    }
    await database?.drop();
  });

  test("replaces an existing database only with --force, and keeps the old one", async () => {
    const target = createTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    await restore(quiet, target, { database: database?.url });
    const before = await readTables(target, database?.url);
    const refused = await restore(quiet, target, { database: database?.url });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("holds data already")]);
    writeFileSync(join(target, "instance.key"), readFileSync(join(server.data_dir, "instance.key")));
    const forced = await restore(quiet, target, { database: database?.url, force: true });
    expect([forced.code, forced.err]).toEqual([0, expect.stringContaining("what was there is kept in")]);
    expect(forced.err).not.toContain("warning");
    expect(await readTables(target, database?.url)).toEqual(before);
    const aside = readdirSync(target).find((name) => name.startsWith("before-restore-"))!;
    expect(readdirSync(join(target, aside)).sort()).toEqual(postgres ? ["storage"] : ["storage", "svc.db"]);
    await database?.drop();
  });
});

test("a backup under load is consistent and contains every write acknowledged before it", async () => {
  let stop = false;
  const acknowledged: string[] = [];
  const submit = async (worker: number) => {
    for (let n = 0; !stop; n++) {
      const answer = await expectOk(
        acme.ask("POST", "/w/acme/jobs/run/p/u/admin/one", { n: worker * 1e6 + n }),
      );
      acknowledged.push(answer.text);
    }
  };
  const load = [1, 2, 3, 4].map(submit);
  await until(() => acknowledged.length > 50 || undefined, "some jobs");
  const before = [...acknowledged];
  const path = join(place.folder, "loaded.backup");
  const run = await backup(path);
  stop = true;
  await Promise.all(load);
  expect(run.code).toBe(0);
  expect(acknowledged.length).toBeGreaterThan(before.length);
  await until(async () => {
    const count = await acme.ask("GET", "/w/acme/jobs/queue/list");
    return count.json().length === 0 || undefined;
  }, "the queue to be empty");

  const target = createTarget();
  expect((await restore(path, target)).code).toBe(0);
  const restored = await readTables(target);
  const now = await readTables(server.data_dir, url);
  const ids = new Set(restored.jobs!.map((row) => row.match(/[0-9a-f]{8}-[0-9a-f-]{27}/)![0]));
  expect(before.filter((id) => !ids.has(id))).toEqual([]);
  // Completed jobs never change, and append-only tables still contain earlier rows.
  const later = new Set(now.jobs);
  const completed = restored.jobs!.filter((row) => row.includes('"completed"'));
  expect(completed.length).toBeGreaterThan(1);
  expect(completed.filter((row) => !later.has(row))).toEqual([]);
  // Each run commits its audit entry together with its job: a snapshot has both or neither. A row has one or more.
  const audited = restored.audit_log!.filter((row) => row.includes("jobs.run.script"));
  const runs = audited.flatMap((row) => row.match(/job_id/g)!);
  const started = restored.jobs!.filter((row) => row.includes("u/admin/one") && row.includes('"script"'));
  expect(runs.length).toBe(started.length);
});

describe("every table", () => {
  /** So far in the future that nothing is due; valid for each kind of column that is not text or number. */
  const LATER = new Date("9000-01-01T00:00:00.123Z");

  async function allTables(): Promise<Table[]> {
    const found = new Map<string, Table>();
    for (const name of new Bun.Glob("**/*tables.ts").scanSync(join(import.meta.dir, "../../../src"))) {
      const module: Record<string, unknown> = await import(join(import.meta.dir, "../../../src", name));
      for (const value of Object.values(module)) if (is(value, Table)) found.set(getTableName(value), value);
    }
    return [...found.values()];
  }

  /** A value for every column that is not generated. */
  function rowOf(table: Table): Record<string, unknown> {
    const row: Record<string, unknown> = {};
    for (const [name, column] of Object.entries(getTableColumns(table))) {
      if (column.generatedIdentity || (column as { autoIncrement?: boolean }).autoIncrement) continue;
      const byKind: Record<string, unknown> = { string: `${name} ä\u{1f600}`, number: 7, boolean: true };
      row[name] = column.getSQLType() === "tsvector" ? "some words" : (byKind[column.dataType] ?? LATER);
    }
    return row;
  }

  test("is in a backup with all its columns, and equal after the restore", async () => {
    const data_dir = createTarget();
    const source = postgres ? await createDatabase(postgres, "migrated") : undefined;
    const database_url = source?.url;
    // Stopped, because its background tasks would process some of the rows.
    await startTestServer({ data_dir, database_url }).then((made) => made.stop());
    const db = await openDatabase({ data_dir, database_url, max_bytes: 0, max_connections: 1 });
    const tables = await allTables();
    expect(tables.length).toBeGreaterThan(40);
    for (const table of tables) {
      await db.write(async (tx) => void (await tx.insert(table as never).values(rowOf(table) as never)));
    }
    await db.close();
    const original = await readTables(data_dir, database_url);
    // Live workers are not backed up, and the search index of jobs is derived.
    const names = tables
      .map(getTableName)
      .filter((name) => name !== "workers" && !name.startsWith("job_search"))
      .sort();
    expect(
      Object.keys(original)
        .filter((name) => names.includes(name))
        .sort(),
    ).toEqual(names);
    expect(names.filter((name) => original[name]!.length === 0)).toEqual([]);
    const path = join(place.folder, "all-tables.backup");
    const made = await place.svc(["backup", path, "--data-dir", data_dir], { env: env(database_url) });
    expect([made.code, made.err]).toEqual([0, expect.anything()]);
    const target = createTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(path, target, { database: database?.url })).code).toBe(0);
    const restored = await readTables(target, database?.url);
    for (const name of names) expect([name, restored[name]]).toEqual([name, original[name]!]);
    await Promise.all([source?.drop(), database?.drop()]);
  });
});
