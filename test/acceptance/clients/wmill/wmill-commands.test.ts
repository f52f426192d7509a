/** Commands of `wmill` other than deployment: users, jobs, workers, queues, the whole instance. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { license } from "../../../support/peers/license.ts";
import { isOffline } from "../registry.ts";
import { installWmill, VERSIONS, type Wmill } from "./wmill.ts";

setDefaultTimeout(60_000);

const NEWER = "1.819.0";

describe.skipIf(isOffline).each(VERSIONS)("wmill %s", (version) => {
  let server: TestServer;
  let ask: Ask;
  let root: Ask;
  let wmill: Wmill;
  /** Working directory of the commands. */
  let here: string;

  const get = async (path: string) => (await expectOk(root("GET", path))).json();
  const say = (...args: string[]) => wmill.ok(here, args);

  beforeAll(async () => {
    [server, wmill] = await Promise.all([startTestServer(), installWmill(version)]);
    await license(server);
    ({ ask } = await server.workspace("acme"));
    const by = await server.user("root", { super_admin: true });
    root = by.ask;
    here = await wmill.folder("here");
    await say("workspace", "add", "acme", "acme", `${server.url}/`, "--token", by.token);
    await say("instance", "add", "local", `${server.url}/`, by.token);
    await expectOk(ask("POST", "/w/acme/folders/create", { name: "data" }));
    await deploy(
      ask,
      "acme",
      "f/data/hello",
      "export const main = (a = 1) => { console.log('said'); return a; }",
    );
    const step = { type: "script", path: "f/data/hello", input_transforms: {} };
    const value = {
      modules: [
        { id: "a", value: { type: "identity" } },
        { id: "b", value: step },
      ],
    };
    await expectOk(ask("POST", "/w/acme/flows/create", { path: "f/data/flow", summary: "Flow", value }));
    await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/f/data/hello", { a: 3 }));
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    await wmill[Symbol.asyncDispose]();
  });

  test("shows the service that it talks to", async () => {
    expect(await say("version")).toContain("v1.423.2");
  });

  test("creates a workspace that does not exist yet", async () => {
    await say(
      "workspace",
      "add",
      "made",
      "made",
      `${server.url}/`,
      "--token",
      (await say("user", "create-token")).split(" ").at(-1)!.trim(),
      "--create",
    );
    expect((await get("/workspaces/list_as_superadmin")).map(({ id }: any) => id)).toContain("made");
    await say("workspace", "switch", "acme");
  });

  test("lists users, creates and removes one, and creates a token", async () => {
    await say("user", "add", "bob@example.org", "bob-password");
    expect(await say("user")).toContain("bob@example.org");
    await say("user", "remove", "bob@example.org");
    expect(await say("user")).not.toContain("bob@example.org");
    const token = /Token: (\S+)/.exec(await say("user", "create-token"))![1];
    expect((await server.as(token)("GET", "/users/email")).text).toBe("root@example.org");
  });

  test("shows workers and their groups", async () => {
    const config = { worker_tags: ["bun"] };
    await expectOk(root("POST", "/configs/update/worker__fast", config));
    const [worker] = await get("/workers/list");
    const said = await say("workers");
    expect(said).toContain(worker.worker);
    expect(said).toContain("Worker Group: default (1 workers)");
    expect(await say("worker-groups")).toContain("fast");
  });

  test("shows queues, of all workspaces and of one", async () => {
    for (const words of [[], ["acme"]]) {
      const said = await say("queues", ...words);
      expect(said).toMatch(/bun\s+0\s+0\s+0\s+0\s+0\.\d+/);
    }
  });

  test("exports jobs to files and imports them elsewhere", async () => {
    // Without a terminal it does not ask whether to delete them here.
    await say("jobs", "pull", "acme", "--skip-worker-check");
    const jobs = await Bun.file(join(here, "completed_jobs.json")).json();
    expect(jobs).toEqual([expect.objectContaining({ script_path: "f/data/hello", result: 3 })]);
    await expectOk(
      ask(
        "POST",
        "/w/acme/jobs/delete",
        jobs.map(({ id }: any) => id),
      ),
    );
    expect(await say("jobs", "push", "acme", "--skip-worker-check")).toContain("imported 1 job");
    expect((await get(`/w/acme/jobs_u/completed/get/${jobs[0].id}`)).result).toBe(3);
  });

  test("synchronises the instance in both directions: settings, users, worker groups", async () => {
    await say("instance", "pull", "--yes");
    for (const name of ["settings", "users", "configs"]) {
      expect([name, existsSync(join(here, `instance_${name}.yaml`))]).toEqual([name, true]);
    }
    expect(await say("instance", "push", "--yes")).toContain("No instance-level changes to apply");
    const file = Bun.file(join(here, "instance_configs.yaml"));
    const text = await file.text();
    expect(text).toContain("bun");
    await file.write(text.replace("bun", "python3"));
    await say("worker-groups", "push", "--yes");
    const groups = await get("/configs/list_worker_groups");
    expect(groups).toContainEqual(
      expect.objectContaining({ name: "fast", config: { worker_tags: ["python3"] } }),
    );
    await expectOk(root("POST", "/configs/update/worker__fast", { worker_tags: ["go"] }));
    await say("worker-groups", "pull", "--yes");
    expect(await file.text()).toContain("go");
  });

  test("finds neither resource types of a hub nor settings of a repository", async () => {
    expect(await say("hub", "pull")).toContain("Should only sync to admins");
    for (const words of [["pull"], ["push", "--yes"]]) {
      expect(await say("gitsync-settings", ...words)).toContain("No git-sync repositories configured");
    }
  });

  describe.skipIf(version !== NEWER)("the newest version", () => {
    const id = async (query: string) => (await get(`/w/acme/jobs/list?${query}`))[0].id;

    test("shows, runs again and restarts jobs", async () => {
      const job = await id("script_path_exact=f/data/hello");
      expect(await say("job", "list")).toContain(job);
      expect(await say("job", "get", job)).toContain("Status: success");
      expect((await say("job", "result", job)).trim()).toEndWith("3");
      expect(await say("job", "logs", job)).toContain("said");
      expect(await say("job", "rerun", job)).toMatch(/[0-9a-f-]{36}/);
      expect(await say("flow", "run", "f/data/flow")).toContain("Flow ran to completion");
      const flow = await id("script_path_exact=f/data/flow");
      expect(await say("job", "get", flow)).toMatch(/✓ a .*\n.*✓ b /);
      expect(await say("job", "logs", flow)).toContain("said");
      expect(await say("job", "restart", flow, "--step", "b")).toMatch(/[0-9a-f-]{36}/);
    });

    test("runs undeployed code", async () => {
      await Bun.write(join(here, "f/data/double.ts"), "export const main = (a: number) => 2 * a;\n");
      expect(await say("script", "preview", "f/data/double.ts", "-d", '{"a":21}')).toContain("42");
    });

    test("shows one of each kind", async () => {
      const post = (path: string, body: object) => expectOk(ask("POST", `/w/acme${path}`, body));
      const runs = { script_path: "f/data/hello", is_flow: false, enabled: false };
      await post("/variables/create", { path: "f/data/v", value: "moon", is_secret: false, description: "" });
      await post("/resources/create", { path: "f/data/r", value: { a: "sun" }, resource_type: "object" });
      await post("/schedules/create", {
        ...runs,
        path: "f/data/s",
        schedule: "0 0 3 * * *",
        timezone: "UTC",
      });
      await post("/websocket_triggers/create", {
        ...runs,
        path: "f/data/w",
        url: "ws://localhost:1",
        filters: [],
      });
      await post("/apps/create", { path: "f/data/app", summary: "Board", value: { grid: [] }, policy: {} });
      const commands: [string, string][] = [
        ["script get f/data/hello", "Language: bun"],
        ["script history f/data/hello", "Deployment Message"],
        ["flow get f/data/flow", "b: script (f/data/hello)"],
        ["flow history f/data/flow", "Deployment Message"],
        ["flow show-version f/data/flow 1", '"path": "f/data/hello"'],
        ["variable get f/data/v", "Value: moon"],
        ["resource get f/data/r", '"a": "sun"'],
        ["schedule get f/data/s", "Schedule: 0 0 3 * * *"],
        ["trigger list", "f/data/w"],
        ["trigger get f/data/w --kind websocket", "Url: ws://localhost:1"],
        ["app get f/data/app", "Summary: Board"],
        ["folder get data", "Name: data"],
        ["audit list", "jobs.run"],
        ["token list", "Prefix"],
      ];
      for (const [words, seen] of commands) {
        expect([words, await say(...words.split(" "))]).toEqual([words, expect.stringContaining(seen)]);
      }
      await say("schedule", "enable", "f/data/s");
      expect((await get("/w/acme/schedules/get/f/data/s")).enabled).toBe(true);
      await say("schedule", "disable", "f/data/s");
    });

    test("keeps groups", async () => {
      await say("group", "create", "ops", "--summary", "Ops");
      await server.member("acme", "ann");
      await say("group", "add-user", "ops", "ann");
      expect(await say("group", "get", "ops")).toContain("ann");
      await say("group", "remove-user", "ops", "ann");
      await say("group", "delete", "ops");
      expect(await say("group", "list")).not.toContain("ops");
    });
  });
});
