/** Rights of the server's own files that somebody had changed: to the log, and for the key an alert. */
import { basename } from "node:path";
import { exposedKey } from "../../../lib/crypto/instance-key.ts";
import type { RestoredFile } from "../../../lib/files/private-files.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "./service.ts";

const FOR_OTHERS = 0o077;

/** @param message says what others could read, and what is to be done about it */
export function tellLeakedKey(app: App, message: string): Promise<void> {
  return raiseAlert(app, { kind: "instance_key_exposed", message });
}

export function tellRestored(app: App, files: RestoredFile[]): void {
  for (const { path, mode } of files) {
    app.log.warn(
      { path, mode: mode.toString(8) },
      "the rights of a file of the server were changed, and are restored",
    );
    const isKey = basename(path) === "instance.key" && app.config.secret_key === undefined;
    if (isKey && (mode & FOR_OTHERS) !== 0) void tellLeakedKey(app, exposedKey(path, mode));
  }
}
