/** The files of workspaces whose storage is in the data directory, on their way into a backup and out of it. */
import { createReadStream } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, utimes } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { damaged, type FileHead, type Line } from "./format.ts";

export const STORAGE = "storage";
const PIECE = 196_608;
/** Files on their way in, which nobody has been told of: `storage/<workspace>/<name>/.svc/incoming`. */
const INCOMING = /^storage\/[^/]+\/[^/]+\/\.svc\/incoming(\/|$)/;

/** All files below the folder `storage` of a data directory. One that is removed meanwhile is left out. */
export async function* storedFiles(data_dir: string, folder = STORAGE): AsyncGenerator<Line> {
  const entries = await readdir(join(data_dir, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = posix.join(folder, entry.name);
    if (INCOMING.test(file)) continue;
    if (entry.isDirectory()) yield* storedFiles(data_dir, file);
    else if (entry.isFile()) yield* storedFile(data_dir, file);
  }
}

async function* storedFile(data_dir: string, file: string): AsyncGenerator<Line> {
  const path = join(data_dir, file);
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  const pieces = createReadStream(path, { highWaterMark: PIECE })[Symbol.asyncIterator]();
  // The first piece opens it: from then on it stays whole, whoever removes or replaces it.
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

/** Writes files below a folder, one after the other. */
export function fileWriter(folder: string) {
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
    /** @throws BadRequest for a name that leads elsewhere */
    async begin(next: FileHead): Promise<void> {
      await finish();
      const parts = String(next.file).split("/");
      const isInside = parts[0] === STORAGE && parts.length > 1;
      if (
        !isInside ||
        parts.some((part) => part === "" || part === "." || part === ".." || part.includes("\0"))
      ) {
        throw damaged(`"${next.file}" is no name of a stored file`);
      }
      const path = join(folder, ...parts);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      handle = await open(path, "wx", next.mode & 0o700);
      head = next;
    },
    async piece(bytes: Uint8Array): Promise<void> {
      if (!handle) throw damaged("bytes of it belong to no file");
      await handle.writeFile(bytes);
    },
    finish,
    async abort(): Promise<void> {
      await handle?.close();
      handle = undefined;
    },
  };
}
