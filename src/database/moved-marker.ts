/** The note that an embedded instance has moved to PostgreSQL: who finds it does not go on with the old database. */
import { existsSync, readFileSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Conflict } from "../lib/errors.ts";

export interface MoveNote {
  /** URL without a password. */
  to: string;
  /** ISO 8601. */
  at: string;
}

export function movedNote(data_dir: string): string {
  return join(data_dir, "moved.json");
}

/** On the disk when it returns, and named there. */
export async function noteMove(data_dir: string, note: MoveNote): Promise<void> {
  const handle = await open(movedNote(data_dir), "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(note)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncFolder(data_dir);
}

/** The instance has not moved after all. Gone for good when it returns. */
export async function removeMoveNote(data_dir: string): Promise<void> {
  await rm(movedNote(data_dir), { force: true });
  await syncFolder(data_dir);
}

/** A file's name is its folder's: without this a power failure can take it back, or bring it back. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** @throws Conflict when the data directory's own database has moved elsewhere */
export function refuseMoved(data_dir: string): void {
  const path = movedNote(data_dir);
  if (!existsSync(path)) return;
  const { to, at } = JSON.parse(readFileSync(path, "utf8")) as MoveNote;
  throw new Conflict(`this instance moved to ${to} at ${at}`, {
    hint: `set DATABASE_URL to that database; to use the old one after all, remove ${path}`,
  });
}
