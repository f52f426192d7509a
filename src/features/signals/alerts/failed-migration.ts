/**
 * Alerts about failed database migrations. After a failure the database may not have a table for alerts. So the failure
 * is written to a file in the data directory, and the next successful start raises the alert.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../../lib/errors.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "./service.ts";

const migrationReportPath = (data_dir: string) => join(data_dir, "failed-migration.json");

interface FailedMigration {
  at: string;
  version: string;
  error: string;
}

/** Writes the failure to the file. A write error is only logged, since the migration's own error is thrown. */
export function storeFailedMigration(app: Pick<App, "config" | "log" | "clock">, cause: unknown): void {
  // Database errors may quote row contents, so only their code is kept.
  const error =
    cause instanceof SvcError ? cause.message : ((cause as { code?: string }).code ?? "it failed");
  const failed: FailedMigration = { at: app.clock().toISOString(), version: VERSION, error };
  try {
    writeFileSync(migrationReportPath(app.config.data_dir), JSON.stringify(failed), { mode: 0o600 });
  } catch (refused) {
    app.log.warn({ error: String(refused) }, "the failed migration could not be recorded");
  }
}

/** Raises an alert for a failure that an earlier start recorded. */
export async function reportFailedMigration(app: App): Promise<void> {
  let failed: FailedMigration;
  try {
    failed = JSON.parse(readFileSync(migrationReportPath(app.config.data_dir), "utf8"));
  } catch {
    return;
  }
  const message = `at ${failed.at}, svc ${failed.version} could not bring the database up to date: ${failed.error}`;
  await raiseAlert(app, { kind: "migration_failed", message, subject: failed.at });
  rmSync(migrationReportPath(app.config.data_dir), { force: true });
}
