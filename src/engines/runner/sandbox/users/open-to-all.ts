import { chmod, lchown, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const READ = 0o444;
const SEARCH_OR_RUN = 0o111;

/**
 * Where the server is the superuser and its children are not: lets every user who gets as far as a folder read what is
 * in it, and only the server change it, whatever the server's umask, the modes that packages come with, and the child
 * that has made it, of which nothing runs any more. The folder itself comes last, and says that all in it is done.
 */
export async function openToAll(folder: string): Promise<void> {
  const me = process.geteuid?.();
  if (me !== 0) return;
  const { uid, mode } = await lstat(folder);
  if (uid === me && (mode & READ) === READ) return;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    await open(join(entry.parentPath, entry.name), me);
  }
  await open(folder, me);
}

async function open(path: string, me: number): Promise<void> {
  const stats = await lstat(path);
  if (stats.uid !== me) await lchown(path, me, me);
  if (!stats.isFile() && !stats.isDirectory()) return;
  const rights = stats.mode & 0o755;
  const wanted = rights | READ | (stats.mode & 0o100 ? SEARCH_OR_RUN : 0);
  if (wanted !== (stats.mode & 0o7777)) await chmod(path, wanted);
}
