/**
 * The error handler of the instance: which jobs of all workspaces it is called for, and what happens when it
 * fails.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { handlerCalls } from "../../../../src/features/triggers/handlers/tables.ts";
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

const PATH = "u/root/handler";
const THROWS = "export const main = () => { throw new TypeError('no luck') }";

beforeAll(async () => {
  server = await startTestServer({ instance_error_handler: PATH });
  ({ ask } = await server.workspace());
  const { ask: asRoot, email } = await server.user("root", { super_admin: true });
  root = asRoot;
  const known = (await root("POST", "/workspaces/exists", { id: "admins" })).json();
  if (!known)
    await expectOk(root("POST", "/workspaces/create", { id: "admins", name: "admins", owner: email }));
  await deploy(ask, "acme", "u/admin/boom", THROWS);
  await deploy(ask, "acme", "u/admin/muted", THROWS, { ws_error_handler_muted: true });
  await deploy(
    ask,
    "acme",
    "u/admin/hangs",
    "export const main = () => new Promise(() => setInterval(() => {}, 1e3))",
  );
}, 60_000);
afterAll(() => server.stop());

const run = async (path: string) => (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {}))).text;
const jobOf = async (workspace: string, id: string, by: Ask) =>
  (await expectOk(by("GET", `/w/${workspace}/jobs_u/get/${id}`))).json();
/** Completed jobs of the handler, newest first. */
const handlers = async (): Promise<any[]> => {
  const listed = (
    await expectOk(root("GET", "/w/admins/jobs/completed/list?created_by=error_handler"))
  ).json();
  return Promise.all(listed.map(({ id }: any) => jobOf("admins", id, root)));
};
const handlerOf = (id: string) =>
  until(async () => (await handlers()).find(({ args }) => args.job_id === id), `the handler of ${id}`);
const alerts = async (kind: string): Promise<any[]> =>
  (await expectOk(root("GET", "/settings/critical_alerts?page_size=100")))
    .json()
    .filter((each: any) => each.kind === kind);

test("a missing handler raises an alert", async () => {
  await run("u/admin/boom");
  const [alert] = await until(async () => {
    const found = await alerts("error_handler_not_started");
    return found.length > 0 ? found : undefined;
  }, "the alert");
  expect(alert.message).toContain(PATH);
});

test("is started with the error and the place of a failure, even if muted by its workspace, but not for a canceled job", async () => {
  await deploy(root, "admins", PATH, "export const main = () => process.env.WM_WORKSPACE");
  const canceled = await run("u/admin/hangs");
  await until(async () => ((await jobOf("acme", canceled, ask)).running ? true : undefined), "its beginning");
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${canceled}`, {}));
  const muted = await run("u/admin/muted");
  const id = await run("u/admin/boom");
  const handler = await handlerOf(id);
  const failed = await jobOf("acme", id, ask);
  expect(handler.args).toEqual({
    error: { ...failed.result.error, message: "no luck", name: "TypeError" },
    workspace_id: "acme",
    job_id: id,
    path: "u/admin/boom",
    is_flow: false,
    started_at: failed.started_at,
    email: failed.email,
  });
  expect(handler).toMatchObject({ script_path: PATH, permissioned_as: "g/error_handler", result: "admins" });
  await handlerOf(muted);
  const waiting = () => server.server.app.db.read.select().from(handlerCalls);
  await until(async () => ((await waiting()).length === 0 ? true : undefined), "an empty outbox");
  expect((await handlers()).filter(({ args }) => args.job_id === canceled)).toEqual([]);
});

test("a handler that fails raises an alert and starts no further handler", async () => {
  await deploy(root, "admins", PATH, THROWS);
  const before = (await handlers()).length;
  await run("u/admin/boom");
  const [alert] = await until(async () => {
    const found = await alerts("error_handler_failed");
    return found.length > 0 ? found : undefined;
  }, "the alert");
  expect(alert).toMatchObject({ workspace_id: "admins" });
  expect(alert.message).toContain(`the handler ${PATH} failed`);
  expect(await handlers()).toHaveLength(before + 1);
});
