/** Which messages about completed jobs a server sends to the others of its database. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { type Ask, createDatabase, deploy, expectOk, startTestServer, until } from "../../support/harness.ts";
import { postgres, SVC_SECRET_KEY } from "./several-servers-setup.ts";

setDefaultTimeout(60_000);

/** Heartbeats of a server that is alone before it knows that it is: one every two seconds, for seven. */
const SILENT_BEATS = 5;
const CODE = "export const main = () => process.env.WM_JOB_ID";

describe.skipIf(!postgres)("messages about completed jobs", () => {
  test("are sent while another server runs, and not by one that is alone", async () => {
    const database = await createDatabase(postgres!, "migrated");
    const client = new SQL({ url: database.url, max: 1 });
    try {
      let heard: [topic: string, id?: string][] = [];
      const subscription = await client.listen("svc", (text) => {
        const [, ...messages] = JSON.parse(text);
        heard.push(...messages);
      });
      const beats = () => heard.filter(([topic]) => topic === "beat").length;
      const config = { database_url: database.url, secret_key: SVC_SECRET_KEY };
      const runJob = async (ask: Ask) =>
        (await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/id", {}))).json() as string;
      const ids = new Set<string>();
      /** Runs jobs until a message about one of them arrives. */
      const untilAnnounced = (ask: Ask) =>
        until(async () => {
          ids.add(await runJob(ask));
          return heard.some(([topic, id = ""]) => topic === "ended" && ids.delete(id)) || undefined;
        }, "a message about a completed job");

      await using front = await startTestServer(config);
      const admin = await front.workspace();
      await deploy(admin.ask, "acme", "u/admin/id", CODE);
      // A server assumes at first that there are others.
      await untilAnnounced(admin.ask);
      await until(
        () => beats() > SILENT_BEATS || undefined,
        "the time after which it knows that it is alone",
      );
      heard = [];
      await runJob(admin.ask);
      // Messages arrive in the order in which they are sent.
      await until(() => beats() > 1 || undefined, "two heartbeats after the job");
      expect(heard.filter(([topic]) => topic === "ended")).toEqual([]);

      await using back = await startTestServer(config);
      ids.clear();
      await untilAnnounced(admin.ask);
      ids.clear();
      await untilAnnounced(back.as(admin.token));
      await subscription.unlisten();
    } finally {
      await client.close();
      await database.drop();
    }
  });
});
