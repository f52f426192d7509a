/** The TypeScript client that scripts of the original import: each of its functions, with the package itself. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Bucket, startBucket } from "../bucket.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer, until } from "../harness.ts";
import { isOffline } from "./registry.ts";

/** Of what the client has, its package exports not everything: the rest is taken from its file. */
const OLDER =
  'import * as wmill from "windmill-client@1.394.6";\nimport * as client from "windmill-client@1.394.6/dist/client.js";\n';
/** Of today, with the functions that have come since. */
const NEWER = 'import * as wmill from "windmill-client@1.818.0";\n';

let server: TestServer;
let bucket: Bucket;
let ask: Ask;
/** What a package was resolved to the first time, by the import: the other scripts need the same. */
const locks = new Map<string, string>();

const w = "/w/acme";
const post = (path: string, body: unknown) => expectOk(ask("POST", `${w}${path}`, body));
const get = async (path: string) => (await expectOk(ask("GET", `${w}${path}`))).json();

beforeAll(async () => {
  if (isOffline) return;
  [server, bucket] = await Promise.all([startTestServer(), startBucket()]);
  ({ ask } = await server.workspace());
  for (const [index, imports] of [OLDER, NEWER].entries()) {
    const hash = await deploy(ask, "acme", `u/admin/first_${index}`, `${imports}export const main = () => 1`);
    locks.set(imports, (await get(`/scripts/deployment_status/h/${hash}`)).lock);
  }
  await prepare();
}, 60_000);
afterAll(async () => {
  await server?.stop();
  await bucket?.stop();
});

/** What the scripts find in the workspace. */
async function prepare(): Promise<void> {
  const variable = (path: string, value: string, is_secret: boolean) =>
    post("/variables/create", { path, value, is_secret, description: "" });
  const resource = (path: string, value: unknown, resource_type: string) =>
    post("/resources/create", { path, value, resource_type });
  await variable("u/admin/plain", "moon", false);
  await variable("u/admin/secret", "hunter2-moon", true);
  await resource("u/admin/point", { x: 1, y: "$var:u/admin/secret" }, "object");
  await resource(
    "u/admin/database",
    { user: "ann", password: "p", host: "db", port: 5432, dbname: "shop", sslmode: "disable" },
    "postgresql",
  );
  await resource("u/admin/bucket", bucket.resource, "s3");
  await post("/workspaces/edit_large_file_storage_config", {
    large_file_storage: { type: "S3Storage", s3_resource_path: "$res:u/admin/bucket" },
  });
  await post("/job_helpers/upload_s3_file?file_key=in/hello.txt", "hello from the bucket");
  const twice =
    "export const main = (n: number) => { if (n < 0) throw new Error('below zero'); return 2 * n }";
  await deploy(ask, "acme", "u/admin/twice", twice);
  await deploy(ask, "acme", "u/admin/slow", "export const main = () => Bun.sleep(60_000)");
  await post("/flows/create", {
    path: "u/admin/twice_flow",
    summary: "",
    value: { modules: [step("export const main = (n: number) => 2 * n", { n: "flow_input.n" })] },
  });
}

const step = (content: string, inputs: Record<string, string> = {}, more: object = {}) => ({
  id: "a",
  value: {
    type: "rawscript",
    language: "bun",
    content,
    input_transforms: Object.fromEntries(
      Object.entries(inputs).map(([name, expr]) => [name, { type: "javascript", expr }]),
    ),
    ...more,
  },
});

let count = 0;

/** Runs a script that uses the client. @returns its result, and the id of its job */
async function run(imports: string, source: string): Promise<{ id: string; path: string; result: any }> {
  const path = `u/admin/client_${++count}`;
  await deploy(ask, "acme", path, imports + source, { lock: locks.get(imports) });
  const id = (await post(`/jobs/run/p/${path}`, {})).text;
  return { id, path, result: await resultOf(id) };
}

const resultOf = (id: string): Promise<any> =>
  until(async () => {
    const { completed, result } = await get(`/jobs_u/completed/get_result_maybe/${id}`);
    return completed ? { result } : undefined;
  }, "the job").then(({ result }) => result);

interface Case {
  name: string;
  /** The whole script, or the expression that main gives. */
  source: string;
  result: unknown;
  /** What is then to be seen from outside. */
  seen?: (ran: { id: string; path: string; result: any }) => Promise<void>;
}

const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);

