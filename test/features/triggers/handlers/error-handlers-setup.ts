/** A workspace with an error handler, jobs that fail in it, and the arguments of the handler's calls. */
import { afterAll, beforeAll, beforeEach } from "bun:test";
import { handlerCalls } from "../../../../src/features/triggers/handlers/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
let root: Ask;

export const HANDLER = "script/u/admin/handler";
const flowOf = (path: string, ...scripts: string[]) => ({
  path,
  summary: "",
  value: {
    modules: scripts.map((script, index) => ({
      id: "abc"[index],
      value: { type: "script", path: script, input_transforms: {} },
    })),
  },
});

export const setHandler = (body: object) =>
  expectOk(ask("POST", "/w/acme/workspaces/edit_error_handler", body));
export const run = async (path: string, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}${query}`, {}))).text;
export const job = async (id: string) => (await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).json();
export const ended = (id: string) =>
  until(async () => {
    const found = await job(id);
    return found.type === "CompletedJob" ? found : undefined;
  }, `the end of ${id}`);
export const handlersFor = async (id: string): Promise<any[]> => {
  const found = (await expectOk(ask("GET", `/w/acme/jobs/list?parent_job=${id}`))).json();
  return found.filter(({ created_by }: any) => created_by === "error_handler");
};
/** Reads the only handler run of a job. */
export const handlerOf = async (id: string) => {
  const [found] = await until(async () => {
    const some = await handlersFor(id);
    return some.length > 0 ? some : undefined;
  }, `the handler of ${id}`);
  return ended(found.id);
};
export const listCalls = () => server.server.app.db.read.select().from(handlerCalls);
export const alerts = async (kind: string): Promise<any[]> =>
  (await expectOk(root("GET", "/settings/critical_alerts?page_size=100")))
    .json()
    .filter((each: any) => each.kind === kind);

/** Resolves when handlers were called for all jobs that had completed before. */
export async function awaitCalls(): Promise<void> {
  await handlerOf(await run("u/admin/boom"));
  await until(async () => ((await listCalls()).length === 0 ? true : undefined), "an empty outbox");
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpHandlers(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    root = (await server.user("root", { super_admin: true })).ask;
    await deploy(ask, "acme", "u/admin/ok", "export const main = () => ({ fine: true })");
    await deploy(ask, "acme", "u/admin/boom", "export const main = () => { throw new TypeError('no luck') }");
    await deploy(ask, "acme", "u/admin/marked", "export const main = () => ({ wm_failure: 'bad', left: 3 })");
    await deploy(
      ask,
      "acme",
      "u/admin/hangs",
      "export const main = () => new Promise(() => setInterval(() => {}, 1e3))",
    );
    await deploy(ask, "acme", "u/admin/handler", "export const main = () => process.env.WM_USERNAME");
    for (const flow of [
      flowOf("u/admin/bad_flow", "u/admin/ok", "u/admin/boom"),
      flowOf("u/admin/muted_flow", "u/admin/boom"),
      flowOf("u/admin/handler_flow", "u/admin/ok"),
      flowOf("u/admin/long_flow", "u/admin/hangs"),
    ]) {
      await expectOk(ask("POST", "/w/acme/flows/create", flow));
    }
  }, 60_000);
  afterAll(() => server.stop());
  beforeEach(() => setHandler({ error_handler: HANDLER }));
}
