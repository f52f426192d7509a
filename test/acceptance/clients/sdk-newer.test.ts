/** The current TypeScript client: what it shares with the older version, and what was added since. */
import { afterAll, beforeAll, describe, expect } from "bun:test";
import { isOffline } from "./registry.ts";
import { type Case, type Sdk, startSdk, testCases, testCompleteness, UUID } from "./sdk.ts";
import { CASES, FLOW_SOURCES, testFlowCalls } from "./sdk-cases.ts";

/** Imports of the client: its default export has more than its named exports. */
const IMPORTS = 'import client, * as wmill from "windmill-client@1.818.0";\n';

const SIGNED = expect.stringMatching(/^exp=\d+&sig=[0-9a-f]{64}$/);

const NEWER: Case[] = [
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
    seen: async ({ result }, { get, resultOf }) => {
      await resultOf(result);
      expect(await get(`/jobs_u/get/${result}`)).toMatchObject({ canceled: true, canceled_reason: "enough" });
    },
  },
  {
    name: "setProgress and getProgress",
    source: "[await wmill.setProgress(40), await wmill.getProgress()]",
    result: [null, 40],
    seen: async ({ id }, { get }) => expect(await get(`/job_metrics/get_progress/${id}`)).toBe(40),
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
    name: "getIdToken that lasts as long as is said",
    source: 'wmill.getIdToken("sts.example.org", 120)',
    result: expect.any(String),
    seen: async ({ result }) => {
      const { exp, iat } = JSON.parse(Buffer.from(result.split(".")[1], "base64url").toString());
      expect(exp - iat).toBe(120);
    },
  },
  {
    name: "signS3Objects and signS3Object",
    source: `[await wmill.signS3Objects(["s3:///in/hello.txt", { s3: "in/other.txt" }]), await wmill.signS3Object({ s3: "in/hello.txt" })]`,
    result: [
      [
        { s3: "in/hello.txt", presigned: SIGNED },
        { s3: "in/other.txt", presigned: SIGNED },
      ],
      { s3: "in/hello.txt", presigned: SIGNED },
    ],
  },
  {
    name: "getPresignedS3PublicUrls and getPresignedS3PublicUrl",
    source: `[...await wmill.getPresignedS3PublicUrls([{ s3: "in/hello.txt" }]), await wmill.getPresignedS3PublicUrl({ s3: "in/hello.txt" }, { expirySecs: 120 })]`,
    result: [expect.any(String), expect.any(String)],
    seen: async ({ result }, { server }) => {
      for (const url of result) {
        expect(url).toStartWith(`${server.url}/api/w/acme/s3_proxy/_default_/in/hello.txt?`);
        expect(await (await fetch(url)).text()).toBe("hello from the bucket");
      }
    },
  },
  {
    name: "deleteS3File",
    source: `export async function main() {
      const written = await wmill.writeS3File({ s3: "out/gone.txt" }, "gone");
      await wmill.deleteS3File(written);
      return wmill.loadS3File(written).catch((error) => error.message);
    }`,
    result: expect.stringContaining("out/gone.txt"),
  },
  {
    name: "parseS3Object and getStatePath",
    source: '[client.parseS3Object("s3://other/a/b.txt"), client.getStatePath(), client.getWorkspace()]',
    result: [{ storage: "other", s3: "a/b.txt" }, expect.stringMatching(/\/user$/), "acme"],
  },
  {
    name: "workflow, task, step, sleep and parallel",
    source: `export async function area(width: number) { return 2 * width; }
      export const main = wmill.workflow(async () => {
        await wmill.sleep(0.01);
        const widths = await wmill.step("widths", () => [1, 2, 3]);
        return wmill.parallel(widths, wmill.task(area), { concurrency: 2 });
      });`,
    result: [2, 4, 6],
    seen: async ({ id }, { get }) => expect(await get(`/jobs/list?parent_job=${id}`)).toHaveLength(3),
  },
];

const SUSPENDS =
  "belongs to workflows that put their own code to sleep, which only the original's worker knows";
const ELSEWHERE = "asks a product of another maker that this service does not speak to";

describe.skipIf(isOffline)("the newest client", () => {
  let sdk: Sdk;
  beforeAll(async () => {
    sdk = await startSdk(IMPORTS);
  }, 60_000);
  afterAll(() => sdk.stop());

  describe("called by a script:", () => testCases(() => sdk, [...CASES, ...NEWER]));

  describe("called by a step of a flow:", () => testFlowCalls(() => sdk));

  const sources = [...CASES, ...NEWER].map(({ source }) => source);
  testCompleteness(() => sdk, [...sources, FLOW_SOURCES.userState, ...FLOW_SOURCES.urls], {
    exported: "{ ...client, ...wmill }",
    absent: [],
    untested: {
      taskScript: SUSPENDS,
      taskFlow: SUSPENDS,
      waitForApproval: SUSPENDS,
      getApprovalUrls: SUSPENDS,
      setWorkflowCtx: SUSPENDS,
      requestInteractiveSlackApproval: ELSEWHERE,
      requestInteractiveTeamsApproval: ELSEWHERE,
      commitKafkaOffsets: ELSEWHERE,
      datatable: ELSEWHERE,
      ducklake: ELSEWHERE,
      upsertPartition: ELSEWHERE,
      appendPartition: ELSEWHERE,
    },
  });
});
