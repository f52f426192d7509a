/** A data directory on a file system that is mounted `noexec`: the runtime carries out launch plans. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deploy, startTestServer } from "../../../support/harness.ts";
import { mountNoexec } from "./noexec-folder.ts";

const place = mkdtempSync(join(tmpdir(), "svc-noexec-"));
const data_dir = join(place, "data");
const unmount = mountNoexec(data_dir);
afterAll(() => {
  unmount?.();
  rmSync(place, { recursive: true, force: true });
});

const READER = `import { readFileSync } from "node:fs";
export function main(path: string) {
  try { return readFileSync(path, "utf8").length } catch (cause) { return cause.code }
}`;

test.if(unmount !== undefined)("scripts run there, and cannot read the server's files", async () => {
  await using t = await startTestServer({ data_dir });
  const { ask } = await t.workspace();
  const run = async (path: string, body: object) =>
    (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, body)).json();
  await deploy(ask, "acme", "u/admin/read", READER);
  await deploy(ask, "acme", "u/admin/shell", 'echo "$1"', { language: "bash" });
  expect(await run("u/admin/read", { path: join(data_dir, "svc.db") })).toBe("EACCES");
  expect(await run("u/admin/shell", { 1: "x" })).toBeDefined();
});
