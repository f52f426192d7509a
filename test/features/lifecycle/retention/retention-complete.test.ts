/** Every table whose rows age is pruned, or listed with the reason why not. */
import { expect, test } from "bun:test";
import { getTableColumns, getTableName } from "drizzle-orm";
import { listJobColumns } from "../../../../src/features/lifecycle/retention/job-tables.ts";
import { features } from "../../../../src/server/features.ts";
import { allTables } from "../../../support/tables.ts";

/** Names of columns with the age or expiry of a row. */
const TELLING = /^(created_at|timestamp|expires_at|expiration)$/;

/** Tables of the platform and the audit log, which the pruner handles itself. */
const PRUNED = ["audit_log", "jobs", "job_cache", "idempotency_keys"];

const UNTIL_DELETED = "stays until somebody deletes it";
const KEPT: Record<string, string> = {
  handler_calls: "deleted when the handler was started, or given up",
  resumable_operations: "deleted when the operation is done",
  inputs: UNTIL_DELETED,
  critical_alerts: "the caretaker deletes old ones",
  webhook_endpoints: UNTIL_DELETED,
  oidc_keys: "deleted some time after another has replaced it",
  app_versions: UNTIL_DELETED,
  user_drafts: UNTIL_DELETED,
  scripts: UNTIL_DELETED,
  flow_resumes: "deleted with its job",
  flow_versions: UNTIL_DELETED,
  workspace_dependencies: UNTIL_DELETED,
  oauth_accounts: UNTIL_DELETED,
  oauth_used_states: "deleted at the next login or consent",
  users: UNTIL_DELETED,
  tokens: "the token notifier deletes expired ones",
  token_notices: "deleted when the notice was sent",
  workspace_invites: UNTIL_DELETED,
  workspace_members: UNTIL_DELETED,
  workspaces: UNTIL_DELETED,
};

test("every table with timestamps has a retention, or is exempted with a reason", async () => {
  const deleted = new Set([
    ...PRUNED,
    ...features.flatMap(({ retention }) => retention?.tables.map(getTableName) ?? []),
  ]);
  const names = (await allTables())
    .filter((table) => Object.keys(getTableColumns(table)).some((name) => TELLING.test(name)))
    .map(getTableName);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !deleted.has(name) && !(name in KEPT))).toEqual([]);
  expect(Object.keys(KEPT).filter((name) => !names.includes(name) || deleted.has(name))).toEqual([]);
});

test("every table with the id of a job is deleted with the job, or is exempted with a reason", async () => {
  const kept: Record<string, string> = {
    handler_calls: "deleted when the handler was started, or given up",
    idempotency_keys: "deleted after a day",
    job_search_progress: "its column is always empty",
  };
  const deleted = listJobColumns(features).map(({ table }) => getTableName(table));
  const names = (await allTables()).filter((table) => "job_id" in getTableColumns(table)).map(getTableName);
  expect(names.filter((name) => !(name in kept)).sort()).toEqual(
    deleted.filter((name) => name !== "jobs").sort(),
  );
});
