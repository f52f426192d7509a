/** Handler calls that a stopped server left are made by the next one. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getHandlerTask } from "../../../../src/features/triggers/handlers/outbox.ts";
import { handlerCalls } from "../../../../src/features/triggers/handlers/tables.ts";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";

test.skipIf(Boolean(process.env.DATABASE_URL))(
  "handlers of earlier failures are started by the next server, once",
  async () => {
    const data_dir = mkdtempSync(join(tmpdir(), "svc-test-"));
    const first = await startTestServer({ data_dir });
    const { ask, token } = await first.workspace();
    await deploy(ask, "acme", "u/admin/boom", "export const main = () => { throw new Error('no') }");
    await deploy(ask, "acme", "u/admin/handler", "export const main = () => null");
    const error_handler = "script/u/admin/handler";
    await expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", { error_handler }));
    // From now on, as if the server ended with each job's end.
    getHandlerTask(first.server.app).wake = () => {};
    for (let at = 0; at < 5; at++) await ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/boom", {});
    expect(await first.server.app.db.read.select().from(handlerCalls)).toHaveLength(5);
    await first.stop();

    const second = await startTestServer({ data_dir });
    const list = async (path: string): Promise<any[]> =>
      (await expectOk(second.as(token)("GET", `/w/acme/jobs/list?script_path_exact=${path}`))).json();
    const handlers = await until(async () => {
      const waiting = await second.server.app.db.read.select().from(handlerCalls);
      return waiting.length === 0 ? list("u/admin/handler") : undefined;
    }, "the handlers");
    const failed = (await list("u/admin/boom")).map(({ id }) => id);
    expect(handlers.map(({ parent_job }) => parent_job).sort()).toEqual(failed.sort());
    await second.stop();
    rmSync(data_dir, { recursive: true, force: true });
  },
);
