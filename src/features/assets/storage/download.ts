/** Responses with a stored file: all of it, or the part in the Range header (RFC 9110 §14). */
import { BadRequest } from "../../../lib/errors.ts";
import type { ByteRange, FileInfo, ObjectStore } from "./object-store.ts";

/**
 * Creates the response that sends a stored file, or the requested part of it.
 * @param content_disposition overrides the stored one; without both, the file is offered for download
 */
export async function createDownloadResponse(
  store: ObjectStore,
  key: string,
  request: Request,
  content_disposition: string | undefined,
): Promise<Response> {
  const file = await store.get(key);
  const { info } = file;
  const headers = new Headers({
    "content-type": info.content_type,
    "content-disposition": content_disposition ?? info.content_disposition ?? formatAttachment(key),
    "accept-ranges": "bytes",
    "cache-control": "private",
    "last-modified": info.last_modified.toUTCString(),
    etag: info.etag,
    // Files are untrusted and share the origin of the API, so pages shown from them get no rights.
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
  });
  if (info.content_encoding !== undefined) headers.set("content-encoding", info.content_encoding);
  const range = parseRange(request.headers, info);
  if (range === "beyond") {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${info.size}` } });
  }
  if (range === undefined) {
    headers.set("content-length", String(info.size));
    return new Response(await file.read(), { headers });
  }
  headers.set("content-length", String(range.end - range.start + 1));
  headers.set("content-range", `bytes ${range.start}-${range.end}/${info.size}`);
  return new Response(await file.read(range), { status: 206, headers });
}

/** Parses the Range header. Only a single range is served; for others the whole file is sent, as RFC 9110 allows. */
function parseRange(headers: Headers, facts: FileInfo): ByteRange | "beyond" | undefined {
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

/** Formats a Content-Disposition (RFC 6266) that offers the file under the last part of its key. */
function formatAttachment(key: string): string {
  const name = key.slice(key.lastIndexOf("/") + 1);
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}"${plain === name ? "" : `; filename*=UTF-8''${encoded}`}`;
}

/** Checks that a value can be sent in a header. @throws BadRequest for a value that is not allowed in a header */
export function requireHeaderValue(name: string, value: string | undefined): void {
  if (value !== undefined && !/^[\x20-\x7e]{1,500}$/.test(value)) {
    throw new BadRequest(`query field \`${name}\`: must be 1 to 500 printable ASCII characters`);
  }
}
