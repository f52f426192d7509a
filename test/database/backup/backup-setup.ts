/** A server with data, the backups made of it, and what a restored database contains. */
import { afterAll, beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { snapshotPostgres } from "../../../src/database/backup/postgres-backup.ts";
import { snapshotSqlite } from "../../../src/database/backup/sqlite-backup.ts";
import { type CliEnvironment, createCliEnvironment } from "../../cli/program.ts";
import { deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

export const postgres = process.env.DATABASE_URL;
export let place: CliEnvironment;
export let server: TestServer;
export let acme: Awaited<ReturnType<TestServer["workspace"]>>;
export let url: string | undefined;
/** A backup of a server at rest. */
export let quiet: string;

/** Reads every row of every table, as text. */
export async function readTables(data_dir: string, database_url?: string): Promise<Record<string, string[]>> {
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

export const env = (database_url?: string): Record<string, string> =>
  database_url ? { DATABASE_URL: database_url } : {};
export const backup = (to: string, ...more: string[]) =>
  place.svc(["backup", to, "--data-dir", server.data_dir, ...more], { env: env(url) });
export const restore = (
  from: string,
  data_dir: string,
  { database, force = false }: { database?: string; force?: boolean } = {},
) =>
  place.svc(["restore", from, "--data-dir", data_dir, ...(force ? ["--force"] : [])], { env: env(database) });

let targets = 0;
export const createTarget = () => join(place.folder, `target-${++targets}`);

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpBackups(): void {
  beforeAll(async () => {
    place = createCliEnvironment();
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
}
