/** Checks periodically whether the disk of the data directory is nearly full. */
import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "./service.ts";

const BYTES_PER_MB = 1_000_000;
/** Interval at which the alert is repeated while the disk stays full. */
const REPEAT_INTERVAL_MS = 24 * 3_600_000;

const diskState = memoizePerApp<App, { lowSince: number | undefined }>(() => ({ lowSince: undefined }));

/** Raises an alert if less than `min_free_mb` is free, and a recovery alert once there is enough again. */
export async function checkDisk(app: App): Promise<void> {
  const { min_free_mb, data_dir } = app.config;
  const { bavail, bsize } = await statfs(data_dir);
  const free_mb = Math.floor((bavail * bsize) / BYTES_PER_MB);
  const state = diskState(app);
  const now = app.clock().getTime();
  // Each server has its own disk.
  const subject = hostname();
  if (free_mb >= min_free_mb) {
    if (state.lowSince === undefined) return;
    state.lowSince = undefined;
    const message = `the disk of the data directory on ${subject} has room again: ${free_mb} MB are free`;
    await raiseAlert(app, { kind: "disk_nearly_full", message, subject, recovered: true });
    return;
  }
  if (state.lowSince !== undefined && now - state.lowSince < REPEAT_INTERVAL_MS) return;
  state.lowSince = now;
  const message = `the disk of the data directory on ${subject} is nearly full: ${free_mb} MB are free, and ${min_free_mb} MB should be (SVC_MIN_FREE_MB)`;
  await raiseAlert(app, { kind: "disk_nearly_full", message, subject });
}
