/**
 * A change and its audit row are one transaction: if the row cannot be written, nothing is changed, and nobody
 * can change or delete a row before its time. The database itself rejects the one or the other.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { createPruner } from "../../../../src/features/lifecycle/retention/pruner.ts";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { license } from "../../../support/peers/license.ts";

let server: TestServer;
let root: Ask;
let admin: Ask;
let ann: Ask;

beforeEach(async () => {
  server = await startTestServer();
  await license(server);
  root = (await server.user("root", { super_admin: true })).ask;
  admin = (await server.workspace()).ask;
  ann = (await server.member("acme", "ann")).ask;
  await server.member("acme", "bob");
  await server.user("guest");
});
afterEach(() => server.stop());

/** Makes the database reject an event on audit rows. */
async function refuse(event: string): Promise<void> {
  const { db } = server.server.app;
  const lines =
    db.dialect === "sqlite"
      ? [`CREATE TRIGGER guarded BEFORE ${event} ON audit_log BEGIN SELECT RAISE(ABORT, 'guarded'); END`]
      : [
          "CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'guarded'; END $$",
          `CREATE TRIGGER guarded BEFORE ${event} ON audit_log FOR EACH ROW EXECUTE FUNCTION guard()`,
        ];
  for (const line of lines) await db.write((tx) => tx.rows(sql.raw(line)));
}

async function allow(): Promise<void> {
  const { db } = server.server.app;
  const lines =
    db.dialect === "sqlite"
      ? ["DROP TRIGGER guarded"]
      : ["DROP TRIGGER guarded ON audit_log", "DROP FUNCTION guard"];
  for (const line of lines) await db.write((tx) => tx.rows(sql.raw(line)));
}

