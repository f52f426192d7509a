/** `svc migrate-to` during work: running, waiting and scheduled jobs continue in PostgreSQL. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createDatabase, until } from "../../../support/harness.ts";
import { type PostgresServer, startPostgres } from "../../../support/peers/postgres-server.ts";
import { type CliEnvironment, createCliEnvironment, type RunningCommand, start } from "../../program.ts";

setDefaultTimeout(90_000);

let postgres: PostgresServer;
let place: CliEnvironment;
let token: string;
let url: string;

/** Calls a running server, below /api. */
async function call(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}
async function ok(method: string, path: string, body?: unknown): Promise<string> {
  const { status, text } = await call(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  return text;
}
const w = "/w/acme";
const get = async (id: string) => JSON.parse(await ok("GET", `${w}/jobs_u/get/${id}`));
const ended = (id: string) =>
  until(async () => {
    const job = await get(id);
    return job.type === "CompletedJob" ? job : undefined;
  }, `the end of job ${id}`);

async function serve(env: Record<string, string> = {}): Promise<RunningCommand> {
  const going = start(place, ["serve", "--port", "0", "--json"], {
    SVC_WORKERS: "2",
    SVC_LEASE_S: "2",
    SVC_SANDBOX: "off",
    ...env,
  });
  const said = await going.says('"url"');
  url = /"url": "([^"]+)"/.exec(said)![1]!;
  return going;
}
async function asOperator(path: string, body: unknown): Promise<string> {
  const response = await fetch(`http://localhost/api${path}`, {
    unix: join(place.data_dir, "svc.sock"),
    method: "POST",
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text;
}

/** Creates a user with a workspace. */
async function setUp(): Promise<void> {
  const ann = { email: "ann@example.org", password: "secret-word", super_admin: true, username: "ann" };
  await asOperator("/users/create", ann);
  await asOperator("/workspaces/create", { id: "acme", name: "Acme", owner: ann.email });
  token = await asOperator("/users/tokens/impersonate", { impersonate_email: ann.email });
}

/** Hangs the first time it runs, and completes the second time. */
const HANGS_ONCE = `import { existsSync, writeFileSync } from "node:fs";
export async function main(file: string) {
  if (!existsSync(file)) {
    writeFileSync(file, "");
    await Bun.sleep(600_000);
  }
  return "begun again";
}`;

beforeAll(async () => {
  postgres = await startPostgres();
  place = createCliEnvironment();
});
afterAll(async () => {
  await postgres.stop();
  place[Symbol.dispose]();
});

test("running, waiting and scheduled jobs, unfinished flows, and files continue on the target", async () => {
  using here = await serve();
  await setUp();
  const step = (id: string, content: string, more: object = {}, input_transforms: object = {}) => ({
    id,
    value: { type: "rawscript", language: "bun", content, input_transforms },
    ...more,
  });
  const expr = (text: string) => ({ type: "javascript", expr: text });
  await ok("POST", `${w}/scripts/create`, { path: "u/ann/hangs", language: "bun", content: HANGS_ONCE });
  const own = "export const main = () => process.env.WM_JOB_ID";
  await ok("POST", `${w}/scripts/create`, { path: "u/ann/own", language: "bun", content: own });
  await until(async () => {
    const deployed = await call("POST", `${w}/jobs/run_wait_result/p/u/ann/own`, {});
    return deployed.status === 200 ? true : undefined;
  }, "the deployment");

  const asking = {
    modules: [
      step("a", "export const main = () => 'before'", { suspend: { required_events: 1, timeout: 600 } }),
      step("b", "export const main = (all: unknown) => all", {}, { all: expr("[results.a, resume]") }),
    ],
  };
  await ok("POST", `${w}/flows/create`, { path: "u/ann/asks", summary: "", value: asking });
  const flowFile = join(place.folder, "flow-began");
  const middle = {
    modules: [
      step("a", "export const main = () => 1"),
      step("b", HANGS_ONCE, {}, { file: { type: "static", value: flowFile } }),
      step("c", "export const main = (all: unknown) => all", {}, { all: expr("[results.a, results.b]") }),
    ],
  };
  await ok("POST", `${w}/flows/create`, { path: "u/ann/middle", summary: "", value: middle });
  const large_file_storage = { type: "FilesystemStorage" };
  await ok("POST", `${w}/workspaces/edit_large_file_storage_config`, { large_file_storage });
  await ok("POST", `${w}/job_helpers/upload_s3_file?file_key=dir/file.txt`, "what is in it");
  const secret = { path: "u/ann/s", value: "the-value", is_secret: true, description: "" };
  await ok("POST", `${w}/variables/create`, secret);

  const asks = await ok("POST", `${w}/jobs/run/f/u/ann/asks`, {});
  const asked: string = await until(async () => {
    const { flow_status } = await get(asks);
    return flow_status?.approval_conditions ? flow_status.modules[flow_status.step - 1].job : undefined;
  }, "the flow's waiting");
  const links = JSON.parse(await ok("GET", `${w}/jobs/resume_urls/${asked}/1`));
  const inFlow = await ok("POST", `${w}/jobs/run/f/u/ann/middle`, {});
  const file = join(place.folder, "began");
  const running = await ok("POST", `${w}/jobs/run/p/u/ann/hangs`, { file });
  await until(() => (existsSync(flowFile) && existsSync(file) ? true : undefined), "two jobs at work");
  const waiting = [];
  for (let at = 0; at < 20; at++) waiting.push(await ok("POST", `${w}/jobs/run/p/u/ann/own`, {}));
  const later = await ok("POST", `${w}/jobs/run/p/u/ann/own?scheduled_in_secs=8`, {});
  here.child.kill("SIGKILL");
  await here.ended();

  const target = (await createDatabase(postgres.url)).url;
  const moved = await place.svc(["migrate-to", target, "--json"]);
  expect([moved.code, JSON.parse(moved.out)]).toEqual([0, expect.objectContaining({ files: 1 })]);

  using there = await serve({ DATABASE_URL: target });
  for (const id of waiting) expect(await ended(id)).toMatchObject({ success: true, result: id });
  expect(await ended(running)).toMatchObject({ success: true, result: "begun again" });
  expect(await ended(inFlow)).toMatchObject({ success: true, result: [1, "begun again"] });
  expect(await ended(later)).toMatchObject({ success: true, result: later });
  // The link is signed with the workspace's key, which moved too; only the port differs.
  const resumed = await fetch(`${url}${new URL(links.resume).pathname}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '"yes"',
  });
  expect(resumed.status).toBe(201);
  expect(await ended(asks)).toMatchObject({ success: true, result: ["before", "yes"] });
  expect(await ok("GET", `${w}/job_helpers/download_s3_file?file_key=dir/file.txt`)).toBe("what is in it");
  expect(await ok("GET", `${w}/variables/get_value/u/ann/s`)).toBe('"the-value"');
  there.child.kill("SIGTERM");
  expect((await there.ended()).code).toBe(0);
});

test("a dry run uses one snapshot of the jobs, and disturbs none", async () => {
  place[Symbol.dispose]();
  place = createCliEnvironment();
  using here = await serve();
  await setUp();
  const content = "export const main = (n: number) => n";
  await ok("POST", `${w}/scripts/create`, { path: "u/ann/n", language: "bun", content });
  await until(async () => {
    const deployed = await call("POST", `${w}/jobs/run_wait_result/p/u/ann/n`, { n: 0 });
    return deployed.status === 200 ? true : undefined;
  }, "the deployment");
  let tried = 0;
  let going = true;
  const wrong: string[] = [];
  const callers = Array.from({ length: 4 }, async (_, first) => {
    for (let n = first; going; n += 4) {
      const { status, text } = await call("POST", `${w}/jobs/run_wait_result/p/u/ann/n`, { n });
      if (status !== 200 || text !== String(n)) wrong.push(`${n}: ${status} ${text}`);
      tried++;
    }
  });
  const target = (await createDatabase(postgres.url)).url;
  for (let round = 0; round < 3; round++) {
    const before = tried;
    const { code, out, err } = await place.svc(["migrate-to", target, "--dry-run", "--json"]);
    expect([code, code === 0 ? JSON.parse(out).dry_run : err]).toEqual([0, true]);
    // At least everything that had been answered by then.
    expect(JSON.parse(out).rows).toBeGreaterThanOrEqual(before);
    expect(tried).toBeGreaterThan(before);
  }
  going = false;
  await Promise.all(callers);
  expect(wrong).toEqual([]);
  here.child.kill("SIGTERM");
  expect((await here.ended()).code).toBe(0);
});
