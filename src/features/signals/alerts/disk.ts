/** Looks now and then whether the disk of the data directory is nearly full. */
import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "./service.ts";

const MB = 1_000_000;
/** While it stays low, it is said again this often. */
const AGAIN_MS = 24 * 3_600_000;

const stateOf = perApp<App, { lowSince: number | undefined }>(() => ({ lowSince: undefined }));

/** Raises an alert when there is less room than `min_free_mb`, and another one when there is enough again. */
export async function checkDisk(app: App): Promise<void> {
  const { min_free_mb, data_dir } = app.config;
  const { bavail, bsize } = await statfs(data_dir);
  const free_mb = Math.floor((bavail * bsize) / MB);
  const state = stateOf(app);
  const now = app.clock().getTime();
  // Of several servers each has a disk of its own.
  const subject = hostname();
  if (free_mb >= min_free_mb) {
    if (state.lowSince === undefined) return;
    state.lowSince = undefined;
    const message = `the disk of the data directory on ${subject} has room again: ${free_mb} MB are free`;
    await raiseAlert(app, { kind: "disk_nearly_full", message, subject, recovered: true });
    return;
  }
  if (state.lowSince !== undefined && now - state.lowSince < AGAIN_MS) return;
  state.lowSince = now;
  const message = `the disk of the data directory on ${subject} is nearly full: ${free_mb} MB are free, and ${min_free_mb} MB should be (SVC_MIN_FREE_MB)`;
  await raiseAlert(app, { kind: "disk_nearly_full", message, subject });
}
