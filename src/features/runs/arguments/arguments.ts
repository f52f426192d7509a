/**
 * Turns a webhook request into the arguments object, as JSON text: the runner passes it on unparsed. The common case,
 * a JSON object with nothing to add, is checked once and handed on letter by letter. Where a name is given twice (keys
 * of JSON, fields of a form, query parameters), the last one counts.
 */
import { isUtf8 } from "node:buffer";
import { BadRequest } from "../../../lib/errors.ts";
import { NestedTooDeeply, refuseDeep } from "../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";
import { joinObjects } from "../../../lib/json/long.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { CREDENTIAL_HEADERS, TOKEN_PARAMETER } from "../../../platform/http/door/credentials.ts";
import { readBytes, readText } from "../../../platform/http/input.ts";
import { binaryMetadata, isBinaryEvent, structuredEvent } from "./cloud-events.ts";
import { readForm } from "./form-data.ts";
import { isObjectPayload, JSON_TYPE, type Payload, readAs } from "./payload.ts";

export interface ArgumentOptions {
  /** Force the whole payload under the key `body`. */
  wrap_body: boolean;
  /** Add the unparsed payload as `raw_string`. */
  raw: boolean;
  /** Names of headers to pass on, comma separated. */
  include_header?: string | undefined;
  /** A header that proved who calls, which is passed on by no name. */
  secret_header?: string | undefined;
  /** Names of query parameters to pass on, comma separated. */
  include_query?: string | undefined;
  /** GET: JSON text of the arguments, base64 or base64url. */
  payload?: string | undefined;
}

/** Where arguments come from. */
export interface Source {
  ctx: WorkspaceContext;
  /** The caller's own request, or the same with its body read and verified. */
  request: Request;
  /** Most bytes of body. */
  limit: number;
}

const BODILESS = new Set(["GET", "HEAD"]);

/**
 * Reads the request's body and extras into one JSON object.
 * @returns JSON text of an object
 * @throws BadRequest for what calls itself a form or an event and is none, PayloadTooLarge
 */
export async function argumentsOf(source: Source, options: ArgumentOptions): Promise<string> {
  return toArguments(await readPayload(source, options), source.request, options);
}

/** The arguments object, as JSON text, with the extras that the URL asks for: they win over keys of the body. */
export function toArguments(payload: Payload, request: Request, options: ArgumentOptions): string {
  const { text, json, isPlain, beside } = payload;
  const extras = extrasOf(request, options, text);
  const isAlone = !extras && !beside && !options.wrap_body;
  if (json !== undefined && isAlone && isObjectPayload(payload)) return json;
  if (payload.isLong) {
    const isWhole = options.wrap_body || !isObjectPayload(payload);
    return joinObjects(isWhole ? `{"body":${json}}` : json!, JSON.stringify({ ...beside, ...extras }));
  }
  const args = { ...ownArguments(payload.value ?? {}, options.wrap_body, isPlain), ...beside };
  if (isPlain) args.raw_string = text;
  return JSON.stringify(extras ? { ...args, ...extras } : args);
}

function ownArguments(value: unknown, wrap: boolean, isPlain: boolean | undefined): Record<string, unknown> {
  if (wrap) return { body: value };
  if (isPlain) return {};
  return isJsonObject(value) ? value : { body: value };
}

/**
 * Reads and parses what the request carries, as its content type says. The body is always tried as JSON first.
 * @throws BadRequest, PayloadTooLarge
 */
export async function readPayload(
  { ctx, request, limit }: Source,
  options: Pick<ArgumentOptions, "raw" | "payload"> & { exact?: boolean },
): Promise<Payload> {
  if (BODILESS.has(request.method)) return readAs(JSON_TYPE, decodePayload(options.payload));
  const header = request.headers.get("content-type") ?? "";
  const type = mediaType(header);
  if (type.startsWith("multipart/")) {
    const sent: Uint8Array[] = [];
    const value = await readForm(ctx, request, limit, options.raw ? (piece) => sent.push(piece) : undefined);
    return { text: Buffer.concat(sent).toString(), value };
  }
  const isEvent = type.startsWith("application/cloudevents");
  if (isEvent) refuseOtherFormats(type);
  else if (isBinaryEvent(request.headers)) return readBinaryEvent(request, header, limit);
  const text = await readSent(request, header, limit, options.raw || (options.exact ?? false));
  return isEvent ? toEvent(text) : readAs(type, text);
}

