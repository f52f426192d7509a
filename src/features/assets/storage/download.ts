/** A stored file as an answer: whole, or the part that a Range header asks for (RFC 9110 §14). */
import { BadRequest } from "../../../lib/errors.ts";
import type { ByteRange, FileFacts, ObjectStore } from "./store.ts";

/** @param content_disposition as the caller wants it; else as it was stored; else a file to save */
export async function download(
  store: ObjectStore,
  key: string,
  request: Request,
  content_disposition: string | undefined,
): Promise<Response> {
  const file = await store.get(key);
  const { facts } = file;
  const headers = new Headers({
    "content-type": facts.content_type,
    "content-disposition": content_disposition ?? facts.content_disposition ?? attachment(key),
    "accept-ranges": "bytes",
    "cache-control": "private",
    "last-modified": facts.last_modified.toUTCString(),
    etag: facts.etag,
    // The file is somebody's, the address is that of the whole interface: a page shown from it may do nothing there.
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
  });
  if (facts.content_encoding !== undefined) headers.set("content-encoding", facts.content_encoding);
  const range = wantedRange(request.headers, facts);
  if (range === "beyond") {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${facts.size}` } });
  }
  if (range === undefined) {
    headers.set("content-length", String(facts.size));
    return new Response(await file.read(), { headers });
  }
  headers.set("content-length", String(range.end - range.start + 1));
  headers.set("content-range", `bytes ${range.start}-${range.end}/${facts.size}`);
  return new Response(await file.read(range), { status: 206, headers });
}

/** One range is served; several, and what cannot be read, are answered with the whole file, as they may be. */
function wantedRange(headers: Headers, facts: FileFacts): ByteRange | "beyond" | undefined {
  const found = /^bytes=(\d*)-(\d*)$/.exec(headers.get("range")?.trim() ?? "");
  if (!found || (found[1] === "" && found[2] === "")) return undefined;
  const condition = headers.get("if-range");
  if (condition !== null && condition !== facts.etag && condition !== facts.last_modified.toUTCString()) {
    return undefined;
  }
  const last = facts.size - 1;
  const [start, end] =
    found[1] === ""
      ? [Math.max(0, facts.size - Number(found[2])), last]
      : [Number(found[1]), found[2] === "" ? last : Math.min(Number(found[2]), last)];
  if (found[1] !== "" && found[2] !== "" && Number(found[2]) < Number(found[1])) return undefined;
  return start > last ? "beyond" : { start, end };
}

/** RFC 6266: a file to save, under the last part of its key. */
function attachment(key: string): string {
  const name = key.slice(key.lastIndexOf("/") + 1);
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"${plain === name ? "" : `; filename*=UTF-8''${encoded}`}`;
}

/** @throws BadRequest for what cannot stand in a header */
export function checkHeaderValue(name: string, value: string | undefined): void {
  if (value !== undefined && !/^[\x20-\x7e]{1,500}$/.test(value)) {
    throw new BadRequest(`query field \`${name}\`: must be 1 to 500 printable ASCII characters`);
  }
}
