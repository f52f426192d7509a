/**
 * Marker file that says that an embedded instance has moved to PostgreSQL. Servers that find it do not open the old
 * database.
 */
import { existsSync, readFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Conflict } from "../lib/errors.ts";

export interface MovedMarker {
  /** URL without a password. */
  to: string;
  /** ISO 8601. */
  at: string;
}

export function getMovedMarkerPath(data_dir: string): string {
  return join(data_dir, "moved.json");
}

/** Writes the marker; it and its folder entry are on disk on return. */
export async function writeMovedMarker(data_dir: string, note: MovedMarker): Promise<void> {
  const handle = await open(getMovedMarkerPath(data_dir), "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(note)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(data_dir);
}

/** Removes the marker after a failed move, durably. */
export async function removeMovedMarker(data_dir: string): Promise<void> {
  await rm(getMovedMarkerPath(data_dir), { force: true });
  await syncFolder(data_dir);
}

/** Syncs the folder's entries: otherwise a power failure may lose or restore the file's name. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Checks that the instance still uses the database in this data directory.
 * @throws Conflict if the data directory's database has moved
 */
export function requireNotMoved(data_dir: string): void {
  const path = getMovedMarkerPath(data_dir);
  if (!existsSync(path)) return;
  const { to, at } = JSON.parse(readFileSync(path, "utf8")) as MovedMarker;
  throw new Conflict(`this instance moved to ${to} at ${at}`, {
    hint: `set DATABASE_URL to that database; to use the old one after all, remove ${path}`,
  });
}