function refuseOtherFormats(type: string): void {
  if (type.startsWith("application/cloudevents-batch")) {
    throw new BadRequest("batched CloudEvents are not accepted: send one event a request");
  }
  if (type !== "application/cloudevents+json" && type !== "application/cloudevents") {
    throw new BadRequest(`CloudEvents as ${type} are not accepted: send application/cloudevents+json`);
  }
}

async function toEvent(text: string): Promise<Payload> {
  refuseDeep(text, "the body");
  const { data, metadata } = await structuredEvent(withoutMark(text));
  return { text, value: data, beside: { WEBHOOK__METADATA__: metadata } };
}

/** The data is taken as any other body would be; what is not text becomes base64, as it stands in structured mode. */
async function readBinaryEvent(request: Request, header: string, limit: number): Promise<Payload> {
  const beside = { WEBHOOK__METADATA__: await binaryMetadata(request.headers) };
  const bytes = await readBytes(request, limit);
  const text = decoderOf(header).decode(bytes);
  const type = mediaType(header);
  if (bytes.length === 0) return { text, value: {}, beside };
  const isText = type !== "application/octet-stream" && (charsetOf(header) !== undefined || isUtf8(bytes));
  if (isText) return { text, value: (await readAs(type, text)).value, beside };
  return { text, value: Buffer.from(bytes).toString("base64"), beside };
}

/** @param exact keeps a byte order mark, so that the text is what was signed */
async function readSent(request: Request, header: string, limit: number, exact: boolean): Promise<string> {
  if (!exact && charsetOf(header) === undefined) return readText(request, limit);
  return decoderOf(header).decode(await readBytes(request, limit));
}

/** Undefined for UTF-8, which JSON always is (RFC 8259 §8.1, §11). */
function charsetOf(header: string): string | undefined {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header)?.[1]?.toLowerCase();
  return charset === "utf-8" || charset === "utf8" || /json\s*;/i.test(header) ? undefined : charset;
}

/** @throws BadRequest for a charset that is not known */
function decoderOf(header: string): InstanceType<typeof TextDecoder> {
  const charset = charsetOf(header);
  try {
    return new TextDecoder((charset ?? "utf-8") as Bun.Encoding, { ignoreBOM: true });
  } catch {
    throw new BadRequest(`the body's charset ${charset} is not known: send it in UTF-8`);
  }
}

function withoutMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Headers, query parameters and the raw payload that the URL asks for. */
function extrasOf(
  request: Request,
  options: ArgumentOptions,
  text: string,
): Record<string, string> | undefined {
  const always = process.env.INCLUDE_HEADERS;
  if (!options.raw && !options.include_header && !options.include_query && !always) return undefined;
  // Without a prototype every name is an ordinary one.
  const extras: Record<string, string> = Object.create(null);
  for (const name of [...names(always), ...names(options.include_header)].filter(isHeaderName)) {
    const isSecret =
      CREDENTIAL_HEADERS.has(name.toLowerCase()) || name.toLowerCase() === options.secret_header;
    const value = isSecret ? null : request.headers.get(name);
    if (value !== null) extras[name.toLowerCase().replaceAll("-", "_")] = value;
  }
  if (options.include_query) {
    const query = new URL(request.url).searchParams;
    for (const name of names(options.include_query)) {
      if (name === TOKEN_PARAMETER) continue;
      const value = query.getAll(name).at(-1);
      if (value !== undefined) extras[name] = value;
    }
  }
  if (options.raw) extras.raw_string = text;
  return extras;
}

function names(csv: string | undefined): string[] {
  return (csv ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** RFC 9110 §5.1; no request has a header of another name. */
function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

/** A `+` of base64 that was not percent-encoded arrives as a space; some clients percent-encode twice. */
export function decodePayload(payload = ""): string {
  try {
    const base64 = decodeURIComponent(payload).replaceAll(" ", "+");
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(base64)) throw new Error("not base64");
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
    if (text === "") return text;
    refuseDeep(text, "query field `payload`");
    parseJson(text);
    return text;
  } catch (cause) {
    if (cause instanceof NestedTooDeeply) throw cause;
    throw new BadRequest("query field `payload`: must be JSON text in base64 or base64url");
  }
}

function mediaType(header: string): string {
  return header.split(";")[0]!.trim().toLowerCase();
}