const CASES: Case[] = [
  { name: "getVariable", source: 'wmill.getVariable("u/admin/plain")', result: "moon" },
  {
    name: "getVariable of none",
    source: 'wmill.getVariable("u/admin/none").catch((e) => e.message)',
    result: expect.stringMatching(/^Variable not found at u\/admin\/none .*: .*variable u\/admin\/none/),
  },
  {
    name: "setVariable, a new one",
    source: 'wmill.setVariable("u/admin/made", "one", true, "by a script")',
    result: null,
    seen: async () =>
      expect(await get("/variables/get/u/admin/made")).toMatchObject({
        value: "one",
        is_secret: true,
        description: "by a script",
      }),
  },
  {
    name: "setVariable, an old one",
    source: 'wmill.setVariable("u/admin/plain", "sun")',
    result: null,
    seen: async () => expect(await get("/variables/get_value/u/admin/plain")).toBe("sun"),
  },
  {
    name: "getResource",
    source: 'wmill.getResource("u/admin/point")',
    result: { x: 1, y: "hunter2-moon" },
  },
  {
    name: "getResource of none",
    source:
      '[await wmill.getResource("u/admin/none", true) ?? "none", await wmill.getResource("u/admin/none").catch((e) => e.message)]',
    result: ["none", expect.stringContaining("Resource not found at u/admin/none")],
  },
  {
    name: "setResource, a new one",
    source: 'wmill.setResource({ a: [1] }, "u/admin/thing", "object")',
    result: null,
    seen: async () =>
      expect(await get("/resources/get/u/admin/thing")).toMatchObject({
        value: { a: [1] },
        resource_type: "object",
      }),
  },
  {
    name: "setResource, an old one",
    source: 'wmill.setResource({ a: 2 }, "u/admin/thing")',
    result: null,
    seen: async () => expect(await get("/resources/get_value/u/admin/thing")).toEqual({ a: 2 }),
  },
  {
    name: "getState and setState",
    source:
      "[await wmill.getState() ?? null, await wmill.setState({ n: 1 }) ?? null, await wmill.getState()]",
    result: [null, null, { n: 1 }],
    seen: async ({ path }) => {
      const id = (await post(`/jobs/run/p/${path}`, {})).text;
      expect(await resultOf(id)).toEqual([{ n: 1 }, null, { n: 1 }]);
      const stored = await get(`/resources/get/${path}/user`);
      expect(stored).toMatchObject({ resource_type: "state", value: { n: 1 } });
    },
  },
  {
    name: "getInternalState and setInternalState",
    source:
      "[await client.setInternalState(7) ?? null, await client.getInternalState(), client.getStatePath()]",
    result: [null, 7, expect.stringMatching(/^u\/admin\/client_\d+\/user$/)],
  },
  {
    name: "runScript",
    source: 'wmill.runScript("u/admin/twice", null, { n: 4 })',
    result: 8,
    seen: async ({ id }) => {
      const [child] = await get(`/jobs/list?parent_job=${id}`);
      expect(child).toMatchObject({ script_path: "u/admin/twice", parent_job: id });
    },
  },
  {
    name: "runScript that fails",
    source: 'wmill.runScript("u/admin/twice", null, { n: -1 }).catch((e) => e.message)',
    result: expect.stringMatching(/^Job .* was not successful: .*below zero/),
  },
  {
    name: "runScriptAsync, waitJob, getResult and getResultMaybe",
    source: `export async function main() {
      const id = await wmill.runScriptAsync("u/admin/twice", null, { n: 5 });
      return [id, await wmill.waitJob(id), await client.getResult(id), await client.getResultMaybe(id)];
    }`,
    result: [UUID, 10, 10, expect.objectContaining({ completed: true, success: true, result: 10 })],
  },
  {
    name: "runScriptAsync by hash",
    source: `export async function main() {
      const { hash } = await wmill.ScriptService.getScriptByPath({ workspace: "acme", path: "u/admin/twice" });
      return wmill.waitJob(await wmill.runScriptAsync(null, hash, { n: 6 }));
    }`,
    result: 12,
  },
  {
    name: "runScriptAsync later",
    source: 'wmill.runScriptAsync("u/admin/twice", null, { n: 7 }, 3600)',
    result: UUID,
    seen: async ({ result }) => {
      const job = await get(`/jobs_u/get/${result}`);
      expect(Date.parse(job.scheduled_for) - Date.parse(job.created_at)).toBe(3_600_000);
      await post(`/jobs_u/queue/cancel/${result}`, { reason: "seen" });
    },
  },
  { name: "runFlow", source: 'wmill.runFlow("u/admin/twice_flow", { n: 3 })', result: 6 },
  {
    name: "runFlowAsync",
    source: 'wmill.runFlowAsync("u/admin/twice_flow", { n: 9 })',
    result: UUID,
    seen: async ({ result }) => {
      expect(await resultOf(result)).toBe(18);
      expect((await get(`/jobs_u/get/${result}`)).parent_job ?? null).toBeNull();
    },
  },
  {
    name: "cancelling through JobService",
    source: `export async function main() {
      const id = await wmill.runScriptAsync("u/admin/slow", null, {});
      await wmill.JobService.cancelQueuedJob({ workspace: "acme", id, requestBody: { reason: "enough" } });
      return id;
    }`,
    result: UUID,
    seen: async ({ result }) => {
      await resultOf(result);
      expect(await get(`/jobs_u/get/${result}`)).toMatchObject({ canceled: true, canceled_reason: "enough" });
    },
  },
  {
    name: "getRootJobId",
    source: "[await wmill.getRootJobId(), process.env.WM_JOB_ID]",
    result: [UUID, UUID],
    seen: async ({ id, result }) => expect(result).toEqual([id, id]),
  },
  {
    name: "task",
    source: `export async function area(width: number, height: number) { return width * height; }
      export const main = () => wmill.task(area as any)(...([3, 4] as unknown as [unknown]));`,
    result: 12,
    seen: async ({ id }) => expect(await get(`/jobs/list?parent_job=${id}`)).toHaveLength(1),
  },
  { name: "usernameToEmail", source: 'wmill.usernameToEmail("admin")', result: "admin_acme@example.org" },
  {
    name: "databaseUrlFromResource",
    source: 'client.databaseUrlFromResource("u/admin/database")',
    result: "postgresql://ann:p@db:5432/shop?sslmode=disable",
  },
  {
    name: "resolveDefaultResource",
    source:
      '[await client.resolveDefaultResource("$res:u/admin/point"), await client.resolveDefaultResource(5)]',
    result: [{ x: 1, y: "hunter2-moon" }, 5],
  },
  {
    name: "denoS3LightClientSettings",
    source:
      'wmill.denoS3LightClientSettings("u/admin/bucket").then(({ bucket, accessKey, useSSL }: any) => ({ bucket, accessKey, useSSL }))',
    result: { bucket: "files", accessKey: "S3RVER", useSSL: false },
  },
  {
    name: "loadS3File",
    source: 'wmill.loadS3File({ s3: "in/hello.txt" }).then((bytes) => new TextDecoder().decode(bytes))',
    result: "hello from the bucket",
  },
  {
    name: "loadS3FileStream",
    source: 'wmill.loadS3FileStream({ s3: "in/hello.txt" }).then((blob) => blob!.text())',
    result: "hello from the bucket",
  },
  {
    name: "writeS3File",
    source: 'wmill.writeS3File({ s3: "out/a.txt" }, "written")',
    result: { s3: "out/a.txt" },
    seen: async () =>
      expect((await ask("GET", `${w}/job_helpers/download_s3_file?file_key=out/a.txt`)).text).toBe("written"),
  },
  {
    name: "writeS3File with a name of the service's choice",
    source: 'wmill.writeS3File(undefined, new Blob(["bytes"]))',
    result: { s3: expect.any(String) },
    seen: async ({ result }) => {
      const path = `${w}/job_helpers/download_s3_file?file_key=${encodeURIComponent(result.s3)}`;
      expect((await ask("GET", path)).text).toBe("bytes");
    },
  },
  {
    name: "the public collection, which is empty here",
    source: `export const main = () => Promise.all([
      wmill.ScriptService.getTopHubScripts({}),
      wmill.ScriptService.queryHubScripts({ text: "mail" }),
      wmill.FlowService.listHubFlows(),
      wmill.AppService.listHubApps(),
      wmill.IntegrationService.listHubIntegrations({}),
    ]);`,
    result: [{ asks: [] }, [], { flows: [] }, { apps: [] }, []],
  },
  { name: "getWorkspace", source: "client.getWorkspace()", result: "acme" },
  {
    name: "a client of one's own choice: setClient",
    source: `export async function main() {
      wmill.setClient("wrong");
      const refused = await wmill.UserService.getCurrentEmail().catch((e) => e.status);
      wmill.setClient();
      return [refused, await wmill.UserService.getCurrentEmail()];
    }`,
    result: [401, "admin_acme@example.org"],
  },
];

