/** Writing ZIP archives (PKWARE APPNOTE 6.3, without ZIP64): names in UTF-8, contents deflated (RFC 1951). */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  /** With `/` between folders. */
  name: string;
  content: string;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** The version that readers need for deflated contents. */
const VERSION = 20;
/** General purpose bit 11: the name is UTF-8. */
const UTF8 = 1 << 11;
const DEFLATED = 8;
/** The fields that the header before a file and its entry in the directory have in common. */
const COMMON_SIZE = 26;

/** @param at the time of last change that all entries carry, which ZIP keeps to two seconds and without a zone */
export function toZip(entries: readonly ZipEntry[], at: Date): Uint8Array<ArrayBuffer> {
  const files: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const content = Buffer.from(entry.content);
    const packed = deflateRawSync(content);
    const common = commonFields(at, crc32(content), packed.length, content.length, name.length);
    const local = Buffer.concat([number32(LOCAL), common, name, packed]);
    directory.push(number32(CENTRAL), number16(VERSION), common, new Uint8Array(10), number32(offset), name);
    files.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const count = number16(entries.length);
  const end = [number32(END), new Uint8Array(4), count, count, number32(listed.length), number32(offset)];
  return new Uint8Array(Buffer.concat([...files, listed, ...end, new Uint8Array(2)]));
}

function commonFields(at: Date, sum: number, packed: number, size: number, name: number): Buffer {
  const fields = Buffer.alloc(COMMON_SIZE);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(UTF8, 2);
  fields.writeUInt16LE(DEFLATED, 4);
  fields.writeUInt16LE((at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1), 6);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  fields.writeUInt16LE(date, 8);
  fields.writeUInt32LE(sum, 10);
  fields.writeUInt32LE(packed, 14);
  fields.writeUInt32LE(size, 18);
  fields.writeUInt16LE(name, 22);
  return fields;
}

function number16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function number32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
