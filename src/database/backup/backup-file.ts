/** Writes and reads backup files as streams; memory holds at most one row or chunk. */
import { createReadStream, type WriteStream } from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { BadRequest, StorageFull } from "../../lib/errors.ts";
import { createRandomText } from "../../lib/text/ids.ts";
import {
  type BackupHeader,
  type BackupLine,
  type BackupTrailer,
  createDamagedBackupError,
  decodeHeader,
  decodeLine,
  encodeHeader,
  encodeLine,
  MAGIC,
  MAX_HEADER_BYTES,
} from "./format.ts";

/** Approximate size of the blocks passed to the compressor, in characters. */
const BLOCK_CHARACTERS = 262_144;
/** A fast level: rows compress well at any level. */
const GZIP_LEVEL = 3;

/**
 * Writes a temporary file beside the target and renames it once it is complete and synced; mode 0600.
 * @throws errors of the file system; then no file is left
 */
export async function writeBackupFile(
  path: string,
  header: BackupHeader,
  lines: AsyncIterable<BackupLine>,
): Promise<Omit<BackupTrailer, "sha256"> & { bytes: number }> {
  await removeStaleParts(dirname(path));
  const temporary = `${path}.${hostname()}-${process.pid}-${createRandomText(8)}.part`;
  const first = encodeHeader(header);
  const hash = new Bun.CryptoHasher("sha256").update(first);
  const end = { rows: 0, files: 0 };

  async function* blocks(): AsyncGenerator<Buffer> {
    let block = "";
    const take = () => {
      const bytes = Buffer.from(block);
      block = "";
      hash.update(bytes);
      return bytes;
    };
    for await (const line of lines) {
      if (line.kind === "row") end.rows++;
      if (line.kind === "file") end.files++;
      block += `${encodeLine(line)}\n`;
      if (block.length >= BLOCK_CHARACTERS) yield take();
    }
    yield take();
    yield Buffer.from(`${encodeLine({ kind: "end", end: { ...end, sha256: hash.digest("hex") } })}\n`);
  }

  const file = await createPartFile(temporary, path);
  try {
    file.write(first);
    await pipeline(Readable.from(blocks()), createGzip({ level: GZIP_LEVEL }), file);
    const bytes = await syncToDisk(temporary);
    await rename(temporary, path);
    await syncToDisk(dirname(path));
    return { ...end, bytes };
  } catch (cause) {
    await rm(temporary, { force: true });
    if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause;
    throw new StorageFull(`there is no room for ${path}: no backup was made`, { cause });
  }
}

/** Removes temporary files of this machine's killed backups: they may contain the instance key. */
async function removeStaleParts(folder: string): Promise<void> {
  const mark = `.${hostname()}-`;
  for (const name of await readdir(folder).catch(() => [])) {
    const end = name.slice(name.lastIndexOf(mark) + mark.length);
    const [, pid] = (name.includes(mark) && /^(\d+)-\w{8}\.part$/.exec(end)) || [];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/**
 * Creates the temporary file that a backup is written to.
 * @throws BadRequest with the reason if the file cannot be created
 */
async function createPartFile(temporary: string, path: string): Promise<WriteStream> {
  try {
    return (await open(temporary, "wx", 0o600)).createWriteStream();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? `there is no folder ${dirname(path)}` : code;
    throw new BadRequest(`${path} cannot be written: ${why}`, { cause });
  }
}

/** Syncs a file or folder to disk. @returns its size */
export async function syncToDisk(path: string): Promise<number> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** Reads the header line. @throws BadRequest if the file is not a backup or is of a newer version */
export async function readHeader(path: string): Promise<{ header: BackupHeader; text: string }> {
  const begin = await readBeginning(path).catch((cause) => {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : code;
    throw new BadRequest(`${path} cannot be read: ${why}`, { cause });
  });
  const end = begin.indexOf(10);
  const isOurs = begin.subarray(0, MAGIC.length).toString("latin1") === MAGIC;
  if (end < 0 && isOurs) throw createDamagedBackupError("its first line does not end");
  const text = isOurs ? begin.subarray(0, end).toString() : "";
  return { header: decodeHeader(text), text: `${text}\n` };
}

async function readBeginning(path: string): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const begin = Buffer.alloc(MAX_HEADER_BYTES);
    const { bytesRead } = await handle.read(begin, 0, MAX_HEADER_BYTES, 0);
    return begin.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Yields the lines after the header and verifies them against the trailer, which is not yielded.
 * @throws BadRequest at the point where the file is damaged or truncated
 */
export async function* readLines(path: string, headerText: string): AsyncGenerator<BackupLine> {
  const hash = new Bun.CryptoHasher("sha256").update(headerText);
  const seen = { rows: 0, files: 0 };
  let end: BackupTrailer | undefined;
  for await (const bytes of rawLines(path, Buffer.byteLength(headerText))) {
    if (end) throw createDamagedBackupError("something follows its end");
    const line = decodeLine(bytes.toString());
    if (line.kind === "end") {
      end = line.end;
      continue;
    }
    hash.update(bytes).update("\n");
    if (line.kind === "row") seen.rows++;
    if (line.kind === "file") seen.files++;
    yield line;
  }
  if (!end) throw createDamagedBackupError("its end is missing");
  if (end.rows !== seen.rows || end.files !== seen.files || end.sha256 !== hash.digest("hex")) {
    throw createDamagedBackupError("its checksum is another one");
  }
}

async function* rawLines(path: string, start: number): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { start });
  const unpacked = createGunzip();
  const piped = pipeline(file, unpacked).catch(() => {});
  let parts: Buffer[] = [];
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      let from = 0;
      for (let at = chunk.indexOf(10, from); at >= 0; at = chunk.indexOf(10, from)) {
        parts.push(chunk.subarray(from, at));
        const line = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
        parts = [];
        from = at + 1;
        yield line;
      }
      if (from < chunk.length) parts.push(chunk.subarray(from));
    }
  } catch (cause) {
    if ((cause as { code?: string }).code?.startsWith("Z_"))
      throw createDamagedBackupError("it cannot be unpacked", cause);
    throw cause;
  } finally {
    file.destroy();
    unpacked.destroy();
    await piped;
  }
  if (parts.length > 0) throw createDamagedBackupError("its last line does not end");
}
