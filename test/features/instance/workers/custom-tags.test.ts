/** A tag sends jobs to a worker group: who may set which, at every place that accepts one. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let dev: Ask;
let root: Ask;
const CODE = "export const main = (size?: string) => 'ran'";

const allow = (value: string[]) =>
  expectOk(server.operator("POST", "/settings/global/custom_tags", { value }));
const base = "/w/acme/jobs";
const sync = (path: string, query = "", by = dev, args = {}) =>
  by("POST", `${base}/run_wait_result/p/u/dev/${path}${query}`, args);

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
  dev = (await server.member("acme", "dev")).ask;
  root = (await server.user("root", { super_admin: true })).ask;
  await deploy(dev, "acme", "u/dev/plain", CODE);
  await deploy(dev, "acme", "u/dev/gpu", CODE, { tag: "gpu" });
});
afterAll(() => server.stop());
beforeEach(() => allow([]));

const step = (id: string, value: object) => ({ id, value: { input_transforms: {}, ...value } });
const raw = { type: "rawscript", language: "bun", content: CODE };

/** Every place that accepts a tag; each runs something with the tag gpu, and returns the outcome. */
const PLACES: Record<string, () => Promise<string>> = {
  "of a script": async () => (await sync("gpu")).text,
  "in the query": async () => (await sync("plain", "?tag=gpu")).text,
  "in the query of an asynchronous call": async () =>
    (await dev("POST", `${base}/run/p/u/dev/plain?tag=gpu`, {})).text,
  "of a preview": async () => (await dev("POST", `${base}/run/preview`, preview({ tag: "gpu" }))).text,
  "in the query of a preview": async () =>
    (await dev("POST", `${base}/run/preview?tag=gpu`, preview({}))).text,
  "of a flow": () => flow({ tag: "gpu" }, step("a", raw)),
  "of a step": () => flow({}, step("a", { ...raw, tag: "gpu" })),
  "of a step's script": () => flow({}, step("a", { type: "script", path: "u/dev/gpu" })),
  "of a step in place of its script's": () =>
    flow({}, step("a", { type: "script", path: "u/dev/plain", tag_override: "gpu" })),
  "of a flow in a flow": async () => {
    await made("u/dev/inner", { tag: "gpu" }, [step("a", raw)]);
    return flow({}, step("b", { type: "flow", path: "u/dev/inner" }));
  },
  "of a step in a preview of a flow": async () => {
    const value = { modules: [step("a", { ...raw, tag: "gpu" })] };
    const ran = await dev("POST", `${base}/run_wait_result/preview_flow`, { value, args: {} });
    return ran.status === 404 ? flow({}, step("a", { ...raw, tag: "gpu" })) : ran.text;
  },
  "of a schedule": async () => {
    const path = `u/dev/s${++count}`;
    const every = { schedule: "* * * * * *", timezone: "UTC", enabled: true };
    const body = { path, script_path: "u/dev/plain", is_flow: false, args: {}, tag: "gpu", ...every };
    await expectOk(dev("POST", "/w/acme/schedules/create", body));
    try {
      return await until(async () => {
        const { error } = (await dev("GET", `/w/acme/schedules/get/${path}`)).json();
        const { json } = await dev("GET", `${base}/list?schedule_path=${path}`);
        // Its planned run is listed before it is rejected.
        const hasRun = json().some(
          ({ type, running }: Record<string, unknown>) => running || type === "CompletedJob",
        );
        return hasRun ? "ran" : (error ?? undefined);
      }, "the schedule");
    } finally {
      await dev("DELETE", `/w/acme/schedules/delete/${path}`);
    }
  },
};

let count = 0;
const preview = (more: object) => ({ content: CODE, language: "bun", args: {}, ...more });

async function made(path: string, more: object, modules: object[]) {
  const known = (await dev("GET", `/w/acme/flows/exists/${path}`)).json();
  if (known) return;
  await expectOk(dev("POST", "/w/acme/flows/create", { path, summary: "", value: { modules }, ...more }));
}

