/** Writes ZIP archives as streams. zlib's threads deflate the contents, so the event loop stays free. */
import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";

export interface ZipEntry {
  /** Path with `/` as the separator. */
  name: string;
  content: string;
}

/** More entries would need ZIP64, which the library does not write. */
export const MAX_ZIP_ENTRIES = 65_535;
const DEFLATED = 8;

const deflate = promisify<Uint8Array, Buffer>(deflateRaw);

/** Creates a ZIP stream. @param mtime modification time of all entries; ZIP stores it without a zone, to two seconds */
export function createZipStream(entries: Iterable<ZipEntry>, mtime: Date): ReadableStream<Uint8Array> {
  const left = entries[Symbol.iterator]();
  const zip = new Zip();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      zip.ondata = (error, chunk, final) => {
        if (error) controller.error(error);
        else if (chunk.length > 0) controller.enqueue(chunk);
        if (final) controller.close();
      };
    },
    async pull() {
      const next = left.next();
      if (next.done) zip.end();
      else await addEntry(zip, next.value, mtime);
    },
  });
}

async function addEntry(zip: Zip, { name, content }: ZipEntry, mtime: Date): Promise<void> {
  const bytes = Buffer.from(content);
  const file: ZipInputFile = {
    filename: name,
    size: bytes.length,
    crc: crc32(bytes),
    compression: DEFLATED,
    mtime,
    ondata: () => {},
  };
  const packed = await deflate(bytes);
  zip.add(file);
  file.ondata!(null, new Uint8Array(packed), true);
}
