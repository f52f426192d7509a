/**
 * A database that could not be brought up to date has no table to keep an alert in, perhaps: what happened is written
 * beside it, and becomes an alert when a server starts next.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../../lib/errors.ts";
import { VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "./service.ts";

const pathIn = (data_dir: string) => join(data_dir, "failed-migration.json");

interface Failed {
  at: string;
  version: string;
  error: string;
}

/** Keeps what is known of the failure, where that can be kept: the failure itself is what matters, and is thrown. */
export function keepFailedMigration(app: Pick<App, "config" | "log" | "clock">, cause: unknown): void {
  // What a database says of its own statement may quote rows.
  const error =
    cause instanceof SvcError ? cause.message : ((cause as { code?: string }).code ?? "it failed");
  const failed: Failed = { at: app.clock().toISOString(), version: VERSION, error };
  try {
    writeFileSync(pathIn(app.config.data_dir), JSON.stringify(failed), { mode: 0o600 });
  } catch (refused) {
    app.log.warn(
      { error: String(refused) },
      "that the database could not be brought up to date is kept nowhere",
    );
  }
}

/** Raises what an earlier start had to tell. */
export async function tellFailedMigration(app: App): Promise<void> {
  let failed: Failed;
  try {
    failed = JSON.parse(readFileSync(pathIn(app.config.data_dir), "utf8"));
  } catch {
    return;
  }
  const message = `at ${failed.at}, svc ${failed.version} could not bring the database up to date: ${failed.error}`;
  await raiseAlert(app, { kind: "migration_failed", message, subject: failed.at });
  rmSync(pathIn(app.config.data_dir), { force: true });
}
