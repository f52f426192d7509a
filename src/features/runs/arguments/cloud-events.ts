/**
 * CloudEvents 1.0 over HTTP: the envelope of an event, apart from its data. Its rules are checked with the package
 * `cloudevents`, which is loaded with the first event. The package's own reading of a request is not used: it makes up
 * the attributes that are missing and leaves headers percent-encoded.
 */
import { BadRequest } from "../../../lib/errors.ts";
import { refuseDeep } from "../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";

/** The attributes of an event, by name; what has a value of null is not there. */
type Attributes = Record<string, unknown>;

export interface Event {
  metadata: Attributes;
  /** Undefined when the event has none; the base64 text of data that is not text. */
  data: unknown;
}

const REQUIRED = ["specversion", "id", "source", "type"];
const OPTIONAL = ["datacontenttype", "dataschema", "subject", "time"];

/**
 * The event of a JSON text (CloudEvents JSON format §3).
 * @throws BadRequest saying what is wrong with it
 */
export async function structuredEvent(text: string): Promise<Event> {
  refuseDeep(text, "the CloudEvent");
  let envelope: unknown;
  try {
    envelope = parseJson(text);
  } catch (cause) {
    throw new BadRequest(`the CloudEvent is not JSON: ${(cause as Error).message}`);
  }
  if (!isJsonObject(envelope)) {
    throw wrong("it must be a JSON object");
  }
  const { data, data_base64, ...metadata } = envelope as Attributes;
  await check(metadata);
  if (data_base64 === undefined || data_base64 === null) return { metadata, data };
  if (data !== undefined && data !== null) throw wrong("it has both `data` and `data_base64`");
  if (typeof data_base64 !== "string" || !isBase64(data_base64)) {
    throw wrong("`data_base64` must be base64 text (RFC 4648 §4)");
  }
  return { metadata, data: data_base64 };
}

/** True for an event in binary mode: its attributes are headers, its data is the body. */
export function isBinaryEvent(headers: Headers): boolean {
  return headers.has("ce-specversion") || headers.has("ce-id");
}

/**
 * The attributes of an event in binary mode (CloudEvents HTTP binding §3.1).
 * @throws BadRequest saying what is wrong with them
 */
export async function binaryMetadata(headers: Headers): Promise<Attributes> {
  const metadata: Attributes = {};
  for (const [name, value] of headers) {
    if (name.startsWith("ce-")) metadata[name.slice(3)] = fromHeader(name, value);
  }
  const type = headers.get("content-type");
  if (type !== null) metadata.datacontenttype = type;
  await check(metadata);
  return metadata;
}

/** §3.1.3.2: a quoted string is unquoted first, then what is percent-encoded is UTF-8. */
function fromHeader(name: string, value: string): string {
  const quoted = /^"(.*)"$/s.exec(value);
  const text = quoted ? quoted[1]!.replace(/\\(.)/g, "$1") : value;
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(`the header ${name} is not percent-encoded UTF-8`);
  }
}

async function check(metadata: Attributes): Promise<void> {
  for (const name of REQUIRED) {
    if (metadata[name] === undefined || metadata[name] === null) throw wrong(`\`${name}\` is missing`);
  }
  const core: Record<string, string> = {};
  for (const name of [...REQUIRED, ...OPTIONAL]) {
    const value = metadata[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string" || value === "") throw wrong(`\`${name}\` must be text, and not empty`);
    core[name] = value;
  }
  if (core.specversion !== "1.0") throw wrong(`\`specversion\` is ${core.specversion}: only 1.0 is accepted`);
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[a-z0-9]+$/.test(name)) {
      throw wrong(`the attribute name ${JSON.stringify(name)} is not of lower-case letters and digits`);
    }
    const simple = value === null || ["string", "boolean"].includes(typeof value) || Number.isInteger(value);
    if (!simple) throw wrong(`\`${name}\` must be text, a whole number or a boolean`);
  }
  const { CloudEvent } = await import("cloudevents");
  try {
    new CloudEvent(core);
  } catch (cause) {
    throw wrong(explain(cause));
  }
}

/** What the package's schema found, in words. */
function explain(cause: unknown): string {
  const { errors, message } = cause as {
    errors?: { instancePath?: string; message?: string }[];
    message: string;
  };
  const found = errors?.map((each) => `\`${each.instancePath?.slice(1)}\` ${each.message}`);
  return found?.length ? found.join("; ") : message;
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function wrong(what: string): BadRequest {
  return new BadRequest(`the CloudEvent is not valid: ${what}`);
}
