/** Every column that holds a username or a path is declared by its feature, so that it follows when a user is renamed. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { getTableColumns, getTableName, type Table } from "drizzle-orm";
import { features } from "../../../src/server/features.ts";
import { isJson, tablesOfWorkspaces } from "../../support/tables.ts";

const root = join(import.meta.dir, "../../..");

/** Names of columns that hold usernames, paths, or texts that mention them. */
const NAMED =
  /(^|_)(path|by|owner|owners|username|permissioned_as|args|value|policy|settings|signature|messages|scopes)$|^(url|runnable_id)$/;

/** Columns that are renamed by other code, or stay unchanged on purpose. */
const NOT_DECLARED: Record<string, string> = {
  "jobs.created_by": "runs/api/change/user-renamed.ts: of what has not ended; the rest is history",
  "jobs.permissioned_as": "runs/api/change/user-renamed.ts",
  "jobs.script_path": "runs/api/change/user-renamed.ts",
  "jobs.schedule_path": "runs/api/change/user-renamed.ts",
  "jobs.args": "runs/api/change/user-renamed.ts",
  "jobs.visible_to_owner": "a flag",
  "jobs.started_by": "an e-mail",
  "jobs.canceled_by": "history",
  "jobs.labels": "words of the job's own",
  "tokens.scopes": "accounts/renaming/rename.ts moveScopes",
  "workspace_members.username": "accounts/renaming/rename.ts: the name itself",
  "former_usernames.username": "keeps names that were",
  "audit_log.username": "history",
  "audit_log.parameters": "history",
  "audit_log.repeats": "history",
  "critical_alerts.told": "names of channels",
  "critical_alerts.send_failures": "messages of channels",
  "folders.owners": "tenancy/rights/grants.ts renameGrantee",
  "folders.extra": "given back as it was",
  "oauth_accounts.owner": "an e-mail",
  "http_triggers.route_path": "part of a URL",
  "http_triggers.static_asset_config": "keys of files",
  "http_triggers.retry": "times",
  "http_triggers.extra": "given back as it was",
  "websocket_triggers.filters": "data that messages are compared with",
  "websocket_triggers.extra": "given back as it was",
  "schedules.retry": "times",
  "websocket_triggers.retry": "times",
  "schedules.extra": "given back as it was",
  "script_imports.imported_path": "what the code says, which is not changed",
  "scripts.parent_hashes": "hashes",
  "scripts.schema": "about the code's parameters, which is not changed",
  "scripts.parameters": "read from the code, which is not changed",
  "scripts.preprocessor_parameters": "read from the code, which is not changed",
  "scripts.imports": "what the code says, which is not changed",
  "scripts.envs": "words for clients",
  "scripts.extra": "given back as it was",
  "flows.extra": "given back as it was",
  "resource_types.extra": "given back as it was",
  "flow_versions.schema": "about the flow's parameters",
  "flow_versions.imports": "what the code says, which is not changed",
  "resource_types.schema": "of all resources of the type",
  "apps.custom_path": "part of a URL",
  "app_versions.bundle": "code that a client built",
  "webhook_endpoints.url": "an address elsewhere",
  "webhook_endpoints.types": "types of events",
  "webhook_events.told": "ids of endpoints",
  "raw_apps.value": "code, as that of scripts",
  "variables.extra": "given back as it was",
  "variables.value": "sealed text of anybody's choosing",
  "captures.main_args": "what others sent",
  "captures.preprocessor_args": "what others sent",
  "workspace_environment.value": "text of anybody's choosing",
};

/** Handling of rows that name a user by e-mail when the user leaves the workspace. */
const WHEN_A_MEMBER_LEAVES: Record<string, string> = {
  workspace_members: "accounts/members/removal.ts deletes it",
  group_members: "accounts/members/removal.ts deletes it",
  tokens: "accounts/members/removal.ts deletes those that are bound to the workspace",
  favorites: "deleted: memberLeft of code/favorites",
  inputs: "deleted but for those that are public: memberLeft of runs/api",
  jobs: "canceled unless they have ended: accessRevoked of runs/api",
  schedules: "stay for the admins; runs in the name of who left are refused",
  http_triggers: "stay for the admins; runs in the name of who left are refused",
  websocket_triggers: "stay for the admins; runs in the name of who left are refused",
  stored_triggers: "stay for the admins; they run nothing",
  scripts: "stay for the admins; runs in the name of who left are refused",
  flows: "stay for the admins; runs in the name of who left are refused",
  former_usernames: "keeps the name that was theirs",
  workspace_invites: "used up when they joined",
  token_notices: "sent, then deleted",
  idempotency_keys: "expires",
  workspace_usage: "counts",
  audit_log: "history",
};

