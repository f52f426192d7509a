/**
 * The locks of scripts written in flows, resolved by jobs; the registry is the test's own, and answers when
 * told to.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { getDeployedFlowByPath } from "../../../../src/features/code/flows/versions.ts";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let registry: ReturnType<typeof startRegistry>;
const before = process.env.npm_config_registry;

beforeAll(async () => {
  registry = startRegistry();
  process.env.npm_config_registry = `http://127.0.0.1:${registry.port}/`;
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(async () => {
  registry.open();
  await server.stop();
  await registry.stop();
  if (before === undefined) delete process.env.npm_config_registry;
  else process.env.npm_config_registry = before;
});
beforeEach(() => registry.open());

/** Has every package in version 1.2.3, except those named `none…`. */
function startRegistry() {
  let gate = Promise.withResolvers<void>();
  const asked: string[] = [];
  const served = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { origin, pathname } = new URL(request.url);
      const name = decodeURIComponent(pathname.slice(1));
      asked.push(name);
      await gate.promise;
      if (name.startsWith("none")) return new Response("no", { status: 404 });
      const dist = { tarball: `${origin}/${name}.tgz`, integrity: `sha512-${"A".repeat(86)}==` };
      const versions = { "1.2.3": { name, version: "1.2.3", dist } };
      const headers = { "cache-control": "no-store" };
      return Response.json({ name, "dist-tags": { latest: "1.2.3" }, versions }, { headers });
    },
  });
  return {
    port: served.port,
    asked,
    close() {
      gate = Promise.withResolvers();
    },
    open: () => gate.resolve(),
    stop: () => served.stop(true),
  };
}

const raw = (id: string, content: string, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: {}, ...more },
});
const plain = (id: string) => raw(id, "export const main = () => 1");
const needs = (id: string, ...names: string[]) =>
  raw(id, `${names.map((name) => `import "${name}";`).join("\n")} export const main = () => 1`);
const loop = (id: string, modules: unknown[]) => ({
  id,
  value: { type: "forloopflow", iterator: { type: "static", value: [1] }, skip_failures: false, modules },
});

const at = (rest: string) => `/w/acme/flows/${rest}`;
const deploy = (kind: string, path: string, modules: unknown[], more: object = {}) =>
  expectOk(ask("POST", at(kind), { path, summary: "", value: { modules, ...more } }));
const statusOf = async (path: string) => (await ask("GET", at(`deployment_status/p/${path}`))).json();
const settled = (path: string) =>
  until(async () => {
    const status = await statusOf(path);
    return status.ready || status.lock_error_logs ? status : undefined;
  }, "the locks");
