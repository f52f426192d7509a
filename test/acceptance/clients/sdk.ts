/** A workspace whose scripts import one version of the published TypeScript client. */
import { expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";
import { type Bucket, startBucket } from "../../support/peers/bucket.ts";
import { license } from "../../support/peers/license.ts";

const w = "/w/acme";

export interface SdkResult {
  id: string;
  path: string;
  result: any;
}

export interface Sdk {
  server: TestServer;
  bucket: Bucket;
  ask: Ask;
  /** The lock resolved for the first script; later scripts use the same. */
  lock: string;
  /** Sends a request within the workspace, which must succeed. */
  post: (path: string, body: unknown) => Promise<{ text: string }>;
  get: (path: string) => Promise<any>;
  /** Runs a script that uses the client. @param source as in a `Case` */
  run: (source: string) => Promise<SdkResult>;
  /** Starts a flow of one step, and a last one that returns its result. @returns the job's id */
  startFlow: (source: string, more?: object) => Promise<string>;
  resultOf: (id: string) => Promise<any>;
  stop: () => Promise<void>;
}

/** @param imports statements at the start of every script */
export async function startSdk(imports: string): Promise<Sdk> {
  const [server, bucket] = await Promise.all([
    startTestServer({ allowed_targets: "127.0.0.1" }),
    startBucket(),
  ]);
  const { ask } = await server.workspace();
  await license(server);
  const post = (path: string, body: unknown) => expectOk(ask("POST", `${w}${path}`, body));
  const get = async (path: string) => (await expectOk(ask("GET", `${w}${path}`))).json();
  const hash = await deploy(ask, "acme", "u/admin/first", `${imports}export const main = () => 1`);
  const { lock } = await get(`/scripts/deployment_status/h/${hash}`);
  await deploy(ask, "acme", EVALUATE, imports + EVALUATE_CONTENT, { lock });
  let count = 0;
  const sdk: Sdk = {
    server,
    bucket,
    ask,
    lock,
    post,
    get,
    async run(source) {
      const isWhole = source.includes("export ");
      const path = isWhole ? `u/admin/client_${++count}` : EVALUATE;
      if (isWhole) await deploy(ask, "acme", path, imports + source, { lock });
      const id = (await post(`/jobs/run/p/${path}`, isWhole ? {} : { source })).text;
      return { id, path, result: await sdk.resultOf(id) };
    },
    async startFlow(source, more = {}) {
      const path = `u/admin/client_flow_${++count}`;
      const module = { ...step(imports + source, {}, { lock }), ...more };
      await post("/flows/create", { path, summary: "", value: { modules: [module, LAST] } });
      return (await post(`/jobs/run/f/${path}`, {})).text;
    },
    resultOf: (id) =>
      until(async () => {
        const { completed, result } = await get(`/jobs_u/completed/get_result_maybe/${id}`);
        return completed ? { result } : undefined;
      }, "the job").then(({ result }) => result),
    async stop() {
      await server.stop();
      await bucket.stop();
    },
  };
  await prepare(sdk);
  return sdk;
}

/** One script evaluates all expressions, so that the client is loaded once. */
const EVALUATE = "u/admin/evaluate";
const EVALUATE_CONTENT = `
const AsyncFunction = (async () => {}).constructor as any;
export const main = (source: string) => new AsyncFunction("wmill", "client", "return (" + source + ")")(wmill, client);`;

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

const LAST = { ...step("export const main = (x: unknown) => x", { x: "previous_result" }), id: "b" };

/** Creates the items of the workspace that the scripts use. */
async function prepare({ ask, bucket, post }: Sdk): Promise<void> {
  const variable = (path: string, value: string, is_secret: boolean) =>
    post("/variables/create", { path, value, is_secret, description: "" });
  const resource = (path: string, value: unknown, resource_type: string) =>
    post("/resources/create", { path, value, resource_type });
  await variable("u/admin/plain", "moon", false);
  await variable("u/admin/secret", "hunter2-moon", true);
  await resource("u/admin/point", { x: 1, y: "$var:u/admin/secret" }, "object");
  const address = { user: "ann", password: "p", host: "db", port: 5432, dbname: "shop", sslmode: "disable" };
  await resource("u/admin/database", address, "postgresql");
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

export interface Case {
  name: string;
  /** A whole TypeScript script, or the JavaScript expression that `main` returns. */
  source: string;
  result: unknown;
  /** Checks the effects outside of the script. */
  seen?: (ran: SdkResult, sdk: Sdk) => Promise<void>;
}

export const UUID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);

/** Registers a test per case. */
export function testCases(sdk: () => Sdk, cases: readonly Case[]): void {
  test.each(cases.map((each) => [each.name, each] as const))(
    "%s",
    async (_, { source, result, seen }) => {
      const ran = await sdk().run(source);
      expect(ran.result).toEqual(result);
      await seen?.(ran, sdk());
    },
    30_000,
  );
}

/** The client's exports, recorded from the published package. */
const LISTED =
  "appendToResultStream cancelJob databaseUrlFromResource denoS3LightClientSettings getFlowUserState getIdToken getInternalState getPresignedS3PublicUrls getProgress getResource getResult getResultMaybe getResumeEndpoints getResumeUrls getRootJobId getState getVariable loadS3File loadS3FileStream resolveDefaultResource runFlow runFlowAsync runScript runScriptAsync runScriptByHash runScriptByHashAsync runScriptByPath runScriptByPathAsync setFlowUserState setInternalState setProgress setResource setState setVariable signS3Objects sleep step streamResult task usernameToEmail waitJob workflow writeS3File".split(
    " ",
  );

interface Completeness {
  /** Expression that lists the exports of this version. */
  exported: string;
  /** Listed exports that this client lacks. */
  absent: string[];
  /** Exports that no test calls, with the reason. */
  untested: Record<string, string>;
}

/**
 * Checks the tests themselves: every function of this version is called by one of them, or listed with a
 * reason.
 * @param tested the sources of all of them
 */
export function testCompleteness(
  sdk: () => Sdk,
  tested: readonly string[],
  { exported, absent, untested }: Completeness,
): void {
  test("each function of the package is called by a test, or listed as not provided by this service", async () => {
    const isFunction = "([name, value]) => typeof value === 'function' && /^[a-z]/.test(name)";
    const { result: had } = await sdk().run(
      `Object.entries(${exported}).filter(${isFunction}).map(([name]) => name)`,
    );
    const called = new Set(
      tested.flatMap((text) => [...text.matchAll(/\b(?:wmill|client)\.(\w+)/g)].map((match) => match[1]!)),
    );
    const left = had.filter((name: string) => !called.has(name));
    expect(left.sort()).toEqual(Object.keys(untested).sort());
    expect(LISTED.filter((name) => !had.includes(name))).toEqual(absent);
  }, 30_000);
}
