/** A job that cannot be requeued when its server stops leaves nothing in the process's memory. */
import { expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";

test("the live log and stream of a job that cannot be requeued end, as do those of its flow", async () => {
  const server = await startTestServer({ drain_s: 0 });
  const { ask } = await server.workspace();
  const content = `export async function* main() { yield "so far\\n"; await Bun.sleep(60_000) }`;
  await deploy(ask, "acme", "u/admin/streams", content);
  const modules = [{ id: "a", value: { type: "script", path: "u/admin/streams", input_transforms: {} } }];
  await expectOk(
    ask("POST", "/w/acme/flows/create", { path: "u/admin/flow", summary: "", value: { modules } }),
  );
  const start = async (target: string) =>
    (await expectOk(ask("POST", `/w/acme/jobs/run/${target}`, {}))).text;
  const ids = [await start("p/u/admin/streams"), await start("f/u/admin/flow")];
  const { db, events } = server.server.app;
  for (const id of ids) {
    const hasStreamed = () => (events.findTail(id)?.stream.end ?? 0) > 0;
    await until(hasStreamed, "the stream");
  }
  const refusing =
    db.dialect === "sqlite"
      ? [
          "CREATE TRIGGER refusing BEFORE UPDATE ON jobs WHEN NEW.state = 'queued' BEGIN SELECT RAISE(ABORT, 'refused'); END",
        ]
      : [
          "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
          "CREATE TRIGGER refusing BEFORE UPDATE ON jobs FOR EACH ROW WHEN (NEW.state = 'queued') EXECUTE FUNCTION refuse()",
        ];
  await db.write(async (tx) => {
    for (const statement of refusing) await tx.rows(sql.raw(statement));
  });
  await server.stop();
  for (const id of ids) expect(events.findTail(id)).toBeUndefined();
}, 60_000);
