/** A run that others change constantly: completed steps stay completed, and nothing is given up. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

const fixed = (value: unknown) => ({ type: "static", value });

describe.skipIf(!process.env.DATABASE_URL)("a run that others change continuously", () => {
  let server: TestServer;
  let ask: Ask;

  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
  });
  afterAll(() => server.stop());

  test("continues when they stop", async () => {
    const { db } = server.server.app;
    const says = (text: string) => db.write((tx) => tx.rows(sql.raw(text)));
    const code = "export const main = () => Bun.sleep(1_000).then(() => 'good')";
    const step = (id: string) => ({
      id,
      value: { type: "rawscript", language: "bun", content: code, input_transforms: {} },
    });
    const sleeping = { id: "w", value: { type: "identity" }, sleep: fixed(1) };
    const run = async (modules: object[]) =>
      (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value: { modules }, args: {} }))).text;
    const flows = [await run([step("a"), step("b")]), await run([sleeping, step("b")])];
    // Every change of a run finds that another server has just changed it.
    await says("CREATE FUNCTION others() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$");
    await says(
      "CREATE TRIGGER others BEFORE UPDATE OF version ON flow_frames FOR EACH ROW EXECUTE FUNCTION others()",
    );
    // Longer than the retries of a completion or a frame that the database rejects.
    await Bun.sleep(25_000);
    await says("DROP FUNCTION others CASCADE");
    for (const flow of flows) {
      const end = () => ask("GET", `/w/acme/jobs_u/completed/get/${flow}`);
      while ((await end()).status !== 200) await Bun.sleep(100);
      expect((await end()).json()).toMatchObject({ success: true, result: "good" });
    }
  }, 90_000);
});