const NEWER_CASES: Case[] = [
  { name: "getVariable", source: 'wmill.getVariable("u/admin/secret")', result: "hunter2-moon" },
  {
    name: "getResource",
    source:
      '[await wmill.getResource("res://u/admin/point"), await wmill.getResource("u/admin/none", true) ?? null]',
    result: [{ x: 1, y: "hunter2-moon" }, null],
  },
  {
    name: "getState and setState at a path",
    source: '[await wmill.setState(3, "u/admin/kept"), await wmill.getState("u/admin/kept")]',
    result: [null, 3],
  },
  { name: "runScriptByPath", source: 'wmill.runScriptByPath("u/admin/twice", { n: 4 })', result: 8 },
  {
    name: "runScriptByHash",
    source: `export async function main() {
      const { hash } = await wmill.ScriptService.getScriptByPath({ workspace: "acme", path: "u/admin/twice" });
      return [await wmill.runScriptByHash(hash, { n: 6 }), await wmill.waitJob(await wmill.runScriptByHashAsync(hash, { n: 7 }))];
    }`,
    result: [12, 14],
  },
  {
    name: "runScriptByPathAsync and cancelJob",
    source: `export async function main() {
      const id = await wmill.runScriptByPathAsync("u/admin/slow");
      await wmill.cancelJob(id, "enough");
      return id;
    }`,
    result: UUID,
    seen: async ({ result }) => {
      await resultOf(result);
      expect(await get(`/jobs_u/get/${result}`)).toMatchObject({ canceled: true, canceled_reason: "enough" });
    },
  },
  { name: "runFlow", source: 'wmill.runFlow("u/admin/twice_flow", { n: 3 })', result: 6 },
  {
    name: "setProgress and getProgress",
    source: "[await wmill.setProgress(40), await wmill.getProgress()]",
    result: [null, 40],
    seen: async ({ id }) => expect(await get(`/job_metrics/get_progress/${id}`)).toBe(40),
  },
  {
    name: "streamResult and appendToResultStream",
    source: `export async function main() {
      wmill.appendToResultStream("one\\n");
      await wmill.streamResult((async function* () { yield "two"; yield " three" })());
    }`,
    result: "one\ntwo three",
  },
  {
    name: "loadS3File and writeS3File",
    source: `export async function main() {
      const written = await wmill.writeS3File({ s3: "out/new.txt" }, "new");
      return new TextDecoder().decode(await wmill.loadS3File(written));
    }`,
    result: "new",
  },
  { name: "usernameToEmail", source: 'wmill.usernameToEmail("admin")', result: "admin_acme@example.org" },
];

