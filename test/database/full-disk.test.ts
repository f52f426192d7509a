/** A full disk, or a full database. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { writeBackupFile } from "../../src/database/backup/backup-file.ts";
import { loadConfig } from "../../src/platform/config/config.ts";
import { startServer } from "../../src/server/server.ts";
import { startTestServer, until } from "../support/harness.ts";

const canMount =
  process.getuid?.() === 0 &&
  Bun.spawnSync(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]).exitCode === 0;

describe.skipIf(process.env.DATABASE_URL !== undefined)("a server on a full disk", () => {
  test.skipIf(!canMount)("refuses to start and says which folder is full and what to do", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-full-"));
    const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder]);
    expect(mounted.exitCode).toBe(0);
    try {
      const data_dir = join(folder, "data");
      const started = await startServer(
        loadConfig({ port: 0, log_level: "fatal", blank_children: 0, data_dir }),
      ).catch((cause) => cause);
      expect(started).toMatchObject({
        name: "StorageFull",
        message: expect.stringContaining(`the data directory ${data_dir} cannot be written to: `),
        hint: expect.stringContaining("--data-dir"),
      });
    } finally {
      Bun.spawnSync(["umount", "-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("is not ready while writes fail", async () => {
    await using server = await startTestServer({ max_database_mb: 3 });
    const { ask } = await server.workspace();
    const health = async () => (await server.as(undefined)("GET", "/health")).json().failing;
    expect(await health()).toEqual([]);
    const value = "x".repeat(100_000);
    await until(async () => {
      const path = `u/admin/v${Math.random().toString(36).slice(2)}`;
      const body = { path, value, is_secret: false, description: "" };
      const { status } = await ask("POST", "/w/acme/variables/create", body);
      return status === 507 || undefined;
    }, "a full database");
    await until(async () => ((await health()).includes("storage") ? true : undefined), "health to tell");
  }, 60_000);
});

test("the next backup removes what a killed one has left", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-parts-"));
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  const part = (host: string, pid: number) => join(folder, `old.backup.${host}-${pid}-abcdEF12.part`);
  const [killed, running, elsewhere] = [
    part(hostname(), ended.pid),
    part(hostname(), process.pid),
    part(`${hostname()}-2`, ended.pid),
  ];
  for (const path of [killed, running, elsewhere, join(folder, "my.part")]) writeFileSync(path, "a key");
  const header = {
    format: 1,
    created_at: "",
    svc: "0",
    database: "sqlite",
    migrations: [],
    with_key: false,
    key_id: null,
  } as const;
  await writeBackupFile(join(folder, "new.backup"), { ...header, migrations: [] }, (async function* () {})());
  const left = [...new Bun.Glob("*").scanSync({ cwd: folder })].map((name) => join(folder, name)).sort();
  expect(left).toEqual([running, elsewhere, join(folder, "my.part"), join(folder, "new.backup")].sort());
  rmSync(folder, { recursive: true });
});
