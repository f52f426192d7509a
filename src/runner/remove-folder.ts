import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a folder with everything in it, also what its maker has closed to its own user. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch {
    await open(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Lets the user into a folder again, and into those in it; links are not followed. */
async function open(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => {});
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await open(join(folder, entry.name));
}
