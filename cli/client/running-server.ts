/** The server that runs on a data directory: its process and its address. */
import { readFileSync } from "node:fs";
import { readLockOwner } from "../../src/lib/files/directory-lock.ts";
import { loadConfig } from "../../src/platform/config/config.ts";
import {
  createNoServerError,
  isDirectoryNamed,
  locateDataDirectory,
  readServerUrl,
} from "./data-directory.ts";
import { findRunningServer } from "./transport.ts";

export interface ServerStatus {
  data_dir: string;
  running: boolean;
  pid?: number;
  url?: string;
  since?: string;
}

/** Reads whether a server is up on the data directory. @throws CliError if there is no data directory */
export async function readServerStatus(option: string | undefined): Promise<ServerStatus> {
  const located = locateDataDirectory(option);
  if (located === undefined && !isDirectoryNamed(option)) throw createNoServerError();
  const { data_dir } = loadConfig({ data_dir: located });
  const client = await findRunningServer({ data_dir });
  const owner = readLockOwner(data_dir);
  if (!client || !owner) return { data_dir, running: false };
  await client.close();
  const url = readServerUrl(data_dir);
  return { data_dir, running: true, pid: owner.pid, since: owner.since, ...(url !== undefined && { url }) };
}

/** Returns whether the process has not ended. A process that its parent has not waited for counts as ended. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !stat.slice(stat.lastIndexOf(")") + 2).startsWith("Z");
  } catch {
    return false;
  }
}