/** Tables with grants that are not items; tenancy/rights/grants.ts maintains them. */
const WITH_GRANTS = ["folders", "workspace_groups"];

type Column = { name: string; table: Table };
const nameOf = ({ table, name }: Column) => `${getTableName(table)}.${name}`;

const itemKinds = features.flatMap(({ itemKinds = [] }) => itemKinds);

function declaredColumns(): Column[] {
  return [
    // Several kinds may have one table.
    ...new Set(itemKinds.map(({ table }) => table.path)),
    ...features.flatMap(({ pathColumns = [] }) => pathColumns.map(({ column }) => column)),
    ...features.flatMap(({ usernameColumns = [] }) => usernameColumns),
    ...features.flatMap(({ mentioningJson = [] }) => mentioningJson.map(({ column }) => column)),
  ];
}

test("every column that may hold a username or a path is declared, or exempted with a reason", async () => {
  const tables = await tablesOfWorkspaces();
  expect(tables.length).toBeGreaterThan(30);
  const declared = declaredColumns().map(nameOf);
  expect(new Set(declared).size).toBe(declared.length);
  const concerned = tables.flatMap((table) =>
    Object.values(getTableColumns(table))
      .filter((column) => column.name !== "extra_perms" && (NAMED.test(column.name) || isJson(column)))
      .map(nameOf),
  );
  expect(concerned.filter((name) => !declared.includes(name) && !(name in NOT_DECLARED))).toEqual([]);
  const outdated = (name: string) => !concerned.includes(name) || declared.includes(name);
  expect(Object.keys(NOT_DECLARED).filter(outdated)).toEqual([]);
});

test("declared columns belong to a workspace, and JSON is identified by a column of its own table", () => {
  const foreign = declaredColumns().filter(({ table }) => !("workspace_id" in getTableColumns(table)));
  expect(foreign.map(nameOf)).toEqual([]);
  for (const { column, key } of features.flatMap(({ mentioningJson = [] }) => mentioningJson)) {
    expect(getTableName(key.table)).toBe(getTableName(column.table));
  }
});

test("every table with grants belongs to a declared item kind", async () => {
  const known = new Set([...itemKinds.map(({ table }) => getTableName(table)), ...WITH_GRANTS]);
  const tables = (await tablesOfWorkspaces()).filter((table) => "extra_perms" in getTableColumns(table));
  expect(tables.length).toBeGreaterThan(8);
  expect(tables.map((table) => getTableName(table)).filter((name) => !known.has(name))).toEqual([]);
  const kinds = itemKinds.map(({ kind }) => kind);
  expect(new Set(kinds).size).toBe(kinds.length);
});

test("every table with e-mail addresses declares what happens to its rows when a member leaves", async () => {
  const tables = (await tablesOfWorkspaces()).filter((table) =>
    Object.keys(getTableColumns(table)).some((name) => /(^|_)email$/.test(name)),
  );
  const names = tables.map((table) => getTableName(table)).sort();
  expect(names).toEqual(Object.keys(WHEN_A_MEMBER_LEAVES).sort());
});

test("rights, renaming and removal of members know features only by their declarations", async () => {
  const sweeps = [
    "tenancy/rights",
    "accounts/acls",
    "accounts/folders",
    "accounts/groups",
    "accounts/members",
    "accounts/renaming",
  ];
  const found: string[] = [];
  for (const folder of sweeps) {
    for await (const file of new Bun.Glob(`src/features/${folder}/**/*.ts`).scan({ cwd: root })) {
      const text = await Bun.file(join(root, file)).text();
      const imports = text.matchAll(
        /"(?:\.\.\/)+((?:assets|code|runs|triggers|lifecycle|instance)\/[^"]+)"/g,
      );
      for (const [, path] of imports) found.push(`${file} -> ${path}`);
    }
  }
  expect(found).toEqual([]);
});