/** Reads all rows of the database, except those that change by themselves, such as a token's last use. */
async function everything(): Promise<Record<string, string>> {
  const { db } = server.server.app;
  const names =
    db.dialect === "sqlite"
      ? sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
      : sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()`;
  const found: Record<string, string> = {};
  for (const { name } of await db.read.rows<{ name: string }>(names)) {
    // Excludes what the server itself writes beside the call.
    if (name === "handler_calls" || name === "workers" || name === "leaders" || name.startsWith("job_search"))
      continue;
    const rows = await db.read.rows<Record<string, unknown>>(sql`SELECT * FROM ${sql.identifier(name)}`);
    const texts = rows.map((row) => JSON.stringify({ ...row, last_used_at: undefined }));
    found[name] = texts.sort().join("\n");
  }
  return found;
}

type Call = [who: () => Ask, method: string, path: string, body?: unknown];

const secret = { path: "u/ann/key", value: "sesame", is_secret: true, description: "" };
const w = "/w/acme";

/** Creates the items that operations are called on. */
async function furnish(): Promise<void> {
  await deploy(ann, "acme", "u/ann/hello", "export const main = () => 'hello'");
  for (const [who, method, path, body] of [
    [ann, "POST", `${w}/variables/create`, secret],
    [ann, "POST", `${w}/folders/create`, { name: "ops" }],
    [ann, "POST", `${w}/groups/create`, { name: "team" }],
    [ann, "POST", `${w}/favorites/star`, { path: "u/ann/hello", favorite_kind: "script" }],
    [ann, "POST", `${w}/drafts/create`, { path: "u/ann/d", typ: "script", value: 1 }],
    [admin, "POST", `${w}/workspaces/invite_user`, { email: "guest@example.org", ...plain }],
    [root, "POST", "/groups/create", { name: "all-hands", summary: "" }],
  ] as const) {
    await expectOk(who(method, path, body));
  }
}

const plain = { is_admin: false, operator: false };
const schedule = { schedule: "0 0 0 * * *", timezone: "Etc/UTC", script_path: "u/ann/hello", is_flow: false };
const inputs = `${w}/inputs/create?runnable_id=u/ann/hello&runnable_type=ScriptPath`;

/** Each changes something, and they can be called one after the other. */
const CALLS: Call[] = [
  [() => server.as(undefined), "POST", "/auth/login", { email: "ann@example.org", password: "ann-password" }],
  [() => ann, "POST", "/users/tokens/create", { label: "ci" }],
  [() => root, "POST", "/users/tokens/impersonate", { impersonate_email: "bob@example.org" }],
  [
    () => root,
    "POST",
    "/users/create",
    { email: "new@example.org", password: "x-password", super_admin: false },
  ],
  [() => root, "POST", "/users/update/bob@example.org", { name: "Bob" }],
  [() => root, "POST", "/users/set_password_of/bob@example.org", { password: "other-password" }],
  [() => root, "POST", "/users/set_login_type/bob@example.org", { login_type: "github" }],
  [() => ann, "POST", "/users/tutorial_progress", { progress: 3 }],
  [() => admin, "POST", `${w}/users/update/bob`, { operator: true }],
  [() => admin, "POST", `${w}/workspaces/add_user`, { email: "later@example.org", ...plain }],
  [() => admin, "POST", `${w}/workspaces/invite_user`, { email: "other@example.org", ...plain }],
  [() => admin, "POST", `${w}/workspaces/delete_invite`, { email: "other@example.org", ...plain }],
  [() => admin, "POST", `${w}/workspaces/change_workspace_name`, { new_name: "Other" }],
  [() => admin, "POST", `${w}/workspaces/edit_webhook`, { webhook: "https://example.org/" }],
  // Before there are events for it, which would be sent meanwhile.
  [() => admin, "POST", `${w}/workspaces/edit_webhook`, {}],
  [() => admin, "POST", `${w}/workspaces/edit_deploy_ui_config`, { deploy_ui_settings: {} }],
  [() => admin, "POST", `${w}/workspaces/edit_git_sync_config`, { git_sync_settings: { repositories: [] } }],
  [() => admin, "POST", `${w}/workspaces/set_environment_variable`, { name: "A", value: "1" }],
  [() => admin, "POST", `${w}/workspaces/encryption_key`, { new_key: "k".repeat(64) }],
  [() => admin, "GET", `${w}/workspaces/encryption_key`],
  [() => ann, "GET", `${w}/variables/get_value/u/ann/key`],
  [() => ann, "POST", `${w}/variables/update/u/ann/key`, { value: "other" }],
  [() => ann, "POST", `${w}/resources/create`, { path: "u/ann/r", value: 1, resource_type: "any" }],
  [() => ann, "POST", `${w}/schedules/create`, { path: "u/ann/daily", enabled: true, args: {}, ...schedule }],
  [() => ann, "POST", inputs, { name: "kept", args: {} }],
  [() => ann, "POST", `${w}/favorites/unstar`, { path: "u/ann/hello", favorite_kind: "script" }],
  [() => ann, "DELETE", `${w}/drafts/delete/script/u/ann/d`],
  [() => ann, "POST", `${w}/folders/update/ops`, { summary: "Operations" }],
  [() => ann, "POST", `${w}/folders/addowner/ops`, { owner: "u/bob" }],
  [() => ann, "POST", `${w}/groups/adduser/team`, { username: "bob" }],
  [() => ann, "POST", `${w}/acls/add/variable/u/ann/key`, { owner: "g/team", write: false }],
  [() => root, "POST", "/groups/adduser/all-hands", { email: "ann@example.org" }],
  [() => ann, "POST", `${w}/jobs/run/p/u/ann/hello?scheduled_in_secs=3600`, {}],
  [() => root, "POST", "/users/rename/ann@example.org", { new_username: "ann_lee" }],
  [
    () => server.as(undefined),
    "POST",
    "/auth/login",
    { email: "guest@example.org", password: "guest-password" },
  ],
  [() => root, "POST", "/workspaces/create", { id: "more", name: "More", username: "root" }],
  [() => admin, "POST", `${w}/workspaces/change_workspace_id`, { new_id: "acme-corp" }],
  [() => admin, "DELETE", "/w/acme-corp/users/delete/bob"],
  [() => admin, "POST", "/w/acme-corp/workspaces/archive"],
  [() => admin, "POST", "/workspaces/unarchive/acme-corp"],
  [() => root, "DELETE", "/users/delete/ann@example.org"],
  [() => root, "DELETE", "/workspaces/delete/acme-corp"],
];

/** A deletion in many transactions starts before its audit row, and can be repeated. */
const IN_STEPS = new Set(["/workspaces/delete/acme-corp"]);

describe("an audit row that cannot be written", () => {
  test("leaves everything unchanged, for every operation", async () => {
    await furnish();
    const done: string[] = [];
    for (const [who, method, path, body] of CALLS) {
      if (IN_STEPS.has(path)) continue;
      const before = await everything();
      await refuse("INSERT");
      const answer = await who()(method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, 500]);
      const after = await everything();
      for (const table of Object.keys(before)) {
        expect([path, table, after[table]]).toEqual([path, table, before[table]]);
      }
      await allow();
      await expectOk(who()(method, path, body));
      done.push(path);
    }
    expect(done).toHaveLength(CALLS.length - IN_STEPS.size);
  }, 60_000);
});

describe("a written audit row", () => {
  test("is changed and deleted by no operation; if its workspace is deleted or renamed, it says so", async () => {
    await furnish();
    const { app } = server.server;
    const columns = "id, timestamp, username, email, operation, action_kind, resource, parameters";
    await refuse(`UPDATE OF ${columns}`);
    const first = await app.db.read.select().from(auditLog).orderBy(auditLog.id);
    for (const [who, method, path, body] of CALLS) await expectOk(who()(method, path, body));
    await createPruner(app).prune();
    const rows = await app.db.read.select().from(auditLog).orderBy(auditLog.id);
    const told = ({ workspace_id: _, ...row }: typeof auditLog.$inferSelect) => row;
    expect(rows.slice(0, first.length).map(told)).toEqual(first.map(told));
    expect(new Set(rows.slice(0, first.length).map((row) => row.workspace_id))).toEqual(
      new Set(["global", "deleted/acme-corp"]),
    );
    // None is missing: ids have no gaps, except for those of transactions that PostgreSQL rolled back.
    if (!process.env.DATABASE_URL) {
      expect(rows.map(({ id }) => id)).toEqual(rows.map((_, at) => rows[0]!.id + at));
    }
    await expect(app.db.write((tx) => tx.update(auditLog).set({ username: "x" }))).rejects.toThrow();
  }, 60_000);
});
