/** Workers, their tags, and numbers of queued jobs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { hostname } from "node:os";
import { eq } from "drizzle-orm";
import { dialect } from "../../../../src/database/kit.ts";
import { workers } from "../../../../src/platform/cluster/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let root: Ask;

beforeAll(async () => {
  server = await startTestServer({ worker_group: "heavy" });
  ({ ask } = await server.workspace());
  ({ ask: root } = await server.user("root", { super_admin: true }));
  for (const tag of ["bash", "gpu"]) {
    await deploy(ask, "acme", `u/admin/${tag}`, `export const main = () => process.env.WM_WORKER_GROUP`, {
      tag,
    });
  }
});
afterAll(() => server.stop());

const get = async (path: string, by = ask) => (await expectOk(by("GET", path))).json();
const give = (worker_tags: string[]) =>
  expectOk(root("POST", "/configs/update/worker__heavy", { worker_tags, init_bash: "" }));
const run = (path: string) =>
  expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {})).then((answer) => answer.text);
const result = (id: string) =>
  until<unknown>(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, "the result");

test("the process lists itself, with its activity", async () => {
  await result(await run("u/admin/bash"));
  const [worker, ...others] = await get("/workers/list", root);
  expect(others).toEqual([]);
  expect(worker).toMatchObject({
    worker: server.server.app.queue.worker,
    worker_instance: hostname(),
    worker_group: "heavy",
    last_ping: expect.any(Number),
    ip: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
    last_job_workspace_id: "acme",
    slots: 4,
  });
  expect(worker.jobs_executed).toBeGreaterThan(0);
  expect(worker.custom_tags).toBeUndefined();
  expect(worker.wm_memory_usage).toBeGreaterThan(10_000_000);
  expect(await get("/workers/list?page=2&per_page=1")).toEqual([]);
});

test.if(dialect === "postgres")("workers without a recent heartbeat are listed on request", async () => {
  const { app } = server.server;
  const [own] = await app.db.read.select().from(workers);
  const last_ping = new Date(Date.now() - 3_600_000);
  await app.db.write((tx) => tx.insert(workers).values({ ...own!, name: "gone-1-abcde", last_ping }));
  const names = async (query: string) =>
    (await get(`/workers/list${query}`)).map(({ worker }: { worker: string }) => worker);
  expect(await names("")).toEqual([own!.name]);
  expect(await names("?ping_since=7200")).toEqual([own!.name, "gone-1-abcde"]);
  await app.db.write((tx) => tx.delete(workers).where(eq(workers.name, "gone-1-abcde")));
});

test("a worker's address and last job are visible to devops users and super admins", async () => {
  const [worker] = await get("/workers/list");
  expect(worker.ip).toBe("");
  expect(Object.keys(worker)).not.toContain("last_job_id");
  expect(Object.keys(worker)).not.toContain("last_job_workspace_id");
});

test("jobs know the group of their worker", async () => {
  expect(await result(await run("u/admin/bash"))).toBe("heavy");
});

test("a change of a group's tags applies to its workers at once", async () => {
  await expectOk(root("POST", "/settings/global/custom_tags", { value: ["gpu"] }));
  await give(["gpu", "dependency"]);
  expect((await get("/workers/list"))[0].custom_tags).toEqual(["gpu", "dependency"]);
  expect(await get("/workers/exists_worker_with_tag?tag=gpu")).toBe(true);
  expect(await get("/workers/exists_worker_with_tag?tag=bash")).toBe(false);
  expect(await get("/workers/exists_workers_with_tags?tags=gpu,bash")).toEqual({ gpu: true, bash: false });
  const waiting = await run("u/admin/bash");
  await result(await run("u/admin/gpu"));
  expect(await get("/workers/queue_counts", root)).toEqual({ bash: 1 });
  const metrics = await get("/workers/queue_metrics", root);
  expect(metrics.map(({ id }: { id: string }) => id)).toEqual(["queue_count_bash", "queue_delay_bash"]);
  expect(metrics[0].values[0].value).toBe(1);

  expect(await get("/configs/get/worker__heavy", root)).toEqual({
    worker_tags: ["gpu", "dependency"],
    init_bash: "",
  });
  expect(await get("/configs/list_worker_groups")).toEqual([{ name: "heavy" }]);
  expect(await get("/configs/list", root)).toEqual([{ name: "worker__heavy", config: expect.any(Object) }]);
  await expectOk(root("DELETE", "/configs/update/worker__heavy"));
  expect(await result(waiting)).toBe("heavy");
  expect(await get("/configs/get/worker__heavy", root)).toBeNull();
});

test.each([
  ["a name without a worker group", "/configs/update/other", {}, "it must be worker__"],
  ["tags that are not a list", "/configs/update/worker__x", { worker_tags: "gpu" }, "worker_tags"],
])("%s is rejected", async (_, path, body, message) => {
  const answer = await root("POST", path, body);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
});

test("existing tags", async () => {
  expect(await get("/workers/get_default_tags")).toEqual(
    expect.arrayContaining(["bun", "python3", "flow", "dependency"]),
  );
  await expectOk(root("POST", "/settings/global/custom_tags", { value: ["gpu"] }));
  expect(await get("/workers/custom_tags")).toEqual(["gpu"]);
  expect(await get("/workers/is_default_tags_per_workspace")).toBe(false);
});

test.each(["/workers/queue_counts", "/workers/queue_metrics", "/configs/list", "/configs/get/worker__a"])(
  "%s is for devops users and super admins",
  async (path) => {
    expect((await ask("GET", path)).status).toBe(403);
  },
);
