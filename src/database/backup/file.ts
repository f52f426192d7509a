/** Writes and reads a backup file as a stream: neither ever holds more than a row or a piece of it. */
import { createReadStream, type WriteStream } from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { BadRequest, StorageFull } from "../../lib/errors.ts";
import { randomText } from "../../lib/text/ids.ts";
import {
  damaged,
  decodeHeader,
  decodeLine,
  type End,
  encodeHeader,
  encodeLine,
  type Header,
  type Line,
  MAGIC,
  MAX_HEADER,
} from "./format.ts";

/** Lines are handed to the compressor in blocks of about this many characters. */
const BLOCK = 262_144;
/** Quick: rows compress well at any level. */
const LEVEL = 3;

/**
 * Writes the file beside its place and moves it there once it is whole and on disk; mode 0600.
 * @throws what the disk says; then there is no file
 */
export async function writeBackupFile(
  path: string,
  header: Header,
  lines: AsyncIterable<Line>,
): Promise<Omit<End, "sha256"> & { bytes: number }> {
  await removeLeftBehind(dirname(path));
  const temporary = `${path}.${hostname()}-${process.pid}-${randomText(8)}.part`;
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
      if (block.length >= BLOCK) yield take();
    }
    yield take();
    yield Buffer.from(`${encodeLine({ kind: "end", end: { ...end, sha256: hash.digest("hex") } })}\n`);
  }

  const file = await create(temporary, path);
  try {
    file.write(first);
    await pipeline(Readable.from(blocks()), createGzip({ level: LEVEL }), file);
    const bytes = await flush(temporary);
    await rename(temporary, path);
    await flush(dirname(path));
    return { ...end, bytes };
  } catch (cause) {
    await rm(temporary, { force: true });
    if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause;
    throw new StorageFull(`there is no room for ${path}: no backup was made`, { cause });
  }
}

/** Removes what backups of this machine have left that were killed: it may hold the instance key. */
async function removeLeftBehind(folder: string): Promise<void> {
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

/** @throws BadRequest saying why the backup cannot be there */
async function create(temporary: string, path: string): Promise<WriteStream> {
  try {
    return (await open(temporary, "wx", 0o600)).createWriteStream();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? `there is no folder ${dirname(path)}` : code;
    throw new BadRequest(`${path} cannot be written: ${why}`, { cause });
  }
}

/** Onto the disk, not only into the system's memory. @returns the size */
export async function flush(path: string): Promise<number> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** The first line, and where the rest begins. @throws BadRequest when the file is no backup, or a newer one */
export async function readHeader(path: string): Promise<{ header: Header; text: string }> {
  const begin = await beginningOf(path).catch((cause) => {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : code === "EISDIR" ? "it is a folder" : code;
    throw new BadRequest(`${path} cannot be read: ${why}`, { cause });
  });
  const end = begin.indexOf(10);
  const isOurs = begin.subarray(0, MAGIC.length).toString("latin1") === MAGIC;
  if (end < 0 && isOurs) throw damaged("its first line does not end");
  const text = isOurs ? begin.subarray(0, end).toString() : "";
  return { header: decodeHeader(text), text: `${text}\n` };
}

async function beginningOf(path: string): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const begin = Buffer.alloc(MAX_HEADER);
    const { bytesRead } = await handle.read(begin, 0, MAX_HEADER, 0);
    return begin.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * The lines behind the header, without the last one: that is compared with what was read.
 * @throws BadRequest when the file is damaged or ends too early, at that point
 */
export async function* readLines(path: string, headerText: string): AsyncGenerator<Line> {
  const hash = new Bun.CryptoHasher("sha256").update(headerText);
  const seen = { rows: 0, files: 0 };
  let end: End | undefined;
  for await (const bytes of rawLines(path, Buffer.byteLength(headerText))) {
    if (end) throw damaged("something follows its end");
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
  if (!end) throw damaged("its end is missing");
  if (end.rows !== seen.rows || end.files !== seen.files || end.sha256 !== hash.digest("hex")) {
    throw damaged("its checksum is another one");
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
    if ((cause as { code?: string }).code?.startsWith("Z_")) throw damaged("it cannot be unpacked", cause);
    throw cause;
  } finally {
    file.destroy();
    unpacked.destroy();
    await piped;
  }
  if (parts.length > 0) throw damaged("its last line does not end");
}
