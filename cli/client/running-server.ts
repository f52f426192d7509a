/** The server that runs on a data directory: its process and its address. */
import { type LockOwner, readLockOwner } from "../../src/lib/files/directory-lock.ts";
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
  owner?: LockOwner;
  url?: string;
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
  return { data_dir, running: true, owner, ...(url !== undefined && { url }) };
}
