/** A stopping server stops all its parts, also if the database is gone by then. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { lockDirectory } from "../../../src/lib/files/directory-lock.ts";
import {
  type Ask,
  createTemporaryFolder,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { type PostgresServer, startPostgres } from "../../support/peers/postgres-server.ts";

setDefaultTimeout(90_000);

/** Reports where it runs, and that it ended once there is a file `go`. */
const WORKS = `
import { existsSync, writeFileSync } from "node:fs";
export async function main(folder: string) {
  writeFileSync(folder + "/pid", String(process.pid));
  while (!existsSync(folder + "/go")) await Bun.sleep(20);
  writeFileSync(folder + "/ended", "");
}`;

async function listensTo(url: string, ask: Ask): Promise<void> {
  const body = {
    path: "u/admin/socket",
    url,
    script_path: "u/admin/works",
    is_flow: false,
    filters: [],
    initial_messages: [],
  };
  await expectOk(ask("POST", "/w/acme/websocket_triggers/create", body));
}

const refused = (url: string) =>
  fetch(`${url}/api/health/live`).then(
    () => false,
    () => true,
  );

describe("with the database gone", () => {
  async function stopsAll(server: TestServer, folder: string, goes: () => Promise<void>): Promise<void> {
    using peer = Bun.serve({
      port: 0,
      fetch: (request, self) => (self.upgrade(request) ? undefined : new Response("no")),
      websocket: { message() {} },
    });
    const { ask } = await server.workspace();
    await deploy(ask, "acme", "u/admin/works", WORKS);
    await listensTo(`ws://127.0.0.1:${peer.port}`, ask);
    await until(() => (peer.pendingWebSockets > 0 ? true : undefined), "the connection");
    await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/works", { folder }));
    await until(() => existsSync(join(folder, "pid")) || undefined, "the job");
    const pid = Number(await Bun.file(join(folder, "pid")).text());
    await goes();
    const stopped = server.server.stop().catch(() => {});
    // Running jobs are waited for, as usual.
    await Bun.write(join(folder, "go"), "");
    await stopped;
    expect(existsSync(join(folder, "ended"))).toBe(true);
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(peer.pendingWebSockets).toBe(0);
    expect(await refused(server.url)).toBe(true);
    // The directory is free again.
    lockDirectory(server.data_dir, "the test").release();
  }

  const folderOf = () => createTemporaryFolder("svc-shutdown-");

  test.skipIf(!!process.env.DATABASE_URL)("a closed file", async () => {
    const folder = folderOf();
    const server = await startTestServer({ sandbox_write: folder, allowed_targets: "127.0.0.1" });
    await stopsAll(server, folder, () => server.server.app.db.close());
    rmSync(folder, { recursive: true, force: true });
  });

  test.skipIf(!process.env.DATABASE_URL)("a stopped PostgreSQL", async () => {
    const postgres: PostgresServer = await startPostgres();
    const folder = folderOf();
    const options = { database_url: postgres.url, sandbox_write: folder, allowed_targets: "127.0.0.1" };
    try {
      await stopsAll(await startTestServer(options), folder, () => postgres.halt());
    } finally {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
