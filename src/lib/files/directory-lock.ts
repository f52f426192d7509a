/**
 * One process per data directory. The lock is an exclusive transaction on a small SQLite file of its own: the system
 * lets go of it when the holder ends, however it ends, and it works alike on every platform.
 */
import { Database as SqliteFile } from "bun:sqlite";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BadRequest } from "../errors.ts";
import { letOwnerIn } from "./private-files.ts";

export interface LockOwner {
  pid: number;
  purpose: string;
  since: string;
}

export interface DirectoryLock {
  release(): void;
}

/** Who holds the directory, as the holder wrote it; undefined when nobody ever did or the note cannot be read. */
export function readLockOwner(data_dir: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(join(data_dir, "svc.owner.json"), "utf8")) as LockOwner;
  } catch {
    return undefined;
  }
}

/**
 * Takes the data directory, making it where it is missing.
 * @throws BadRequest naming the owner when another process has it
 */
export function lockDirectory(data_dir: string, purpose: string): DirectoryLock {
  mkdirSync(data_dir, { recursive: true, mode: 0o700 });
  letOwnerIn(data_dir);
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
  const owner: LockOwner = { pid: process.pid, purpose, since: new Date().toISOString() };
  writeFileSync(join(data_dir, "svc.owner.json"), JSON.stringify(owner), { mode: 0o600 });
  return {
    release() {
      file.close();
    },
  };
}
