/**
 * Turns a webhook request into the arguments object, as JSON text: the runner passes it on unparsed. The common case,
 * a JSON object with nothing to add, is checked once and handed on letter by letter.
 */
import { BadRequest } from "../../errors.ts";
import { readText } from "../../http/input.ts";

export interface ArgumentOptions {
  /** Force the whole payload under the key `body`. */
  wrap_body: boolean;
  /** Add the unparsed payload as `raw_string`. */
  raw: boolean;
  /** Names of headers to pass on, comma separated. */
  include_header?: string | undefined;
  /** Names of query parameters to pass on, comma separated. */
  include_query?: string | undefined;
  /** GET: JSON text of the arguments, base64 or base64url. */
  payload?: string | undefined;
}

const BODILESS = new Set(["GET", "HEAD"]);

/**
 * Reads the request's body and extras into one JSON object.
 * @param limit most bytes of body
 * @returns JSON text of an object
 * @throws BadRequest for what calls itself JSON and is none, PayloadTooLarge
 */
export async function argumentsOf(
  request: Request,
  options: ArgumentOptions,
  limit: number,
): Promise<string> {
  const bodiless = BODILESS.has(request.method);
  const text = bodiless ? decodePayload(options.payload) : await readText(request, limit);
  const type = bodiless ? "application/json" : mediaType(request.headers.get("content-type"));
  if (type.startsWith("multipart/")) {
    throw new BadRequest("form-data needs an object storage, and this workspace has none configured");
  }
  if (type === "application/cloudevents-batch+json") {
    throw new BadRequest("batched CloudEvents are not accepted: send one event a request");
  }
  const extras = extrasOf(request, options, text);
  if (text.trim() === "") return assemble({}, options, extras);
  const isForm = type === "application/x-www-form-urlencoded";
  let value: unknown;
  try {
    // What curl and many senders call a form is often JSON; no form begins like an object.
    if (isForm && !text.startsWith("{")) value = formOf(text);
    else value = JSON.parse(text);
  } catch (cause) {
    if (type === "application/json" || type.endsWith("+json")) {
      throw new BadRequest(`the body is not JSON: ${(cause as Error).message}`);
    }
    if (isForm) return assemble(formOf(text), options, extras);
    return assemble({}, options, { raw_string: text, ...extras });
  }
  if (extras === undefined && !options.wrap_body && !isForm && isObject(value)) return text;
  return assemble(value, options, extras);
}

function formOf(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

function assemble(
  value: unknown,
  options: ArgumentOptions,
  extras: Record<string, string> | undefined,
): string {
  const whole = value === null ? {} : value;
  const args = options.wrap_body || !isObject(whole) ? { body: whole } : whole;
  return JSON.stringify(extras ? { ...args, ...extras } : args);
}

/** Headers, query parameters and the raw payload that the URL asks for. They win over keys of the body. */
function extrasOf(
  request: Request,
  options: ArgumentOptions,
  text: string,
): Record<string, string> | undefined {
  const always = process.env.INCLUDE_HEADERS;
  if (!options.raw && !options.include_header && !options.include_query && !always) return undefined;
  const extras: Record<string, string> = {};
  for (const name of [...names(always), ...names(options.include_header)]) {
    const value = request.headers.get(name);
    if (value !== null) extras[name.toLowerCase().replaceAll("-", "_")] = value;
  }
  if (options.include_query) {
    const query = new URL(request.url).searchParams;
    for (const name of names(options.include_query)) {
      const value = query.get(name);
      if (value !== null) extras[name] = value;
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

function decodePayload(payload: string | undefined): string {
  if (payload === undefined) return "";
  const text = Buffer.from(payload.replaceAll(" ", "+"), "base64").toString("utf8");
  try {
    JSON.parse(text);
  } catch {
    throw new BadRequest("query field `payload`: must be JSON text in base64 or base64url");
  }
  return text;
}

function mediaType(header: string | null): string {
  return (header ?? "").split(";")[0]!.trim().toLowerCase();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