const whole = (source: string) =>
  source.includes("export ") ? source : `export const main = async () => ${source};`;

describe.skipIf(isOffline).each([
  ["the client", OLDER, CASES],
  ["the client of today", NEWER, NEWER_CASES],
] as const)("%s, called by a script:", (_, imports, cases) => {
  test.each(cases.map((each) => [each.name, each] as const))(
    "%s",
    async (_, { source, result, seen }) => {
      const ran = await run(imports, whole(source));
      expect(ran.result).toEqual(result);
      await seen?.(ran);
    },
    30_000,
  );
});

describe.skipIf(isOffline)("the client, called by a step of a flow:", () => {
  const last = {
    id: "b",
    value: {
      type: "rawscript",
      language: "bun",
      content: "export const main = (x: unknown) => x",
      input_transforms: { x: { type: "javascript", expr: "previous_result" } },
    },
  };
  const start = async (source: string, more: object = {}): Promise<string> => {
    const path = `u/admin/client_flow_${++count}`;
    const module = { ...step(OLDER + source, {}, { lock: locks.get(OLDER) }), ...more };
    await post("/flows/create", { path, summary: "", value: { modules: [module, last] } });
    return (await post(`/jobs/run/f/${path}`, {})).text;
  };

  test("setFlowUserState and getFlowUserState", async () => {
    const id = await start(`export async function main() {
      await wmill.setFlowUserState("seen", { n: 1 }, true);
      return [await wmill.getFlowUserState("seen", true), await wmill.getFlowUserState("none", true), await wmill.getRootJobId()];
    }`);
    expect(await resultOf(id)).toEqual([{ n: 1 }, null, id]);
    expect((await get(`/jobs_u/get/${id}`)).flow_status.user_states).toEqual({ seen: { n: 1 } });
  }, 30_000);

  test.each(["wmill.getResumeUrls", "client.getResumeEndpoints"])(
    "%s",
    async (name) => {
      const id = await start(`export const main = () => ${name}("bob")`, {
        suspend: { required_events: 1, timeout: 600 },
      });
      const urls = await until(async () => {
        const { flow_status } = await get(`/jobs_u/get/${id}`);
        if (!flow_status.approval_conditions) return undefined;
        return get(`/jobs_u/completed/get_result/${flow_status.modules[0].job}`);
      }, "the flow's waiting");
      expect(urls).toEqual({
        approvalPage: expect.stringContaining("bob"),
        resume: expect.stringContaining(server.url),
        cancel: expect.stringContaining(server.url),
      });
      const answer = await fetch(urls.resume, {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json" },
      });
      expect(answer.status).toBeLessThan(300);
      await resultOf(id);
      const job = await get(`/jobs_u/get/${id}`);
      expect(job.success).toBe(true);
      expect(job.flow_status.modules[0].approvers).toMatchObject([{ approver: "bob" }]);
    },
    30_000,
  );
});
