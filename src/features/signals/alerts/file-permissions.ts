/**
 * Reports restored permissions of the server's files: to the log, and with an alert if the instance key was exposed.
 */
import { basename } from "node:path";
import { describeExposedKey } from "../../../lib/crypto/instance-key.ts";
import type { RestoredFile } from "../../../lib/files/private-files.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "./service.ts";

const OTHERS_MODE_BITS = 0o077;

/**
 * Raises the alert that others could have read the instance key.
 * @param message says what others could read, and what to do about it
 */
export function alertExposedKey(app: App, message: string): Promise<void> {
  return raiseAlert(app, { kind: "instance_key_exposed", message });
}

export function reportRestoredFiles(app: App, files: RestoredFile[]): void {
  for (const { path, mode } of files) {
    app.log.warn(
      { path, mode: mode.toString(8) },
      "the rights of a file of the server were changed, and are restored",
    );
    const isKey = basename(path) === "instance.key" && app.config.secret_key === undefined;
    if (isKey && (mode & OTHERS_MODE_BITS) !== 0) void alertExposedKey(app, describeExposedKey(path, mode));
  }
}