const jobOf = async (id: string) => (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
const run = async (path: string) => getDeployedFlowByPath(server.server.app, "acme", path);
const storedValue = async (path: string) => (await ask("GET", at(`get/${path}`))).json().value;

describe("a version whose scripts need packages", () => {
  test("is locked by a job, wherever the scripts are; scripts without packages have an empty lock", async () => {
    const failure_module = needs("failure", "left-pad");
    await deploy("create", "u/admin/locked", [plain("a"), loop("b", [needs("c", "is-odd")])], {
      failure_module,
    });
    const status = await settled("u/admin/locked");
    expect(status).toEqual({ ready: true, job_id: expect.any(String) });
    const value = await storedValue("u/admin/locked");
    expect(value.modules[0].value.lock).toBe("");
    expect(value.modules[1].value.modules[0].value.lock).toContain("is-odd@1.2.3");
    expect(value.failure_module.value.lock).toContain("left-pad@1.2.3");
    expect((await run("u/admin/locked")).value).toEqual(value);
    const job = await jobOf(status.job_id);
    expect(job).toMatchObject({
      job_kind: "flowdependencies",
      tag: "dependency",
      script_path: "u/admin/locked",
      created_by: "admin",
      success: true,
    });
    expect(job.language).toBeUndefined();
  });

  test("does not run before it is locked: the path runs the previous version", async () => {
    await deploy("create", "u/admin/waits", [plain("a")]);
    const first = await run("u/admin/waits");
    registry.close();
    await deploy("update/u/admin/waits", "u/admin/waits", [needs("a", "slow")]);
    expect(await statusOf("u/admin/waits")).toEqual({ ready: false, job_id: expect.any(String) });
    expect((await run("u/admin/waits")).version).toBe(first.version);
    const { version_id } = (await ask("GET", at("get/u/admin/waits"))).json();
    expect(version_id).toBeGreaterThan(first.version);
    registry.open();
    expect(await settled("u/admin/waits")).toMatchObject({ ready: true });
    expect((await run("u/admin/waits")).version).toBe(version_id);
  });

  test("is waited for by calls right after its first deployment", async () => {
    registry.close();
    await deploy("create", "u/admin/at_once", [needs("a", "left-pad")]);
    const call = (url: string) => ask("POST", `/w/acme/jobs/${url}/u/admin/at_once`, {});
    const called = [call("run_wait_result/f"), call("run/f")];
    await until(() => (registry.asked.includes("left-pad") ? true : undefined), "the lock job");
    expect((await statusOf("u/admin/at_once")).ready).toBe(false);
    registry.open();
    const [sync, started] = await Promise.all(called);
    expect([sync!.status, started!.status]).toEqual([200, 201]);
  });

  test("and so is a script, by path and by hash", async () => {
    registry.close();
    const content = 'import "right-pad"; export const main = () => 1';
    const script = { path: "u/admin/script_at_once", summary: "", description: "", content, language: "bun" };
    const hash = (await expectOk(ask("POST", "/w/acme/scripts/create", script))).text;
    const call = (url: string) => ask("POST", `/w/acme/jobs/${url}`, {});
    const forms = [
      "run_wait_result/p/u/admin/script_at_once",
      "run/p/u/admin/script_at_once",
      `run/h/${hash}`,
    ];
    const called = forms.map(call);
    await until(() => (registry.asked.includes("right-pad") ? true : undefined), "the lock job");
    const status = await expectOk(ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`));
    expect(status.json().lock).toBeUndefined();
    registry.open();
    expect((await Promise.all(called)).map((answer) => answer.status)).toEqual([200, 201, 201]);
  });

  test("shows why there is no lock, and the previous version still runs", async () => {
    await deploy("create", "u/admin/fails", [plain("a")]);
    const first = await run("u/admin/fails");
    await deploy("update/u/admin/fails", "u/admin/fails", [plain("a"), needs("b", "none-such")]);
    const status = await settled("u/admin/fails");
    expect(status.lock_error_logs).toStartWith("step b, `content`: dependencies could not be installed");
    expect(status.lock_error_logs).toContain("none-such");
    expect(await jobOf(status.job_id)).toMatchObject({ success: false });
    expect((await run("u/admin/fails")).version).toBe(first.version);
    const [listed] = (await ask("GET", at("list?path_exact=u/admin/fails"))).json();
    expect(listed.has_deploy_errors).toBe(true);
    await deploy("create", "u/admin/never", [needs("b", "none-such")]);
    await settled("u/admin/never");
    await expect(run("u/admin/never")).rejects.toThrow("could not be resolved: step b, `content`");
    const runnables = (await ask("GET", "/users/all_runnables")).text;
    expect([runnables.includes("u/admin/fails"), runnables.includes("u/admin/never")]).toEqual([true, false]);
  });

  test("shows when its job is canceled", async () => {
    registry.close();
    await deploy("create", "u/admin/canceled", [needs("a", "slow-too")]);
    const { job_id } = await statusOf("u/admin/canceled");
    await until(() => (registry.asked.includes("slow-too") ? true : undefined), "the job to begin");
    await expect(run("u/admin/canceled")).rejects.toThrow("still being resolved");
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${job_id}`, { reason: "enough" }));
    expect((await settled("u/admin/canceled")).lock_error_logs).toContain("enough");
    expect((await jobOf(job_id)).canceled).toBe(true);
  });

  test("is handled correctly if it was renamed, superseded or deleted in the meantime", async () => {
    registry.close();
    await deploy("create", "u/admin/moves", [needs("a", "slow-three")]);
    const { job_id } = await statusOf("u/admin/moves");
    await deploy("update/u/admin/moves", "u/admin/moved", [plain("a")]);
    const newest = await run("u/admin/moved");
    await deploy("create", "u/admin/dropped", [needs("a", "slow-three")]);
    const dropped = await statusOf("u/admin/dropped");
    await expectOk(ask("DELETE", at("delete/u/admin/dropped")));
    registry.open();
    for (const id of [job_id, dropped.job_id]) {
      await until(async () => ((await jobOf(id)).type === "CompletedJob" ? true : undefined), "the job");
    }
    expect((await run("u/admin/moved")).version).toBe(newest.version);
    const [, first] = (await ask("GET", at("history/p/u/admin/moved"))).json();
    const old = (await ask("GET", at(`get/v/${first.id}`))).json();
    expect(old.value.modules[0].value.lock).toContain("slow-three@1.2.3");
    expect((await ask("GET", at("exists/u/admin/dropped"))).json()).toBe(false);
  });

  test("with a lock for each script is ready at once, without a job", async () => {
    await deploy("create", "u/admin/carries", [needs("a", "is-even")]);
    await settled("u/admin/carries");
    const { modules } = await storedValue("u/admin/carries");
    registry.close();
    await deploy("create", "u/admin/carried", modules);
    expect(await statusOf("u/admin/carried")).toEqual({ ready: true });
    expect(await storedValue("u/admin/carried")).toEqual({ modules });
  });
});

