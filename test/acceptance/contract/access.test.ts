/**
 * Access to every operation: anonymous callers, outsiders, operators, members, workspace admins, devops and
 * super admins are refused exactly where the contract's table and the declaration say so. The access check is
 * the real one, with real tokens; the operation behind it is replaced, so that nothing is deleted.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { eq } from "drizzle-orm";
import { recordAudit } from "../../../src/features/signals/audit/service.ts";
import { resolveMember } from "../../../src/features/tenancy/people/members.ts";
import { users } from "../../../src/features/tenancy/people/user-tables.ts";
import { requireScope } from "../../../src/features/tenancy/tokens/scopes.ts";
import { resolveToken } from "../../../src/features/tenancy/tokens/service.ts";
import type { Access, Operation } from "../../../src/platform/http/operation.ts";
import { responds } from "../../../src/platform/http/operation.ts";
import { mountOperations } from "../../../src/platform/http/server.ts";
import { operations } from "../../../src/server/features.ts";
import { startTestServer, type TestServer } from "../../support/harness.ts";
import {
  type ContractOperation,
  contractFile,
  keptOperations,
  readOperations,
  toLine,
} from "./contract-operations.ts";

/** Section 4.10 names its operations by segments: `run` by POST, the others by GET as well. */
const WEBHOOKS: ContractOperation[] = [
  ...["p/{path}", "h/{hash}", "fv/{version}"].flatMap((target) => [
    { method: "POST", path: `/w/{workspace}/jobs/run/${target}`, marks: [] },
    { method: "POST", path: `/w/{workspace}/jobs/run_wait_result/${target}`, marks: [] },
    { method: "POST", path: `/w/{workspace}/jobs/run_and_stream/${target}`, marks: [] },
    { method: "GET", path: `/w/{workspace}/jobs/run_and_stream/${target}`, marks: [] },
  ]),
  { method: "GET", path: "/w/{workspace}/jobs/run_wait_result/p/{path}", marks: [] },
  { method: "GET", path: "/w/{workspace}/jobs/run_wait_result/h/{hash}", marks: [] },
  { method: "GET", path: "/w/{workspace}/job_u/getupdate_sse/{id}", marks: [] },
];

/** Operations of the contract that are not implemented yet. The list may only shrink. */
const NOT_THERE_YET = `
`
  .trim()
  .split("\n");

/** Intended differences between declarations and the table, with the reasons. */
const DIFFERS: Record<string, { access: Access; why: string }> = {
  "GET /version": { access: "anyone", why: "clients ask before they log in whether they fit" },
  "GET /openapi.yaml": { access: "anyone", why: "it describes the program, not what is in it" },
  "GET /w/{}/job_u/getupdate_sse/{}": { access: "anyone", why: "jobs that nobody started are open to all" },
};

/** Access levels that are stricter where the table gives no mark. */
const STRICTER: Partial<Record<Access, string>> = {
  superAdmin: `
POST /users/create
POST /settings/global/{}
POST /settings/test_smtp
POST /settings/test_critical_channels
POST /settings/critical_alerts/{}/acknowledge
POST /settings/critical_alerts/acknowledge_all
POST /settings/test_license_key
POST /settings/test_object_storage_config
POST /settings/send_stats
GET /settings/latest_key_renewal_attempt
POST /settings/renew_license_key
POST /settings/customer_portal
POST /saml/test_metadata
POST /oauth/connect_chat_callback
`,
  devops: `
GET /settings/local
GET /settings/list_global
GET /settings/critical_alerts
`,
  admin: `
POST /w/{}/workspaces/invite_user
POST /w/{}/workspaces/add_user
POST /w/{}/workspaces/delete_invite
GET /w/{}/workspaces/list_pending_invites
POST /w/{}/workspaces/archive
POST /w/{}/workspaces/change_workspace_name
POST /w/{}/workspaces/change_workspace_id
POST /w/{}/workspaces/edit_deploy_to
POST /w/{}/workspaces/set_automatic_billing
POST /w/{}/workspaces/edit_chat_command
POST /w/{}/workspaces/run_chat_message_test_job
POST /w/{}/workspaces/edit_auto_invite
POST /w/{}/workspaces/edit_webhook
POST /w/{}/workspaces/edit_copilot_config
POST /w/{}/workspaces/edit_error_handler
POST /w/{}/workspaces/edit_large_file_storage_config
POST /w/{}/workspaces/edit_git_sync_config
POST /w/{}/workspaces/edit_deploy_ui_config
POST /w/{}/workspaces/edit_default_app
POST /w/{}/workspaces/default_scripts
POST /w/{}/workspaces/set_environment_variable
GET /w/{}/workspaces/encryption_key
POST /w/{}/workspaces/encryption_key
POST /w/{}/oauth/connect_chat_callback
`,
  author: `
POST /w/{}/variables/create
POST /w/{}/variables/encrypt
POST /w/{}/variables/update/{}
DELETE /w/{}/variables/delete/{}
POST /w/{}/oauth/create_account
POST /w/{}/oauth/disconnect/{}
`,
};

const stricter = new Map(
  Object.entries(STRICTER).flatMap(([access, lines]) =>
    lines
      .trim()
      .split("\n")
      .map((route) => [route, access as Access] as const),
  ),
);

