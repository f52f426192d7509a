/** A data directory on a file system that is mounted `noexec`: the runtime carries out launch plans. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deploy, startTestServer } from "../../../support/harness.ts";
import { canMount, useNoexecFolder } from "./noexec-folder.ts";

const place = mkdtempSync(join(tmpdir(), "svc-noexec-"));
const data_dir = join(place, "data");
const isPossible = canMount();
if (isPossible) useNoexecFolder(data_dir);
afterAll(() => rmSync(place, { recursive: true, force: true }));

const READER = `import { readFileSync } from "node:fs";
export function main(path: string) {
  try { return readFileSync(path, "utf8").length } catch (cause) { return cause.code }
}`;

test.if(isPossible)("scripts run there, and cannot read the server's files", async () => {
  await using t = await startTestServer({ data_dir });
  const { ask } = await t.workspace();
  const run = async (path: string, body: object) =>
    (await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, body)).json();
  await deploy(ask, "acme", "u/admin/read", READER);
  await deploy(ask, "acme", "u/admin/shell", "expr 6 '*' 7", { language: "bash" });
  const secret = join(data_dir, "secret");
  writeFileSync(secret, "whole");
  expect(await run("u/admin/read", { path: secret })).toBe("EACCES");
  expect(await run("u/admin/shell", {})).toBe("42");
});
