/** `svc backup` and `svc restore`: one moment of everything, under load, on both databases and from one to the other. */

import { Database as SqliteFile } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { getTableColumns, getTableName, is, Table } from "drizzle-orm";
import { snapshotPostgres } from "../../src/database/backup/postgres-backup.ts";
import { snapshotSqlite } from "../../src/database/backup/sqlite-backup.ts";
import { migrations } from "../../src/database/migrations/index.ts";
import { splitMigration } from "../../src/database/migrations/migrate.ts";
import { newPlace, type Place } from "../cli/program.ts";
import {
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../support/harness.ts";

setDefaultTimeout(60_000);

const postgres = process.env.DATABASE_URL;
let place: Place;
let server: TestServer;
let acme: Awaited<ReturnType<TestServer["workspace"]>>;
let url: string | undefined;
/** A backup of a server at rest. */
let quiet: string;

/** Every row of every table, as text. */
async function contents(data_dir: string, database_url?: string): Promise<Record<string, string[]>> {
  const snapshot = database_url
    ? await snapshotPostgres(database_url)
    : snapshotSqlite(join(data_dir, "svc.db"));
  const found: Record<string, string[]> = {};
  for (const head of snapshot.tables) {
    const order = [...head.columns.keys()].sort((a, b) => (head.columns[a]! < head.columns[b]! ? -1 : 1));
    const rows: string[] = [];
    for await (const cells of snapshot.rows(head)) rows.push(JSON.stringify(order.map((at) => cells[at])));
    found[head.table] = rows.sort();
  }
  await snapshot.close();
  return found;
}

/** Without what a running server writes every few seconds: heartbeats, the leader's lease, counts of usage. */
const atRest = ({
  workers: _,
  leaders: _leaders,
  workspace_usage: _usage,
  ...tables
}: Record<string, string[]>) => tables;

const env = (database_url?: string): Record<string, string> =>
  database_url ? { DATABASE_URL: database_url } : {};
const backup = (to: string, ...more: string[]) =>
  place.svc(["backup", to, "--data-dir", server.data_dir, ...more], { env: env(url) });
const restore = (
  from: string,
  data_dir: string,
  { database, force = false }: { database?: string; force?: boolean } = {},
) =>
  place.svc(["restore", from, "--data-dir", data_dir, ...(force ? ["--force"] : [])], { env: env(database) });

let targets = 0;
const newTarget = () => join(place.folder, `target-${++targets}`);

beforeAll(async () => {
  place = newPlace();
  server = await startTestServer();
  url = server.server.app.config.database_url;
  acme = await server.workspace();
  await deploy(
    acme.ask,
    "acme",
    "u/admin/one",
    "export const main = (n: number) => ({ n, text: 'ä\\u0000😀' })",
  );
  const value = { path: "u/admin/secret", value: "the-secret-value", is_secret: true, description: "" };
  await expectOk(acme.ask("POST", "/w/acme/variables/create", value));
  const storage = { large_file_storage: { type: "FilesystemStorage" } };
  await expectOk(acme.ask("POST", "/w/acme/workspaces/edit_large_file_storage_config", storage));
  const upload = (key: string, body: string) =>
    expectOk(acme.ask("POST", `/w/acme/job_helpers/upload_s3_file?file_key=${key}`, body));
  await upload("a/big.bin", "0123456789".repeat(70_000));
  await upload("empty.txt", "");
  await expectOk(acme.ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/one", { n: 1 }));
  quiet = join(place.folder, "quiet.backup");
  const made = await backup(quiet);
  expect([made.code, made.err]).toEqual([0, expect.stringContaining("the instance key is not in it")]);
});
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

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
    const run = await place.svc(["backup", "nothing.backup", "--data-dir", newTarget()]);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining("there is nothing to back up")]);
    expect(existsSync(join(place.folder, "nothing.backup"))).toBe(false);
  });
});

