/**
 * Every column that can hold values encrypted with a workspace's key is re-encrypted when the key is rotated.
 */
import { expect, test } from "bun:test";
import { type Column, getTableColumns } from "drizzle-orm";
import { features } from "../../../../src/server/features.ts";
import { allTables, columnName, isJson } from "../../../support/tables.ts";

/** Columns of plain text that may contain values of jobs, or ciphertext. */
const TELLING =
  /(^|_)(args|input|flow|body|value|result|content|payload|secret|key|token|password|encrypted|sealed)$/;

const isText = (column: Column) => column.getSQLType() === "text";

/** Columns, or endings of their names, that hold no arguments of jobs. */
const NOT_CONCERNED: Record<string, string> = {
  extra_perms: "names and rights",
  extra: "fields that mean nothing here",
  schema: "describes arguments, holds none",
  imports: "versions of scripts",
  "websocket_triggers.filters": "compared with messages, not handed to jobs",
  "http_triggers.signature": "names where the secret is",
  "http_triggers.static_asset_config": "place of files",
  "http_triggers.retry": "numbers",
  "capture_configs.trigger_config": "options of the form that is captured",
  "captures.main_args": "what senders sent, with secrets masked",
  "captures.preprocessor_args": "what senders sent, with secrets masked",
  "schedules.retry": "numbers",
  "websocket_triggers.retry": "numbers",
  "resumable_operations.details": "ids and names",
  "critical_alerts.told": "names of channels",
  "critical_alerts.send_failures": "messages of failures",
  "critical_alerts.key": "tells alerts apart",
  "webhook_endpoints.types": "names of events",
  "webhook_events.told": "ids of endpoints",
  "webhook_events.payload": "says what happened, with no values",
  "audit_log.parameters": "hold no secret",
  "audit_log.repeats": "hold no secret",
  "oidc_keys.public_jwk": "public",
  "oidc_keys.sealed_key": "encrypted with the instance key",
  "app_versions.bundle": "names of files",
  "raw_apps.value": "code",
  "scripts.parent_hashes": "hashes",
  "scripts.parameters": "names and types",
  "scripts.preprocessor_parameters": "names and types",
  "scripts.envs": "names",
  "scripts.signature": "names where the secret is",
  "scripts.content": "code",
  "scripts.concurrency_key": "a name",
  "workspace_dependencies.content": "names of packages",
  "flow_user_states.key": "a name",
  "flow_user_states.value": "kept by scripts for each other, who get it as it is",
  "license_renewals.result": "says how it went",
  "folders.owners": "names",
  "tokens.scopes": "rights",
  "instance_settings.key": "a name",
  "instance_settings.value": "encrypted with the instance key",
  "workspaces.large_file_storage": "names the resource with the secret",
  "workspaces.wrapped_key": "the key itself, encrypted with the instance key",
  "workspaces.previous_wrapped_key": "the key before, encrypted with the instance key",
  "workspace_environment.value": "given to jobs as it is",
  "worker_groups.config": "names of tags",
  "workers.tags": "names of tags",
  "workers.last_job": "an id",
  "workers.occupancy": "numbers",
  "workers.memory": "numbers",
  "oauth_accounts.refresh_token": "encrypted with the instance key",
  "jobs.labels": "names",
  "jobs.result": "of jobs that have ended, to which nothing is sent any more",
  "jobs.concurrency_key": "a name",
  "job_logs.content": "output",
  "job_streams.content": "output",
  "job_cache.key": "a hash",
  "job_cache.result": "output",
  "idempotency_keys.key": "chosen by callers",
};

test("every column that can hold encrypted values is declared, or exempted with a reason", async () => {
  const tables = await allTables();
  expect(tables.length).toBeGreaterThan(40);
  const declared = new Set(
    features
      .flatMap(({ encryptedColumns = [], secretColumns = [] }) => [
        ...encryptedColumns.flatMap(({ columns }) => columns),
        ...secretColumns.map(({ column }) => column),
      ])
      .map(columnName),
  );
  const telling = tables
    .flatMap((table) => Object.values(getTableColumns(table)))
    .filter((column) => isJson(column) || (isText(column) && TELLING.test(column.name)));
  const names = telling.map(columnName);
  const reasonOf = (column: Column) => NOT_CONCERNED[columnName(column)] ?? NOT_CONCERNED[column.name];
  const isForgotten = (column: Column) => !declared.has(columnName(column)) && !reasonOf(column);
  expect(telling.filter(isForgotten).map(columnName)).toEqual([]);
  // The list names no column that was removed, or that is re-encrypted.
  const known = new Set([...names, ...telling.map(({ name }) => name)]);
  expect(Object.keys(NOT_CONCERNED).filter((name) => !known.has(name) || declared.has(name))).toEqual([]);
});
