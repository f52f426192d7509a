/** Reads files that others have written, such as scripts, with the rights of the server. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";

/**
 * Reads a file that somebody else could write; `bytes` is absent if it is larger than `limit` bytes. As it is read with
 * the server's rights, only a regular file with a single link counts: no links to the server's files, no endless pipes.
 */
export async function readOwnFile(
  path: string,
  limit: number,
): Promise<{ bytes: Buffer | undefined } | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.nlink > 1) return undefined;
    return { bytes: stats.size > limit ? undefined : await file.readFile() };
  } finally {
    await file.close();
  }
}
