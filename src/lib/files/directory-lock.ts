/**
 * Lock for one process per data directory: an exclusive transaction on a small SQLite file. The system releases it when
 * the process ends, however it ends, on every platform.
 */
import { Database as SqliteFile } from "bun:sqlite";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BadRequest } from "../errors.ts";
import { restoreOwnerAccess } from "./private-files.ts";

export interface LockOwner {
  pid: number;
  purpose: string;
  since: string;
  /**
   * Start time of the process in the system's own unit; together with the id it identifies one process. Linux only.
   */
  started?: string | undefined;
}

export interface DirectoryLock {
  release(): void;
}

/** Returns the owner recorded by the last holder; undefined if there is none or it is unreadable. */
export function readLockOwner(data_dir: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(join(data_dir, "svc.owner.json"), "utf8")) as LockOwner;
  } catch {
    return undefined;
  }
}

/**
 * Whether the owner is a process that is visible from here and still runs. The id alone is not enough: a later
 * process may have it, or, for an owner in a container, any other process.
 */
export function isOwnerAlive({ pid, started }: LockOwner): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== "linux" || (started !== undefined && readStartTime(pid) === started);
}

/**
 * Reads when a process started, in clock ticks since boot; undefined if it has ended, even if it is still a zombie.
 */
function readStartTime(pid: number | "self"): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program may contain spaces and parentheses (proc_pid_stat(5)).
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/**
 * Locks the data directory, creating it if necessary.
 * @throws BadRequest naming the owner if another process holds it
 */
export function lockDirectory(data_dir: string, purpose: string): DirectoryLock {
  mkdirSync(data_dir, { recursive: true, mode: 0o700 });
  restoreOwnerAccess(data_dir);
  const path = join(data_dir, "svc.lock");
  closeSync(openSync(path, "a", 0o600));
  const file = new SqliteFile(path, { create: true, readwrite: true });
  try {
    file.run("PRAGMA busy_timeout = 0");
    file.run("PRAGMA locking_mode = EXCLUSIVE");
    file.run("BEGIN EXCLUSIVE");
  } catch (cause) {
    file.close();
    if ((cause as { code?: string }).code !== "SQLITE_BUSY") throw cause;
    const owner = readLockOwner(data_dir);
    const who = owner ? `process ${owner.pid} (${owner.purpose}, since ${owner.since})` : "another process";
    throw new BadRequest(`the data directory ${data_dir} is in use by ${who}`, {
      hint: "stop that process, or choose another directory with --data-dir",
      cause,
    });
  }
  const owner: LockOwner = {
    pid: process.pid,
    purpose,
    since: new Date().toISOString(),
    started: readStartTime("self"),
  };
  writeFileSync(join(data_dir, "svc.owner.json"), JSON.stringify(owner), { mode: 0o600 });
  return {
    release() {
      file.close();
    },
  };
}