/** Returns the access level of a row of the table. */
function accessOf(row: ContractOperation): Access {
  const route = routeOf(row);
  if (DIFFERS[route]) return DIFFERS[route].access;
  if (row.marks.includes("no auth")) return "anyone";
  if (row.marks.includes("admin")) return "admin";
  if (row.marks.includes("SA")) return "superAdmin";
  return stricter.get(route) ?? (row.path.startsWith("/w/") ? "member" : "user");
}

const routeOf = ({ method, path }: Pick<ContractOperation, "method" | "path">) =>
  `${method} ${path.replace(/\{\w+\}/g, "{}")}`;

const declared = new Map(operations.map((op) => [routeOf(op), op]));
const contract = [...keptOperations(), ...WEBHOOKS];
const implemented = contract.flatMap((row) => {
  const op = declared.get(routeOf(row));
  return op ? [{ row, op }] : [];
});
const titled = implemented.map(({ row, op }) => [toLine(row), row, op] as const);

const ROLES = ["nobody", "stranger", "operator", "member", "admin", "devops", "super admin"] as const;
type Role = (typeof ROLES)[number];

/** The statuses for each role, in order; 0 means access. */
const REFUSALS: Record<Access, [number, number, number, number, number, number, number]> = {
  anyone: [0, 0, 0, 0, 0, 0, 0],
  user: [401, 0, 0, 0, 0, 0, 0],
  member: [401, 401, 0, 0, 0, 401, 0],
  author: [401, 401, 403, 0, 0, 401, 0],
  admin: [401, 401, 403, 403, 0, 401, 0],
  devops: [401, 403, 403, 403, 403, 0, 0],
  superAdmin: [401, 403, 403, 403, 403, 403, 0],
};

let server: TestServer;
let guard: { fetch: (request: Request) => Response | Promise<Response> };
const tokens: Partial<Record<Role, string>> = {};

beforeAll(async () => {
  server = await startTestServer();
  tokens.admin = (await server.workspace()).token;
  tokens.stranger = (await server.user("stranger")).token;
  tokens.operator = (await server.member("acme", "op", "operator")).token;
  tokens.member = (await server.member("acme", "dev")).token;
  tokens.devops = await devopsToken();
  tokens["super admin"] = (await server.user("root", { super_admin: true })).token;
  const bare = implemented.map(
    ({ op }): Operation => ({
      ...op,
      query: undefined,
      body: undefined,
      responds: responds.text("let in"),
      run: () => "let in",
    }),
  );
  const hooks = { resolveToken, resolveMember, checkScopes: requireScope, recordAudit };
  guard = mountOperations(server.server.app, hooks, bare);
});
afterAll(() => server.stop());

async function devopsToken(): Promise<string> {
  const { email, token } = await server.user("watcher");
  await server.server.app.db.write((tx) =>
    tx.update(users).set({ devops: true }).where(eq(users.email, email)),
  );
  return token;
}

/** With placeholders instead of real path parameters. */
const urlOf = ({ path }: Operation) =>
  path
    .replace("{workspace}", "acme")
    .replace("{path}", "u/dev/none")
    .replace(/\{\w+\}/g, "none");

describe("the tables of the contract", () => {
  test("are unchanged", () => {
    const file = contractFile();
    if (!file) return;
    const kept = keptOperations().map(toLine);
    expect(kept).toEqual(readOperations(readFileSync(file, "utf8")).map(toLine));
    expect(kept.length).toBeGreaterThan(120);
  });

  test("differ from declarations only where this file says so, and only for existing rows", () => {
    const rows = new Set(contract.map(routeOf));
    const said = [...Object.keys(DIFFERS), ...stricter.keys()];
    expect(said.filter((route) => !rows.has(route))).toEqual([]);
    expect(new Set(said).size).toBe(said.length);
    const marked = contract.filter(({ marks }) => marks.some((mark) => mark !== "EE"));
    expect(marked.filter((row) => stricter.has(routeOf(row)))).toEqual([]);
  });

  test("are declared, except for a list that may only get shorter", () => {
    const missing = contract.filter((row) => !declared.has(routeOf(row)));
    if (missing.length > 0) console.log(`not declared yet:\n${missing.map(toLine).join("\n")}`);
    const known = new Set(NOT_THERE_YET.map((line) => line.replace(/\{\w+\}/g, "{}")));
    expect(missing.map(routeOf).filter((route) => !known.has(route))).toEqual([]);
  });

  test.each(titled)("%s: the declared access equals the table's", (_, row, op) => {
    expect(op.access).toBe(accessOf(row));
  });
});

test.each(titled)("%s: rejects exactly the callers it must", async (_, __, op) => {
  const got: Record<string, number> = {};
  const expected: Record<string, number> = {};
  for (const [at, role] of ROLES.entries()) {
    const token = tokens[role];
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    const answer = await guard.fetch(
      new Request(`http://localhost/api${urlOf(op)}`, { method: op.method, headers }),
    );
    got[role] = (await answer.text()) === "let in" ? 0 : answer.status;
    expected[role] = REFUSALS[op.access][at]!;
  }
  expect(got).toEqual(expected);
});

test.each(titled)("%s: the server rejects them too, whatever they send", async (_, __, op) => {
  for (const [at, role] of ROLES.entries()) {
    const refusal = REFUSALS[op.access][at]!;
    if (refusal === 0) continue;
    for (const body of op.method === "GET" ? [undefined] : ["{}", "{not JSON"]) {
      const answer = await server.as(tokens[role])(op.method, `${urlOf(op)}?page=-7&per_page=x`, body);
      expect([role, answer.status]).toEqual([role, refusal]);
    }
  }
});
