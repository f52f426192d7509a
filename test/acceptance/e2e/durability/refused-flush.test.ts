/**
 * A disk that refuses to flush: nothing more is stored, callers are told, and the process exits to be
 * restarted.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk, startTestServer } from "../../../support/harness.ts";

setDefaultTimeout(60_000);
const ROOT = join(import.meta.dir, "../../../..");

async function expectStatus(asked: Promise<Response>, status: number): Promise<void> {
  const answer = await asked;
  if (answer.status !== status) throw new Error(`${answer.status} ${await answer.text()}`);
}

test("after one failed flush the server logs the reason, answers 503, and exits with an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-flush-"));
  const fails = join(folder, "fails");
  const server = Bun.spawn(
    [
      process.execPath,
      "--preload",
      join(ROOT, "test/support/failing-flush.ts"),
      join(ROOT, "cli/main.ts"),
      "serve",
      "--port",
      "0",
      "--json",
    ],
    {
      env: {
        PATH: process.env.PATH!,
        HOME: folder,
        SVC_DATA_DIR: join(folder, "data"),
        SVC_LOG_FORMAT: "json",
        FAIL_FLUSH_FILE: fails,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  try {
    let text = "";
    for await (const piece of server.stdout) {
      text += new TextDecoder().decode(piece);
      if (text.includes("\n}\n")) break;
    }
    const { url } = JSON.parse(text);
    const operator = (method: string, path: string, body?: object) =>
      fetch(`http://localhost/api${path}`, {
        unix: join(folder, "data/svc.sock"),
        method,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
    const user = (n: number) => ({ email: `u${n}@example.org`, password: "a-password", super_admin: false });
    expect((await operator("POST", "/users/create", user(1))).status).toBe(201);
    await expectStatus(
      operator("POST", "/workspaces/create", { id: "acme", name: "Acme", username: "ann" }),
      201,
    );
    const script = { path: "u/ann/hello", content: "export const main = () => 'hello';", language: "bun" };
    await expectStatus(operator("POST", "/w/acme/scripts/create", script), 201);
    const call = () => operator("POST", "/w/acme/jobs/run_wait_result/p/u/ann/hello", {});
    expect(await (await call()).text()).toBe('"hello"');
    expect((await fetch(`${url}/api/health`)).status).toBe(200);
    await Bun.write(fails, "");

    // Its job starts before the flush, but its result is not returned.
    const called = await call();
    expect([called.status, await called.text()]).toEqual([
      503,
      expect.stringContaining("the disk refused to flush"),
    ]);
    const refused = await operator("POST", "/users/create", user(2));
    const [health, metrics, read] = await Promise.all([
      fetch(`${url}/api/health`),
      operator("GET", "/metrics"),
      operator("GET", "/users/list_as_super_admin"),
    ]);
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("the disk refused to flush");
    expect(health.status).toBe(503);
    expect(await health.json()).toMatchObject({
      status: "unready",
      failing: expect.arrayContaining(["database"]),
    });
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toMatch(/^svc_database_broken 1$/m);
    // Data that was never on disk is not reported to anyone.
    expect(read.status).toBe(503);
    expect(await server.exited).toBe(1);
    expect(await server.stderr.text()).toContain("svc ends, to be started again: the disk refused to flush");
    // After the next start, everything acknowledged is there, and writes work again.
    await using next = await startTestServer({ data_dir: join(folder, "data"), database_url: undefined });
    const users = (await expectOk(next.operator("GET", "/users/list_as_super_admin"))).json();
    expect(users.map(({ email }: { email: string }) => email)).toContain("u1@example.org");
    await expectOk(next.operator("POST", "/users/create", user(3)));
  } finally {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
});
