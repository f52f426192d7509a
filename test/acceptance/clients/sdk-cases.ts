/** Calls of the TypeScript client that exist in all its versions, with their expected results. */
import { expect, test } from "bun:test";
import { expectOk, until } from "../../support/harness.ts";
import { type Case, type Sdk, UUID } from "./sdk.ts";

export const CASES: Case[] = [
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
    seen: async (_, { get }) =>
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
    seen: async (_, { get }) => expect(await get("/variables/get_value/u/admin/plain")).toBe("sun"),
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
    seen: async (_, { get }) =>
      expect(await get("/resources/get/u/admin/thing")).toMatchObject({
        value: { a: [1] },
        resource_type: "object",
      }),
  },
  {
    name: "setResource, an old one",
    source: 'wmill.setResource({ a: 2 }, "u/admin/thing")',
    result: null,
    seen: async (_, { get }) => expect(await get("/resources/get_value/u/admin/thing")).toEqual({ a: 2 }),
  },
  {
    name: "getState and setState",
    source:
      "export const main = async () => [await wmill.getState() ?? null, await wmill.setState({ n: 1 }) ?? null, await wmill.getState()]",
    result: [null, null, { n: 1 }],
    seen: async ({ path }, { get, post, resultOf }) => {
      const id = (await post(`/jobs/run/p/${path}`, {})).text;
      expect(await resultOf(id)).toEqual([{ n: 1 }, null, { n: 1 }]);
      const stored = await get(`/resources/get/${path}/user`);
      expect(stored).toMatchObject({ resource_type: "state", value: { n: 1 } });
    },
  },
  {
    name: "getInternalState and setInternalState",
    source:
      "export const main = async () => [await client.setInternalState(7) ?? null, await client.getInternalState(), client.getStatePath()]",
    result: [null, 7, expect.stringMatching(/^u\/admin\/client_\d+\/user$/)],
  },
  {
    name: "runScript",
    source: 'wmill.runScript("u/admin/twice", null, { n: 4 })',
    result: 8,
    seen: async ({ id }, { get }) => {
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
    seen: async ({ result }, { get, post }) => {
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
    seen: async ({ result }, { get, resultOf }) => {
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
    seen: async ({ result }, { get, resultOf }) => {
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
    seen: async ({ id }, { get }) => expect(await get(`/jobs/list?parent_job=${id}`)).toHaveLength(1),
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
      'wmill.denoS3LightClientSettings("u/admin/bucket").then(({ bucket, accessKey, useSSL }) => ({ bucket, accessKey, useSSL }))',
    result: { bucket: "files", accessKey: "S3RVER", useSSL: false },
  },
  {
    name: "loadS3File",
    source: 'wmill.loadS3File({ s3: "in/hello.txt" }).then((bytes) => new TextDecoder().decode(bytes))',
    result: "hello from the bucket",
  },
  {
    name: "loadS3FileStream",
    source: 'wmill.loadS3FileStream({ s3: "in/hello.txt" }).then((blob) => blob.text())',
    result: "hello from the bucket",
  },
  {
    name: "writeS3File",
    source: 'wmill.writeS3File({ s3: "out/a.txt" }, "written")',
    result: { s3: "out/a.txt" },
    seen: async (_, { ask }) =>
      expect((await ask("GET", `/w/acme/job_helpers/download_s3_file?file_key=out/a.txt`)).text).toBe(
        "written",
      ),
  },
  {
    name: "writeS3File with a name of the service's choice",
    source: 'wmill.writeS3File(undefined, new Blob(["bytes"]))',
    result: { s3: expect.any(String) },
    seen: async ({ result }, { ask }) => {
      const path = `/w/acme/job_helpers/download_s3_file?file_key=${encodeURIComponent(result.s3)}`;
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
  {
    name: "getIdToken",
    source: 'wmill.getIdToken("sts.example.org")',
    result: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    seen: async ({ id, result }) => {
      const claims = JSON.parse(Buffer.from(result.split(".")[1], "base64url").toString());
      expect(claims).toMatchObject({ aud: "sts.example.org", workspace: "acme", job_id: id });
    },
  },
  {
    name: "base64ToUint8Array and uint8ArrayToBase64",
    source: 'client.uint8ArrayToBase64(client.base64ToUint8Array("bW9vbg=="))',
    result: "bW9vbg==",
  },
];

/** Sources of flow steps: calls of the client that only work in a flow. */
export const FLOW_SOURCES = {
  userState: `export async function main() {
    await wmill.setFlowUserState("seen", { n: 1 }, true);
    return [await wmill.getFlowUserState("seen", true), await wmill.getFlowUserState("none", true), await wmill.getRootJobId()];
  }`,
  urls: ["wmill.getResumeUrls", "client.getResumeEndpoints"],
};

export function testFlowCalls(sdk: () => Sdk): void {
  test("setFlowUserState and getFlowUserState", async () => {
    const { startFlow, resultOf, get } = sdk();
    const id = await startFlow(FLOW_SOURCES.userState);
    expect(await resultOf(id)).toEqual([{ n: 1 }, null, id]);
    expect((await get(`/jobs_u/get/${id}`)).flow_status.user_states).toEqual({ seen: { n: 1 } });
  }, 30_000);

  test.each(FLOW_SOURCES.urls)(
    "%s",
    async (name) => {
      const { startFlow, resultOf, get, server } = sdk();
      const suspend = { required_events: 1, timeout: 600 };
      const id = await startFlow(`export const main = () => ${name}("bob")`, { suspend });
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
      const nobody = server.as(undefined);
      await expectOk(nobody("POST", urls.resume.slice(`${server.url}/api`.length), {}));
      await resultOf(id);
      const job = await get(`/jobs_u/get/${id}`);
      expect(job.success).toBe(true);
      expect(job.flow_status.modules[0].approvers).toMatchObject([{ approver: "bob" }]);
    },
    30_000,
  );
}
