/** Reads and writes the workspace files below a data directory, for backup and restore. */
import { createReadStream } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, utimes } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { type BackupLine, createDamagedBackupError, type FileHead } from "./format.ts";

export const STORAGE_FOLDER = "storage";
const CHUNK_BYTES = 196_608;
/** Unfinished uploads: `storage/<workspace>/<name>/.svc/incoming`. */
const UNFINISHED_UPLOADS = /^storage\/[^/]+\/[^/]+\/\.svc\/incoming(\/|$)/;

/** Yields all files below the folder `storage` of a data directory. Files removed meanwhile are skipped. */
export async function* readStoredFiles(
  data_dir: string,
  folder = STORAGE_FOLDER,
): AsyncGenerator<BackupLine> {
  const entries = await readdir(join(data_dir, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = posix.join(folder, entry.name);
    if (UNFINISHED_UPLOADS.test(file)) continue;
    if (entry.isDirectory()) yield* readStoredFiles(data_dir, file);
    else if (entry.isFile()) yield* readStoredFile(data_dir, file);
  }
}

async function* readStoredFile(data_dir: string, file: string): AsyncGenerator<BackupLine> {
  const path = join(data_dir, file);
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  const pieces = createReadStream(path, { highWaterMark: CHUNK_BYTES })[Symbol.asyncIterator]();
  // Reading the first chunk opens the file; removing or replacing it afterwards has no effect on this read.
  const first = await pieces.next().catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw cause;
  });
  if (!first) return;
  yield { kind: "file", file, mode: found.mode & 0o777, mtime_ms: found.mtimeMs };
  for (let piece = first; !piece.done; piece = await pieces.next()) {
    yield { kind: "piece", bytes: piece.value as Buffer };
  }
}

/** Creates a writer of files below a folder, one at a time. */
export function createFileWriter(folder: string) {
  let handle: FileHandle | undefined;
  let head: FileHead | undefined;
  const finish = async () => {
    if (!handle || !head) return;
    await handle.sync();
    await handle.close();
    handle = undefined;
    const moment = new Date(head.mtime_ms);
    await utimes(join(folder, head.file), moment, moment);
  };
  return {
    /**
     * Creates the next file, in which the following chunks are written.
     * @throws BadRequest for a path outside the folder
     */
    async begin(next: FileHead): Promise<void> {
      await finish();
      const parts = String(next.file).split("/");
      const isInside = parts[0] === STORAGE_FOLDER && parts.length > 1;
      if (
        !isInside ||
        parts.some((part) => part === "" || part === "." || part === ".." || part.includes("\0"))
      ) {
        throw createDamagedBackupError(`"${next.file}" is not a name of a stored file`);
      }
      const path = join(folder, ...parts);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      handle = await open(path, "wx", next.mode & 0o700);
      head = next;
    },
    async piece(bytes: Uint8Array): Promise<void> {
      if (!handle) throw createDamagedBackupError("bytes of it belong to no file");
      await handle.writeFile(bytes);
    },
    finish,
    async abort(): Promise<void> {
      await handle?.close();
      handle = undefined;
    },
  };
}
