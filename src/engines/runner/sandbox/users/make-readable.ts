import { chmod, lchown, lstat } from "node:fs/promises";
import { walkFolder } from "../../../../lib/files/walk-folder.ts";

const READ = 0o444;
const SEARCH_OR_RUN = 0o111;

/**
 * For a server that runs as root with children that do not: makes a folder's content readable for everyone and writable
 * only for the server, whatever the umask and packages' modes. The child that created it has ended. The folder itself
 * is changed last, which marks the work as complete.
 */
export async function makeFolderReadable(folder: string): Promise<void> {
  const me = process.geteuid?.();
  if (me !== 0) return;
  const stats = await lstat(folder);
  // Entries below a link would be those of a foreign folder.
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder`);
  const { uid, mode } = stats;
  if (uid === me && (mode & READ) === READ) return;
  for await (const path of walkFolder(folder)) await makeEntryReadable(path, me);
  await makeEntryReadable(folder, me);
}

async function makeEntryReadable(path: string, me: number): Promise<void> {
  const stats = await lstat(path);
  if (stats.uid !== me) await lchown(path, me, me);
  if (!stats.isFile() && !stats.isDirectory()) return;
  const rights = stats.mode & 0o755;
  const wanted = rights | READ | (stats.mode & 0o100 ? SEARCH_OR_RUN : 0);
  if (wanted !== (stats.mode & 0o7777)) await chmod(path, wanted);
}
