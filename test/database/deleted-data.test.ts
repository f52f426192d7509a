/** What users delete is no longer in the file of the embedded database, not even in its unused parts. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createTemporaryFolder, deploy, expectOk, startTestServer } from "../support/harness.ts";

test.if(process.env.DATABASE_URL === undefined)("deleted rows are overwritten", async () => {
  const data_dir = createTemporaryFolder("svc-deleted-");
  const server = await startTestServer({ data_dir });
  const { ask } = await server.workspace();
  const variable = (path: string, value: string) =>
    expectOk(ask("POST", "/w/acme/variables/create", { path, value, is_secret: false, description: "" }));
  await variable("u/admin/deleted", "zq7-deleted-variable");
  await variable("u/admin/hidden", "zq7-variable-that-became-secret");
  await variable("u/admin/kept", "zq8-kept-variable");
  await expectOk(ask("DELETE", "/w/acme/variables/delete/u/admin/deleted"));
  await expectOk(ask("POST", "/w/acme/variables/update/u/admin/hidden", { is_secret: true }));
  await deploy(ask, "acme", "u/admin/small", "export const main = (x: string[]) => x.length");
  // Arguments of many pages, and of a part of one.
  for (const count of [5_000, 1]) {
    const x = Array.from({ length: count }, (_, at) => `zq7-argument-${at}`);
    const id = Bun.randomUUIDv7();
    const path = `/w/acme/jobs/run_wait_result/p/u/admin/small?job_id=${id}`;
    expect((await expectOk(ask("POST", path, { x }))).json()).toBe(count);
    await expectOk(ask("POST", `/w/acme/jobs/completed/delete/${id}`));
  }
  await server.stop();
  const file = readFileSync(join(data_dir, "svc.db"), "latin1");
  expect(file.includes("zq8-kept-variable")).toBe(true);
  expect([...new Set(file.match(/zq7-[a-z-]+/g))]).toEqual([]);
});
