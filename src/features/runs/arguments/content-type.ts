/** The Content-Type header of a request that starts a run. */
import { BadRequest } from "../../../lib/errors.ts";

export interface ContentType {
  readonly header: string;
  /** The media type, in lower case, without parameters; "" if the header is missing. */
  readonly name: string;
  /** In lower case; undefined for UTF-8, which JSON always is (RFC 8259 §8.1, §11). */
  readonly charset: string | undefined;
}

/** The last one: most calls send the same. */
let last = parseContentType("");

/** Returns the content type of a request. */
export function contentTypeOf(request: Request): ContentType {
  const header = request.headers.get("content-type") ?? "";
  if (header !== last.header) last = parseContentType(header);
  return last;
}

function parseContentType(header: string): ContentType {
  return { header, name: header.split(";")[0]!.trim().toLowerCase(), charset: parseCharset(header) };
}

function parseCharset(header: string): string | undefined {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header)?.[1]?.toLowerCase();
  return charset === "utf-8" || charset === "utf8" || /json\s*;/i.test(header) ? undefined : charset;
}

/** Creates the decoder of a body. @throws BadRequest for an unknown charset */
export function createDecoder({ charset }: ContentType): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder((charset ?? "utf-8") as Bun.Encoding, { ignoreBOM: true });
  } catch {
    throw new BadRequest(`the charset ${charset} of the body is not supported: send UTF-8`);
  }
}