describe("restored", () => {
  test("into another folder, every row and file is the same", async () => {
    const target = newTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    const run = await restore(quiet, target, { database: database?.url });
    expect([run.code, run.err]).toEqual([0, expect.stringContaining("there is no instance key here")]);
    const there = await contents(server.data_dir, url);
    expect(atRest(await contents(target, database?.url))).toEqual(atRest(there));
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
    const target = newTarget();
    expect((await restore(quiet, target)).code).toBe(0);
    const original = atRest(await contents(server.data_dir, url));
    expect(atRest(await contents(target))).toEqual(original);
    const again = join(place.folder, "again.backup");
    expect((await place.svc(["backup", again, "--data-dir", target])).code).toBe(0);
    const database = await createDatabase(postgres!);
    expect((await restore(again, newTarget(), { database: database.url })).code).toBe(0);
    expect(atRest(await contents("", database.url))).toEqual(original);
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
    const target = newTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(path, target, { database: database?.url })).code).toBe(0);
    const found = await contents(target, database?.url);
    expect(found.users).toEqual([expect.stringContaining("old@example.org")]);
    expect(found.users![0]).toContain("1700000000123");
    expect(Object.keys(found)).toEqual(Object.keys(await contents(server.data_dir, url)));
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
    const target = newTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(path, target, { database: database?.url })).err).not.toContain("warning");
    expect(statSync(join(target, "instance.key")).mode & 0o777).toBe(0o600);
    // The harness makes a database of its own.
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
    const target = newTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    await restore(quiet, target, { database: database?.url });
    const before = await contents(target, database?.url);
    const refused = await restore(quiet, target, { database: database?.url });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("holds data already")]);
    writeFileSync(join(target, "instance.key"), readFileSync(join(server.data_dir, "instance.key")));
    const forced = await restore(quiet, target, { database: database?.url, force: true });
    expect([forced.code, forced.err]).toEqual([0, expect.stringContaining("what was there is kept in")]);
    expect(forced.err).not.toContain("warning");
    expect(await contents(target, database?.url)).toEqual(before);
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

  const target = newTarget();
  expect((await restore(path, target)).code).toBe(0);
  const restored = await contents(target);
  const now = await contents(server.data_dir, url);
  const ids = new Set(restored.jobs!.map((row) => row.match(/[0-9a-f]{8}-[0-9a-f-]{27}/)![0]));
  expect(before.filter((id) => !ids.has(id))).toEqual([]);
  // Jobs never change once they are completed, and what only grows is all there later.
  const later = new Set(now.jobs);
  const completed = restored.jobs!.filter((row) => row.includes('"completed"'));
  expect(completed.length).toBeGreaterThan(1);
  expect(completed.filter((row) => !later.has(row))).toEqual([]);
  // Each run leaves its audit row in the same commit as its job: one moment has both or neither.
  const runs = restored.audit_log!.filter((row) => row.includes("jobs.run.script"));
  const started = restored.jobs!.filter((row) => row.includes("u/admin/one") && row.includes('"script"'));
  expect(runs.length).toBe(started.length);
});

