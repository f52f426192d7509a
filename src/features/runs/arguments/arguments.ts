/**
 * Turns a webhook request into the job's arguments, as JSON text that the runner passes on unparsed. A plain JSON
 * object is only validated and passed on unchanged. If a name occurs twice (JSON keys, form fields, query parameters),
 * the last one counts.
 */
import { isUtf8 } from "node:buffer";
import type { Awaitable } from "../../../lib/async/awaitable.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { NestedTooDeeply, requireJsonDepth } from "../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";
import { mergeJsonObjects } from "../../../lib/json/long-json.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { CREDENTIAL_HEADERS, TOKEN_PARAMETER } from "../../../platform/http/guards/credentials.ts";
import { readBytes, readText } from "../../../platform/http/input.ts";
import { isBinaryEvent, parseBinaryAttributes, parseStructuredEvent } from "./cloud-events.ts";
import { type ContentType, contentTypeOf, createDecoder } from "./content-type.ts";
import { readFormArguments } from "./form-data.ts";
import { isObjectPayload, JSON_TYPE, type Payload, parsePayload } from "./payload.ts";

export interface ArgumentOptions {
  /** Puts the whole payload under the key `body`. */
  wrap_body: boolean;
  /** Adds the unparsed payload as `raw_string`. */
  raw: boolean;
  /** Names of headers to add as arguments, comma separated. */
  include_header?: string | undefined;
  /** A header that authenticated the caller: never added as an argument. */
  secret_header?: string | undefined;
  /** Names of query parameters to add as arguments, comma separated. */
  include_query?: string | undefined;
  /** On GET requests: JSON text of the arguments, in base64 or base64url. */
  payload?: string | undefined;
}

/** A request to read arguments from. */
export interface ArgumentSource {
  ctx: WorkspaceContext;
  /** The caller's request, or a copy with its body read and verified. */
  request: Request;
  /** Maximum size of the body in bytes. */
  limit: number;
}

const METHODS_WITHOUT_BODY = new Set(["GET", "HEAD"]);

/**
 * Reads the body, and headers and query parameters that were asked for, into one JSON object.
 * @returns JSON text of an object
 * @throws BadRequest for an invalid form or CloudEvent, PayloadTooLarge
 */
export async function readRequestArguments(
  source: ArgumentSource,
  options: ArgumentOptions,
): Promise<string> {
  return createArguments(await readPayload(source, options), source.request, options);
}

/** Creates the arguments object, as JSON text. Extras that the URL asks for override keys of the body. */
export function createArguments(payload: Payload, request: Request, options: ArgumentOptions): string {
  const { text, json, isPlainText, extra_args } = payload;
  const extras = createExtras(request, options, text);
  const isAlone = !extras && !extra_args && !options.wrap_body;
  if (json !== undefined && isAlone && isObjectPayload(payload)) return json;
  if (payload.isLong) {
    const isWhole = options.wrap_body || !isObjectPayload(payload);
    return mergeJsonObjects(
      isWhole ? `{"body":${json}}` : json!,
      JSON.stringify({ ...extra_args, ...extras }),
    );
  }
  const args = { ...payloadArguments(payload.value ?? {}, options.wrap_body, isPlainText), ...extra_args };
  if (isPlainText) args.raw_string = text;
  return JSON.stringify(extras ? { ...args, ...extras } : args);
}

function payloadArguments(
  value: unknown,
  wrap: boolean,
  isPlain: boolean | undefined,
): Record<string, unknown> {
  if (wrap) return { body: value };
  if (isPlain) return {};
  return isJsonObject(value) ? value : { body: value };
}

/**
 * Reads and parses the request's payload by its content type. A body of any type is tried as JSON first.
 * @throws (or rejects with) BadRequest, PayloadTooLarge
 */
export function readPayload(
  source: ArgumentSource,
  options: Pick<ArgumentOptions, "raw" | "payload"> & { exact?: boolean },
): Awaitable<Payload> {
  const { request, limit } = source;
  if (METHODS_WITHOUT_BODY.has(request.method))
    return parsePayload(JSON_TYPE, decodePayload(options.payload));
  const type = contentTypeOf(request);
  if (type.name.startsWith("multipart/")) return readMultipartPayload(source, options.raw);
  return readTextPayload({ request, limit }, options.raw || (options.exact ?? false), type);
}

async function readMultipartPayload(
  { ctx, request, limit }: ArgumentSource,
  isRaw: boolean,
): Promise<Payload> {
  const sent: Uint8Array[] = [];
  const value = await readFormArguments(ctx, request, limit, isRaw ? (piece) => sent.push(piece) : undefined);
  return { text: Buffer.concat(sent).toString(), value };
}