async function flow(more: object, ...modules: object[]): Promise<string> {
  const path = `u/dev/flow${++count}`;
  await made(path, more, modules);
  return (await dev("POST", `${base}/run_wait_result/f/${path}`, {})).text;
}

const REFUSED = "the tag gpu may not be given to jobs in workspace acme";

describe("an unlisted tag", () => {
  test.each(Object.keys(PLACES))("is rejected for %s", async (place) => {
    expect(await PLACES[place]!()).toContain(REFUSED);
  });

  test.each(Object.keys(PLACES))("can be used by %s once it is listed for the workspace", async (place) => {
    await allow(["gpu(other+acme)"]);
    expect(await PLACES[place]!()).not.toContain("may not be given");
  });
});

test.each([
  [["gpu"], true],
  [["gpu(acme)"], true],
  [["gpu(other)"], false],
  [["gpu(^acme)"], false],
  [["gpu(^other^more)"], true],
  [["gpus", "gp"], false],
  [["gpu-$workspace"], false],
])("%j lets gpu run: %p", async (entries, runs) => {
  await allow(entries);
  expect((await sync("gpu")).status).toBe(runs ? 200 : 403);
});

test("a tag template is allowed by its text or by its rendered value", async () => {
  await deploy(dev, "acme", "u/dev/sized", CODE, { tag: "pool-$args[size]" });
  await deploy(dev, "acme", "u/dev/own", CODE, { tag: "of-$workspace" });
  const sized = async (size: string) => (await sync("sized", "", dev, { size })).status;
  expect([await sized("a"), (await sync("own")).status]).toEqual([403, 403]);
  await allow(["pool-a", "of-$workspace"]);
  expect([await sized("a"), await sized("b"), (await sync("own")).status]).toEqual([200, 403, 200]);
  expect((await sync("plain", "?tag=of-other")).status).toBe(403);
  await allow(["pool-$args[size]"]);
  expect([await sized("a"), await sized("b")]).toEqual([200, 200]);
  expect((await sync("plain", "?tag=pool-b")).status).toBe(403);
  // An expression that would result in another tag does not match the tag.
  expect((await sync("plain", "?tag=%24args%5Bsize%5D", dev, { size: "bun" })).status).toBe(200);
  expect((await sync("plain", "?tag=%24args%5Bsize%5D", dev, { size: "gpu" })).status).toBe(403);
});

test("super admins use any, but their jobs do not; tags that jobs have anyway are allowed", async () => {
  expect((await sync("gpu", "", root)).status).toBe(200);
  for (const tag of (await dev("GET", "/workers/get_default_tags")).json()) {
    expect([tag, (await dev("POST", `${base}/run/p/u/dev/plain?tag=${tag}`, {})).status]).toEqual([tag, 201]);
  }
  const asks = `export const main = async () => (await fetch(process.env.BASE_INTERNAL_URL +
    "/api/w/acme/jobs/run/p/u/dev/plain?tag=gpu", { method: "POST", body: "{}",
    headers: { authorization: "Bearer " + process.env.WM_TOKEN } })).status`;
  await deploy(root, "acme", "f/app_custom/asks", asks);
  const ran = await root("POST", `${base}/run_wait_result/p/f/app_custom/asks`, {});
  expect(ran.json()).toBe(403);
});

test("a flow on behalf of a super admin allows only the tags that its starter may use", async () => {
  const value = { modules: [step("a", { ...raw, tag: "gpu" })] };
  const body = { path: "f/app_custom/above", summary: "", value, on_behalf_of_email: "root@example.org" };
  const add = { email: "root@example.org", is_admin: true, operator: false };
  await expectOk(server.operator("POST", "/w/acme/workspaces/add_user", add));
  await expectOk(root("POST", "/w/acme/flows/create", body));
  const run = (by: Ask) => by("POST", `${base}/run_wait_result/f/f/app_custom/above`, {});
  expect((await run(root)).text).toBe('"ran"');
  expect((await run(dev)).text).toContain(REFUSED);
});
