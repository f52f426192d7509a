/** A machine that lacks the resources to start a process: an outage, which no job is failed for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const isRoot = process.getuid?.() === 0;
let server: TestServer;
let ask: Ask;
let isShort = false;

/** The folder of a child cannot be created: permissions do not stop root, for whom the disk is full. */
function begin(): void {
  const folder = join(server.data_dir, "runner", "children");
  if (!isRoot) chmodSync(folder, 0o500);
  else run("mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=1", "none", folder);
  isShort = true;
}

function end(): void {
  if (!isShort) return;
  const folder = join(server.data_dir, "runner", "children");
  if (!isRoot) chmodSync(folder, 0o700);
  else run("umount", folder);
  isShort = false;
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

const canMount = () =>
  !isRoot || Bun.spawnSync(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]).exitCode === 0;

describe.skipIf(!canMount())("while no process can be started", () => {
  beforeAll(async () => {
    server = await startTestServer({ blank_children: 0, workers: 4 });
    ({ ask } = await server.workspace());
    for (const name of ["one", "two", "three"]) {
      await deploy(ask, "acme", `u/admin/${name}`, `export const main = (n = 0) => "${name} " + n`);
    }
    await deploy(ask, "acme", "u/admin/sh", 'n="$1"\necho "$n"', { language: "bash" });
    await deploy(ask, "acme", "u/admin/traceless", "export const main = (n = 0) => n", {
      delete_after_use: true,
    });
    // The folder exists once a process was started.
    await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/one", {}));
  });
  afterAll(async () => {
    end();
    await server.stop();
  });
  const health = async () => (await server.as(undefined)("GET", "/health")).json();

  test("jobs wait in the queue, health reports it, and each runs once a process can be started", async () => {
    begin();
    const paths = ["two", "three", "sh", "two", "three"];
    const ids = await Promise.all(
      paths.map(
        async (path, n) => (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/${path}`, { n }))).text,
      ),
    );
    const traceless = ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/traceless", { n: 7 });
    await until(async () => (await health()).failing.includes("processes") || undefined, "health to tell");
    const { checks } = (await server.operator("GET", "/health")).json();
    expect(checks.find(({ name }: { name: string }) => name === "processes").detail).toMatch(
      /^cannot be started for jobs: (ENOSPC|EACCES)/,
    );
    const rows = () =>
      server.server.app.db.read.select().from(jobs).where(eq(jobs.script_path, "u/admin/two"));
    await until(
      async () => (await rows()).every(({ state }) => state === "queued") || undefined,
      "the queue",
    );
    end();
    const results = await Promise.all(
      ids.map((id) =>
        until(async () => {
          const { completed, result } = (
            await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)
          ).json();
          return completed ? { result } : undefined;
        }, "a job"),
      ),
    );
    expect(results.map(({ result }) => result)).toEqual(["two 0", "three 1", "2", "two 3", "three 4"]);
    expect((await traceless).json()).toBe(7);
    for (const { attempts, losses } of await rows()) expect([attempts, losses]).toEqual([0, 0]);
    await until(async () => (await health()).failing.length === 0 || undefined, "health to be well");
  }, 60_000);

  test("a step with a shared folder waits on the worker that has the folder", async () => {
    begin();
    const step = (id: string, content: string) => ({
      id,
      value: { type: "rawscript", language: "bun", content, input_transforms: {} },
    });
    const modules = [
      step("a", 'export const main = () => Bun.write("./shared/a", "from a")'),
      step("b", 'export const main = () => Bun.file("./shared/a").text()'),
    ];
    const value = { modules, same_worker: true };
    const id = (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value, args: {} }))).text;
    await until(async () => (await health()).failing.includes("processes") || undefined, "health to tell");
    end();
    const { result } = await until(async () => {
      const found = (await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)).json();
      return found.completed ? found : undefined;
    }, "the flow");
    expect(result).toBe("from a");
  }, 60_000);
});