/**
 * Reads and parses a payload that is not multipart.
 * @param exact keeps a byte order mark
 * @throws BadRequest, PayloadTooLarge
 */
export async function readTextPayload(
  { request, limit }: Pick<ArgumentSource, "request" | "limit">,
  exact: boolean,
  type: ContentType = contentTypeOf(request),
): Promise<Payload> {
  const isEvent = type.name.startsWith("application/cloudevents");
  if (isEvent) requireJsonFormat(type.name);
  else if (isBinaryEvent(request.headers)) return readBinaryEvent(request, type, limit);
  const text = await readBodyText(request, type, limit, exact);
  return isEvent ? parseEvent(text) : parsePayload(type.name, text);
}

function requireJsonFormat(type: string): void {
  if (type.startsWith("application/cloudevents-batch")) {
    throw new BadRequest("batched CloudEvents are not accepted: send one event a request");
  }
  if (type !== "application/cloudevents+json" && type !== "application/cloudevents") {
    throw new BadRequest(`CloudEvents as ${type} are not accepted: send application/cloudevents+json`);
  }
}

async function parseEvent(text: string): Promise<Payload> {
  requireJsonDepth(text, "the body");
  const { data, metadata } = await parseStructuredEvent(stripByteOrderMark(text));
  return { text, value: data, extra_args: { WEBHOOK__METADATA__: metadata } };
}

/**
 * Reads an event in binary mode: its data is read like any other body. Binary data becomes base64, as in structured
 * mode.
 */
async function readBinaryEvent(request: Request, type: ContentType, limit: number): Promise<Payload> {
  const beside = { WEBHOOK__METADATA__: await parseBinaryAttributes(request.headers) };
  const bytes = await readBytes(request, limit);
  const text = createDecoder(type).decode(bytes);
  if (bytes.length === 0) return { text, value: {}, extra_args: beside };
  const isText = type.name !== "application/octet-stream" && (type.charset !== undefined || isUtf8(bytes));
  if (isText) return { text, value: (await parsePayload(type.name, text)).value, extra_args: beside };
  return { text, value: Buffer.from(bytes).toString("base64"), extra_args: beside };
}

/**
 * Reads the body of a request as text.
 * @param exact keeps a byte order mark, so that the text equals the signed bytes
 */
function readBodyText(request: Request, type: ContentType, limit: number, exact: boolean): Promise<string> {
  if (!exact && type.charset === undefined) return readText(request, limit);
  return readDecodedText(request, type, limit);
}

async function readDecodedText(request: Request, type: ContentType, limit: number): Promise<string> {
  return createDecoder(type).decode(await readBytes(request, limit));
}

function stripByteOrderMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** Returns the headers, query parameters and raw payload that the URL asks for. */
function createExtras(
  request: Request,
  options: ArgumentOptions,
  text: string,
): Record<string, string> | undefined {
  const always = process.env.INCLUDE_HEADERS;
  if (!options.raw && !options.include_header && !options.include_query && !always) return undefined;
  // An object without prototype, so that names such as `__proto__` are ordinary keys.
  const extras: Record<string, string> = Object.create(null);
  for (const name of [...parseNames(always), ...parseNames(options.include_header)].filter(isHeaderName)) {
    const isSecret =
      CREDENTIAL_HEADERS.has(name.toLowerCase()) || name.toLowerCase() === options.secret_header;
    const value = isSecret ? null : request.headers.get(name);
    if (value !== null) extras[name.toLowerCase().replaceAll("-", "_")] = value;
  }
  if (options.include_query) {
    const query = new URL(request.url).searchParams;
    for (const name of parseNames(options.include_query)) {
      if (name === TOKEN_PARAMETER) continue;
      const value = query.getAll(name).at(-1);
      if (value !== undefined) extras[name] = value;
    }
  }
  if (options.raw) extras.raw_string = text;
  return extras;
}

function parseNames(csv: string | undefined): string[] {
  return (csv ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Whether a text is a header name (RFC 9110 §5.1). Other names occur in no request. */
function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
}

/**
 * Decodes the query field `payload`. An unencoded `+` of base64 arrives as a space, and some clients percent-encode
 * twice.
 */
export function decodePayload(payload = ""): string {
  try {
    const base64 = decodeURIComponent(payload).replaceAll(" ", "+");
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(base64)) throw new Error("not base64");
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(base64, "base64"));
    if (text === "") return text;
    requireJsonDepth(text, "query field `payload`");
    parseJson(text);
    return text;
  } catch (cause) {
    if (cause instanceof NestedTooDeeply) throw cause;
    throw new BadRequest("query field `payload`: must be JSON text in base64 or base64url");
  }
}
