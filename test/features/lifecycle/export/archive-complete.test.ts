/** Every table of a workspace is exported, or listed with a reason why not. */
import { expect, test } from "bun:test";
import { getTableName } from "drizzle-orm";
import { features } from "../../../../src/server/features.ts";
import { tablesOfWorkspaces } from "../../../support/tables.ts";

const NOT_EXPORTED: Record<string, string> = {
  handler_calls: "work under way",
  inputs: "kept by persons for themselves",
  critical_alerts: "history",
  webhook_endpoints: "the one of the settings is in settings.json; others have secrets of their own",
  webhook_events: "history",
  audit_log: "history",
  favorites: "kept by persons for themselves",
  capture_configs: "work under way",
  captures: "work under way",
  user_drafts: "not deployed yet",
  script_imports: "found out again when the scripts are deployed",
  oauth_accounts: "consents that were given to this server",
  former_usernames: "history",
  token_notices: "work under way",
  tokens: "credentials of this server",
  workspace_environment: "belongs to where jobs run",
  workspace_invites: "belongs to accounts of this server",
  workspace_usage: "history",
  idempotency_keys: "work under way",
  job_cache: "results, which are computed again",
  job_search: "words of jobs, which are indexed again",
  jobs: "history and work under way",
};

test("every table of a workspace is exported, or exempted with a reason", async () => {
  const exported = new Set(
    features.flatMap(({ archiveSections = [] }) =>
      archiveSections.flatMap(({ tables }) => tables.map(getTableName)),
    ),
  );
  const names = (await tablesOfWorkspaces()).map(getTableName);
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => !exported.has(name) && !(name in NOT_EXPORTED))).toEqual([]);
  expect(Object.keys(NOT_EXPORTED).filter((name) => !names.includes(name) || exported.has(name))).toEqual([]);
});
