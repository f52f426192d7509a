/** Servers and separate workers on one PostgreSQL. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createCliEnvironment, start } from "../../cli/program.ts";
import { deploy, expectOk, until } from "../../support/harness.ts";
import { startProxy } from "../../support/peers/cuttable-proxy.ts";
import { admin, database, front, postgres, SVC_SECRET_KEY, setUpServers } from "./several-servers-setup.ts";

setDefaultTimeout(60_000);

describe.skipIf(!postgres)("servers of one database", () => {
  setUpServers();

  describe("a separate worker", () => {
    const env = () => ({
      DATABASE_URL: database.url,
      SVC_SECRET_KEY,
      SVC_LEASE_S: "3",
      SVC_WORKERS: "2",
      // Counts runs by files outside of the job's own folder.
      SVC_SANDBOX: "off",
    });
    const runTagged = async (tag: string, args: object) =>
      (await expectOk(admin.ask("POST", `/w/acme/jobs/run/p/u/admin/slow?tag=${tag}`, args))).text;
    const jobOf = async (id: string) => (await expectOk(admin.ask("GET", `/w/acme/jobs_u/get/${id}`))).json();
    const ended = (id: string) =>
      until(async () => {
        const job = await jobOf(id);
        return job.type === "CompletedJob" ? job : undefined;
      }, "the end of the job");

    beforeAll(async () => {
      const code =
        "export async function main(file: string, ms: number) { require('node:fs').appendFileSync(file, 'x'); await Bun.sleep(ms); return 'done'; }";
      await deploy(admin.ask, "acme", "u/admin/slow", code);
      // The servers leave the tag to the workers.
      const { ask: root } = await front.user("root", { super_admin: true });
      await expectOk(root("POST", "/settings/global/custom_tags", { value: ["far"] }));
      const worker_tags = ["bun", "flow", "dependency"];
      await expectOk(root("POST", "/configs/update/worker__default", { worker_tags }));
    });

    test("runs jobs with its tags, is listed, and signs off", async () => {
      using place = createCliEnvironment();
      const id = await runTagged("far", { file: join(place.folder, "ran"), ms: 0 });
      using worker = start(place, ["worker", "--tags", "far", "--group", "edge", "--json"], env());
      await worker.says('"worker"');
      expect(await ended(id)).toMatchObject({ success: true, result: "done" });
      const listed = async () => {
        const all: { worker_group: string; custom_tags: string[]; last_job_id?: string }[] = (
          await expectOk(front.operator("GET", "/workers/list"))
        ).json();
        return all.find(({ worker_group }) => worker_group === "edge");
      };
      const told = await until(async () => {
        const worker = await listed();
        return worker?.last_job_id === id ? worker : undefined;
      }, "the worker in the list, with its job");
      expect(told).toMatchObject({ custom_tags: ["far"] });
      worker.child.kill("SIGTERM");
      expect((await worker.ended()).code).toBe(0);
      expect(await listed()).toBeUndefined();
    });

    test("that is killed loses its job to another, and the job ends", async () => {
      using place = createCliEnvironment();
      using other = createCliEnvironment();
      const file = join(place.folder, "ran");
      using lost = start(place, ["worker", "--tags", "far", "--json"], env());
      await lost.says('"worker"');
      const id = await runTagged("far", { file, ms: 2_000 });
      await until(() => (existsSync(file) ? true : undefined), "the job at work");
      lost.child.kill("SIGKILL");
      using second = start(other, ["worker", "--tags", "far", "--json"], env());
      expect(await ended(id)).toMatchObject({ success: true, result: "done" });
      expect(readFileSync(file, "utf8")).toBe("xx");
      second.child.kill("SIGTERM");
      await second.ended();
    });

    test("that was suspended cannot complete, when it resumes, a job that was given to another", async () => {
      using place = createCliEnvironment();
      using other = createCliEnvironment();
      const file = join(place.folder, "ran");
      using stopped = start(place, ["worker", "--tags", "far", "--json"], env());
      await stopped.says('"worker"');
      const id = await runTagged("far", { file, ms: 6_000 });
      await until(() => (existsSync(file) ? true : undefined), "the job at work");
      stopped.child.kill("SIGSTOP");
      using second = start(other, ["worker", "--tags", "far", "--json"], env());
      await until(() => (readFileSync(file, "utf8") === "xx" ? true : undefined), "the job at work again");
      // What it ran meanwhile has ended, which it reports first.
      await until(async () => ((await jobOf(id)).type === "CompletedJob" ? true : undefined), "the end");
      const end = await jobOf(id);
      stopped.child.kill("SIGCONT");
      await stopped.says("another worker holds it by now");
      expect(await jobOf(id)).toEqual(end);
      expect(end).toMatchObject({ success: true, result: "done" });
      for (const each of [second, stopped]) {
        each.child.kill("SIGTERM");
        await each.ended();
      }
    });

    test("that was cut off from the database cannot complete, when it is back, a job that was given to another", async () => {
      using place = createCliEnvironment();
      using other = createCliEnvironment();
      const { hostname, port } = new URL(database.url);
      using proxy = await startProxy({ hostname, port: Number(port) });
      const through = new URL(database.url);
      through.port = String(proxy.port);
      const file = join(place.folder, "ran");
      using far = start(place, ["worker", "--tags", "far", "--json"], {
        ...env(),
        DATABASE_URL: through.href,
      });
      await far.says('"worker"');
      const id = await runTagged("far", { file, ms: 3_000 });
      await until(() => (existsSync(file) ? true : undefined), "the job at work");
      proxy.cut();
      using second = start(other, ["worker", "--tags", "far", "--json"], env());
      const end = await ended(id);
      expect(readFileSync(file, "utf8")).toBe("xx");
      proxy.mend();
      await far.says("another worker holds it by now");
      expect(await jobOf(id)).toEqual(end);
      expect(end).toMatchObject({ success: true, result: "done" });
      // It continues to work after it came back.
      second.child.kill("SIGTERM");
      await second.ended();
      expect(await ended(await runTagged("far", { file, ms: 0 }))).toMatchObject({ success: true });
      far.child.kill("SIGTERM");
      await far.ended();
    });

    test("needs a database to share", async () => {
      using place = createCliEnvironment();
      const { code, err } = await place.svc(["worker"]);
      expect([code, err]).toEqual([2, expect.stringContaining("set DATABASE_URL")]);
    });
  });
});