describe("locks of an undeployed flow", () => {
  const path = "u/admin/local.flow";

  test("are returned in the flow; packages needed twice are resolved once", async () => {
    const flow_value = {
      modules: [needs("a", "twice"), loop("b", [needs("c", "twice"), plain("d")])],
      notes: 1,
    };
    const body = { path, flow_value, raw_deps: {}, use_local_lockfiles: false };
    const answer = await ask("POST", "/w/acme/jobs/run/flow_dependencies", body);
    expect(answer.status).toBe(200);
    const { updated_flow_value } = answer.json();
    const [a, b] = updated_flow_value.modules;
    const [c, d] = b.value.modules;
    expect(a.value.lock).toContain("twice@1.2.3");
    expect([c.value.lock, d.value.lock, updated_flow_value.notes]).toEqual([a.value.lock, "", 1]);
    expect(registry.asked.filter((name) => name === "twice")).toHaveLength(1);
    expect((await ask("GET", at("list_paths"))).text).not.toContain("local");
  });

  test("are found by a job of the caller's", async () => {
    const body = { path, flow_value: { modules: [needs("a", "later")] } };
    const submitted = await ask("POST", "/w/acme/jobs/run/flow_dependencies_async", body);
    expect(submitted.status).toBe(201);
    const job = await until(async () => {
      const found = await jobOf(submitted.text);
      return found.type === "CompletedJob" ? found : undefined;
    }, "the job");
    expect(job.result.updated_flow_value.modules[0].value.lock).toContain("later@1.2.3");
  });

  test.each([
    [needs("b", "none-such"), "step b, `content`: dependencies could not be installed"],
    [raw("b", "export function main( {"), "step b, `content`: Syntax error at line 1"],
  ])("are rejected with the step: %o", async (module, says) => {
    const body = { path, flow_value: { modules: [module] } };
    const answer = await ask("POST", "/w/acme/jobs/run/flow_dependencies", body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });

  test("are not available to operators", async () => {
    const { ask: viewer } = await server.member("acme", "viewer", "operator");
    const body = { path, flow_value: { modules: [] } };
    for (const form of ["flow_dependencies", "flow_dependencies_async"]) {
      expect((await viewer("POST", `/w/acme/jobs/run/${form}`, body)).status).toBe(403);
    }
  });
});
