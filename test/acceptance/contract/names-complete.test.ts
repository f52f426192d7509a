/** A column that holds a person's name, or a path below it, follows when the name changes: none is forgotten. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { getTableColumns, getTableName, is, Table } from "drizzle-orm";
import { FOLLOWING } from "../../../src/features/accounts/renaming/references.ts";
import { KINDS } from "../../../src/features/tenancy/rights/item-kinds.ts";

const root = join(import.meta.dir, "../../..");

/** How columns are called that hold names, paths, or texts in which either is mentioned. */
const TELLING =
  /(^|_)(path|by|owner|owners|username|permissioned_as|args|value|policy|settings|signature|messages|scopes)$|^(url|runnable_id)$/;

/** What follows in another way, or stays on purpose. */
const ELSEWHERE: Record<string, string> = {
  "jobs.created_by": "rename.ts moveRuns: of what has not ended; the rest is history",
  "jobs.permissioned_as": "rename.ts moveRuns",
  "jobs.script_path": "rename.ts moveRuns",
  "jobs.schedule_path": "rename.ts moveRuns",
  "jobs.args": "rename.ts moveRuns",
  "jobs.visible_to_owner": "a flag",
  "jobs.started_by": "an e-mail",
  "jobs.canceled_by": "history",
  "tokens.scopes": "rename.ts moveScopes",
  "workspace_members.username": "rename.ts: the name itself",
  "former_usernames.username": "keeps names that were",
  "audit_log.username": "history",
  "folders.owners": "acls/names.ts renameName",
  "oauth_accounts.owner": "an e-mail",
  "http_triggers.route_path": "part of a URL",
  "script_imports.imported_path": "what the code says, which is not changed",
  "apps.custom_path": "part of a URL",
  "webhook_endpoints.url": "an address elsewhere",
  "raw_apps.value": "code, as that of scripts",
  "variables.value": "sealed text of anybody's choosing",
  "workspace_environment.value": "text of anybody's choosing",
};

/** Whose entries acls/names.ts looks after beside those of the kinds. */
const WITH_ENTRIES = ["folders", "workspace_groups"];

async function tablesOfWorkspaces(): Promise<Table[]> {
  const found = new Set<Table>();
  for await (const file of new Bun.Glob("src/**/tables.ts").scan({ cwd: root })) {
    for (const table of Object.values(await import(join(root, file)))) {
      if (is(table, Table) && "workspace_id" in getTableColumns(table)) found.add(table);
    }
  }
  return [...found];
}

const nameOf = (table: Table, column: { name: string }) => `${getTableName(table)}.${column.name}`;

test("every column that tells of a person is one that follows a new name, or says why it does not", async () => {
  const tables = await tablesOfWorkspaces();
  expect(tables.length).toBeGreaterThan(25);
  const following = new Set(FOLLOWING.map((column) => nameOf(column.table, column)));
  const telling = tables.flatMap((table) =>
    Object.values(getTableColumns(table))
      .filter(({ name }) => TELLING.test(name))
      .map((column) => nameOf(table, column)),
  );
  expect(telling.filter((name) => !following.has(name) && !(name in ELSEWHERE))).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((name) => !telling.includes(name) || following.has(name))).toEqual([]);
});

test("every table with entries of rights is one whose entries follow", async () => {
  const known = new Set([...Object.values(KINDS).map(({ table }) => getTableName(table)), ...WITH_ENTRIES]);
  const tables = (await tablesOfWorkspaces()).filter((table) => "extra_perms" in getTableColumns(table));
  expect(tables.length).toBeGreaterThan(8);
  expect(tables.map((table) => getTableName(table)).filter((name) => !known.has(name))).toEqual([]);
});
