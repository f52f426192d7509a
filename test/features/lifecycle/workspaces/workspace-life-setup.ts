/** A workspace with rows in all tables, and what remains of it. */
import { afterAll, beforeAll } from "bun:test";
import { eq, getTableColumns, getTableName } from "drizzle-orm";
import { oauthAccounts } from "../../../../src/features/assets/account-tables.ts";
import { raiseAlert } from "../../../../src/features/signals/alerts/service.ts";
import { tokenNotices } from "../../../../src/features/tenancy/tokens/tables.ts";
import { flushUsage } from "../../../../src/features/tenancy/workspaces/usage.ts";
import { handlerCalls } from "../../../../src/features/triggers/handlers/tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { tablesOfWorkspaces } from "../../../support/tables.ts";

export let server: TestServer;
export let root: Ask;

export const HELLO = "export const main = () => 'hello'";
const SLEEP = "export const main = async () => { await Bun.sleep(60_000) }";

/** Counts the rows of a workspace by table, without empty tables. */
export async function rowsOf(id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tablesOfWorkspaces()) {
    const rows = await server.server.app.db.read
      .select()
      .from(table as never)
      .where(eq(getTableColumns(table).workspace_id!, id));
    if (rows.length > 0) counts[getTableName(table)] = rows.length;
  }
  return counts;
}

/** A workspace with a row in every table that the interface can fill. */
export async function createFilledWorkspace(id: string): Promise<{ ask: Ask; bound: string }> {
  const { ask } = await server.workspace(id);
  const dev = await server.member(id, `dev_${id}`);
  const w = `/w/${id}`;
  await deploy(ask, id, "u/admin/hello", HELLO);
  await deploy(ask, id, "u/admin/sleep", SLEEP);
  await deploy(
    ask,
    id,
    "u/admin/imports",
    'import { main as hello } from "./hello";\nexport const main = hello;',
  );
  const module = { id: "a", value: { type: "script", path: "u/admin/sleep", input_transforms: {} } };
  const flow = { path: "u/admin/flow", summary: "", value: { modules: [module] } };
  await expectOk(ask("POST", `${w}/flows/create`, flow));
  const secret = { path: "u/admin/key", value: `secret of ${id}`, is_secret: true, description: "" };
  await expectOk(ask("POST", `${w}/variables/create`, secret));
  await expectOk(ask("POST", `${w}/resources/create`, { path: "u/admin/r", value: 1, resource_type: "x" }));
  await expectOk(ask("POST", `${w}/resources/type/create`, { name: "x" }));
  const packages = { workspace_id: id, language: "python3", content: "pandas" };
  await expectOk(ask("POST", `${w}/workspace_dependencies/create`, packages));
  await expectOk(ask("POST", `${w}/drafts/create`, { path: "u/admin/d", typ: "script", value: 1 }));
  await expectOk(ask("POST", `${w}/workspaces/edit_webhook`, { webhook: "https://example.org" }));
  await expectOk(ask("POST", `${w}/workspaces/set_environment_variable`, { name: "REGION", value: "eu" }));
  const invite = { email: `guest@${id}.org`, is_admin: false, operator: false };
  await expectOk(ask("POST", `${w}/workspaces/invite_user`, invite));
  const large_file_storage = { type: "FilesystemStorage" };
  await expectOk(ask("POST", `${w}/workspaces/edit_large_file_storage_config`, { large_file_storage }));
  await expectOk(ask("POST", `${w}/job_helpers/upload_s3_file?file_key=a.txt`, "file"));
  const bound = (await expectOk(dev.ask("POST", "/users/tokens/create", { workspace_id: id }))).text;
  await expectOk(ask("POST", `${w}/folders/create`, { name: "ops" }));
  await expectOk(ask("POST", `${w}/groups/create`, { name: "team" }));
  await expectOk(ask("POST", `${w}/groups/adduser/team`, { username: `dev_${id}` }));
  const app = { path: "f/ops/app", summary: "", value: { of: id }, policy: {}, custom_path: `of-${id}` };
  await expectOk(ask("POST", `${w}/apps/create`, app));
  await expectOk(ask("POST", `${w}/raw_apps/create`, { path: "f/ops/raw", summary: "", value: "1" }));
  const hourly = {
    schedule: "0 0 * * * *",
    timezone: "Etc/UTC",
    script_path: "u/admin/hello",
    is_flow: false,
  };
  await expectOk(ask("POST", `${w}/schedules/create`, { path: "u/admin/hourly", enabled: true, ...hourly }));
  await expectOk(ask("POST", `${w}/webhooks/create`, { url: "https://example.org/told", description: "" }));
  const captured = { trigger_kind: "webhook", path: "u/admin/sleep", is_flow: false };
  await expectOk(ask("POST", `${w}/capture/set_config`, captured));
  await expectOk(ask("POST", `${w}/capture_u/webhook/script/u/admin/sleep`, { n: 1 }));
  await expectOk(ask("POST", `${w}/favorites/star`, { path: "f/ops/app", favorite_kind: "app" }));
  const kept = `${w}/inputs/create?runnable_id=u/admin/hello&runnable_type=ScriptPath`;
  await expectOk(ask("POST", kept, { name: "kept", args: {} }));
  // A pending event, and an account at a provider.
  await expectOk(ask("POST", `${w}/variables/update/u/admin/key`, { description: "told" }));
  const { db } = server.server.app;
  const account = { client: "x", owner: "x@example.org", refresh_token: null, lifetime_s: 60 };
  const now = new Date();
  await db.write((tx) =>
    tx.insert(oauthAccounts).values({ ...account, workspace_id: id, expires_at: now, created_at: now }),
  );
  const trigger = { path: "u/admin/trigger", script_path: "u/admin/hello", is_flow: false };
  const route = { ...trigger, route_path: `in/${id}`, http_method: "post", enabled: false };
  await expectOk(ask("POST", `${w}/http_triggers/create`, route));
  const socket = { ...trigger, url: "wss://example.org/", enabled: false };
  await expectOk(ask("POST", `${w}/websocket_triggers/create`, socket));
  await expectOk(ask("POST", `${w}/email_triggers/create`, trigger));
  await expectOk(ask("POST", `${w}/workspaces/edit_copilot_config`, { code_completion_enabled: true }));
  const later = new Date(now.getTime() + 3_600_000);
  const waiting = { workspace_id: id, created_at: now, attempts: 0, next_at: later };
  const notice = {
    channel: "mail",
    type: "TokenExpired",
    email: "x@example.org",
    token_prefix: "x",
  } as const;
  await db.write(async (tx) => {
    await tx.insert(tokenNotices).values({ ...waiting, ...notice, expiration: now });
    await tx.insert(handlerCalls).values({ ...waiting, job_id: `of ${id}`, occasion: "failure" });
  });
  const left = await server.member(id, `left_${id}`);
  await expectOk(left.ask("POST", `${w}/workspaces/leave`));
  await raiseAlert(server.server.app, { kind: "test", message: `something in ${id}`, workspace_id: id });
  const once = { "idempotency-key": "once" };
  await expectOk(ask("POST", `${w}/jobs/run_wait_result/p/u/admin/hello?cache_ttl=60`, {}, once));
  await flushUsage(server.server.app);
  return { ask, bound };
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpWorkspaceLife(): void {
  beforeAll(async () => {
    server = await startTestServer();
    root = (await server.user("root", { super_admin: true })).ask;
    await expectOk(root("POST", "/settings/global/root_route_workspaces", { value: ["*"] }));
  }, 30_000);
  afterAll(() => server.stop());
}