describe("an invalid backup file", () => {
  let target: string;
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
  const bad = async (name: string, bytes: Uint8Array | string) => {
    const path = join(place.folder, name);
    writeFileSync(path, bytes);
    const run = await restore(path, target, { force: true, database: database?.url });
    return [run.code, run.err.split("\n")[0]!.replace("error: ", "")] as const;
  };
  let untouched: Record<string, string[]>;
  beforeAll(async () => {
    target = newTarget();
    database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(quiet, target, { database: database?.url })).code).toBe(0);
    untouched = await contents(target, database?.url);
  });
  afterAll(async () => {
    expect(await contents(target, database?.url)).toEqual(untouched);
    await database?.drop();
    expect(readdirSync(target).filter((name) => /^(before-restore|restoring)/.test(name))).toEqual([]);
  });
  const parts = () => {
    const bytes = readFileSync(quiet);
    const end = bytes.indexOf(10);
    const header = JSON.parse(bytes.subarray(11, end).toString());
    return {
      bytes,
      header,
      body: bytes.subarray(end + 1),
      lines: gunzipSync(bytes.subarray(end + 1)).toString(),
    };
  };
  const packed = (header: object, lines: string) =>
    Buffer.concat([Buffer.from(`svc-backup ${JSON.stringify(header)}\n`), gzipSync(lines)]);

  test("is refused if it is another kind of file, missing or a folder", async () => {
    expect(await bad("text", "hello\nworld\n")).toEqual([1, "the file is not a backup of svc"]);
    expect(await bad("empty", "")).toEqual([1, "the file is not a backup of svc"]);
    expect(await bad("magic", "svc-backup {bad\n")).toEqual([1, expect.stringContaining("damaged")]);
    const missing = join(place.folder, "not-there");
    expect((await restore(missing, target)).err).toContain(
      `${missing} cannot be read: there is no such file`,
    );
    expect((await restore(place.folder, target)).err).toContain("cannot be read: it is a folder");
  });

  test("is refused if it is of a newer version", async () => {
    const { header, lines } = parts();
    const format = await bad("format", packed({ ...header, format: 2 }, lines));
    expect(format).toEqual([1, expect.stringContaining("made by a newer svc: it is of format 2")]);
    const migrations = [...header.migrations, "9999_later"];
    const newer = await bad("newer", packed({ ...header, migrations }, lines));
    expect(newer).toEqual([1, expect.stringContaining("made by a newer svc: it has migration 9999_later")]);
  });

  test("is refused if it is truncated at any place", async () => {
    const { bytes, body } = parts();
    const head = bytes.length - body.length;
    for (const length of [
      20,
      head - 1,
      head,
      head + 5,
      head + Math.floor(body.length / 2),
      bytes.length - 9,
      bytes.length - 1,
    ]) {
      const [code, says] = await bad("cut", bytes.subarray(0, length));
      expect([length, code, says]).toEqual([length, 1, expect.stringContaining("damaged or cut short")]);
    }
  });

  test("is refused if a line is missing, added or changed, or if a path leaves the folder", async () => {
    const { header, bytes, body, lines } = parts();
    const all = lines.trimEnd().split("\n");
    const at = all.findIndex((line) => line.startsWith("["));
    const changed = (change: (copy: string[]) => void) => {
      const copy = [...all];
      change(copy);
      return packed(header, `${copy.join("\n")}\n`);
    };
    const cases: [string, Uint8Array][] = [
      ["a row less", changed((copy) => copy.splice(at, 1))],
      ["a row more", changed((copy) => copy.splice(at, 0, copy[at]!))],
      ["no end", changed((copy) => copy.pop())],
      ["an end too early", changed((copy) => copy.splice(at, 0, copy.at(-1)!))],
      ["a value changed", changed((copy) => (copy[at] = copy[at]!.replace("e", "f")))],
      ["a line of nonsense", changed((copy) => (copy[at] = "{"))],
      ["a row of other columns", changed((copy) => (copy[at] = "[1]"))],
      ["another header", packed({ ...header, svc: "0.0.0" }, lines)],
      ["a file elsewhere", withFile(all, "storage/../../evil")],
      ["a file at the root", withFile(all, "/evil")],
      ["a file of the service", withFile(all, "instance.key")],
      [
        "flipped bits",
        Buffer.concat([
          bytes.subarray(0, -body.length),
          body.map((byte, n) => (n === 300 ? byte ^ 1 : byte)),
        ]),
      ],
    ];
    for (const [name, content] of cases) {
      const [code, says] = await bad("changed", content);
      expect([name, code, says]).toEqual([name, 1, expect.stringContaining("damaged or cut short")]);
    }
    for (const folder of [place.folder, target, "/"]) expect(existsSync(join(folder, "evil"))).toBe(false);
  });

  /** Somebody's work, not chance: its checksum is right. */
  function withFile(all: string[], file: string): Uint8Array {
    const { header } = parts();
    const copy = [...all.slice(0, -1), JSON.stringify({ file, mode: 0o600, mtime_ms: 0 })];
    const text = `svc-backup ${JSON.stringify(header)}\n${copy.join("\n")}\n`;
    const { end } = JSON.parse(all.at(-1)!);
    const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
    copy.push(JSON.stringify({ end: { ...end, files: end.files + 1, sha256 } }));
    return packed(header, `${copy.join("\n")}\n`);
  }

  test("cannot be restored over a running server", async () => {
    const run = await place.svc(["restore", quiet, "--data-dir", server.data_dir, "--force"], {
      env: env(url),
    });
    expect([run.code, run.err]).toEqual([1, expect.stringMatching(/in use by process \d+ \(svc serve/)]);
    if (!url) return;
    const elsewhere = await restore(quiet, newTarget(), { database: url, force: true });
    expect([elsewhere.code, elsewhere.err]).toEqual([
      1,
      expect.stringContaining("a server works on this database"),
    ]);
  });
});

describe("every table that there is", () => {
  /** Far from now, so that a server that looks finds nothing due; each kind of column that is not text or number takes it. */
  const LATER = new Date("9000-01-01T00:00:00.123Z");

  async function allTables(): Promise<Table[]> {
    const found = new Map<string, Table>();
    for (const name of new Bun.Glob("**/*tables.ts").scanSync(join(import.meta.dir, "../../src"))) {
      const module: Record<string, unknown> = await import(join(import.meta.dir, "../../src", name));
      for (const value of Object.values(module)) if (is(value, Table)) found.set(getTableName(value), value);
    }
    return [...found.values()];
  }

  /** A value for every column that does not count by itself. */
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
    await using own = await startTestServer();
    const { app } = own.server;
    const tables = await allTables();
    expect(tables.length).toBeGreaterThan(40);
    for (const table of tables) {
      await app.db.write(async (tx) => void (await tx.insert(table as never).values(rowOf(table) as never)));
    }
    const database_url = app.config.database_url;
    const original = await contents(own.data_dir, database_url);
    // Who works at the moment is not a part of what is kept, nor is the index of jobs, which is made of them.
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
    const made = await place.svc(["backup", path, "--data-dir", own.data_dir], { env: env(database_url) });
    expect([made.code, made.err]).toEqual([0, expect.anything()]);
    const target = newTarget();
    const database = postgres ? await createDatabase(postgres) : undefined;
    expect((await restore(path, target, { database: database?.url })).code).toBe(0);
    const restored = await contents(target, database?.url);
    for (const name of names) expect([name, restored[name]]).toEqual([name, original[name]!]);
    await database?.drop();
  });
});
