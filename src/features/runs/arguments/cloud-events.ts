/**
 * CloudEvents 1.0 over HTTP: attributes and data. The attributes are validated with the package `cloudevents`, loaded
 * with the first event. Its own parser is not used: it invents missing attributes and leaves headers percent-encoded.
 */
import { BadRequest } from "../../../lib/errors.ts";
import { requireJsonDepth } from "../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";

/** Attributes of an event by name. A null value means that the attribute is missing. */
type EventAttributes = Record<string, unknown>;

export interface CloudEventContent {
  metadata: EventAttributes;
  /** The data: undefined if there is none, base64 text if it is binary. */
  data: unknown;
}

const REQUIRED_ATTRIBUTES = ["specversion", "id", "source", "type"];
const OPTIONAL_ATTRIBUTES = ["datacontenttype", "dataschema", "subject", "time"];

/**
 * Parses an event in structured mode (CloudEvents JSON format §3).
 * @throws BadRequest saying what is wrong with it
 */
export async function parseStructuredEvent(text: string): Promise<CloudEventContent> {
  requireJsonDepth(text, "the CloudEvent");
  let envelope: unknown;
  try {
    envelope = parseJson(text);
  } catch (cause) {
    throw new BadRequest(`the CloudEvent is not JSON: ${(cause as Error).message}`);
  }
  if (!isJsonObject(envelope)) {
    throw invalidEvent("it must be a JSON object");
  }
  const { data, data_base64, ...metadata } = envelope as EventAttributes;
  await requireValidAttributes(metadata);
  if (data_base64 === undefined || data_base64 === null) return { metadata, data };
  if (data !== undefined && data !== null) throw invalidEvent("it has both `data` and `data_base64`");
  if (typeof data_base64 !== "string" || !isBase64(data_base64)) {
    throw invalidEvent("`data_base64` must be base64 text (RFC 4648 §4)");
  }
  return { metadata, data: data_base64 };
}

/** Returns whether the request is an event in binary mode: attributes in headers, data in the body. */
export function isBinaryEvent(headers: Headers): boolean {
  return headers.has("ce-specversion") || headers.has("ce-id");
}

/**
 * Parses the attributes of an event in binary mode (CloudEvents HTTP binding §3.1).
 * @throws BadRequest saying what is wrong with them
 */
export async function parseBinaryAttributes(headers: Headers): Promise<EventAttributes> {
  const metadata: EventAttributes = {};
  for (const [name, value] of headers) {
    if (name.startsWith("ce-")) metadata[name.slice(3)] = decodeAttribute(name, value);
  }
  const type = headers.get("content-type");
  if (type !== null) metadata.datacontenttype = type;
  await requireValidAttributes(metadata);
  return metadata;
}

/** Decodes an attribute's header (§3.1.3.2): unquotes a quoted string, then percent-decodes it as UTF-8. */
function decodeAttribute(name: string, value: string): string {
  const quoted = /^"(.*)"$/s.exec(value);
  const text = quoted ? quoted[1]!.replace(/\\(.)/g, "$1") : value;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidEvent(`the header ${name} is not percent-encoded UTF-8`);
  }
}

async function requireValidAttributes(metadata: EventAttributes): Promise<void> {
  for (const name of REQUIRED_ATTRIBUTES) {
    if (metadata[name] === undefined || metadata[name] === null) throw invalidEvent(`\`${name}\` is missing`);
  }
  const core: Record<string, string> = {};
  for (const name of [...REQUIRED_ATTRIBUTES, ...OPTIONAL_ATTRIBUTES]) {
    const value = metadata[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string" || value === "")
      throw invalidEvent(`\`${name}\` must be text, and not empty`);
    core[name] = value;
  }
  if (core.specversion !== "1.0")
    throw invalidEvent(`\`specversion\` is ${core.specversion}: only 1.0 is accepted`);
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[a-z0-9]+$/.test(name)) {
      throw invalidEvent(
        `the attribute name ${JSON.stringify(name)} is not of lower-case letters and digits`,
      );
    }
    const simple = value === null || ["string", "boolean"].includes(typeof value) || Number.isInteger(value);
    if (!simple) throw invalidEvent(`\`${name}\` must be text, a whole number or a boolean`);
  }
  const { CloudEvent } = await import("cloudevents");
  try {
    new CloudEvent(core);
  } catch (cause) {
    throw invalidEvent(describeSchemaErrors(cause));
  }
}

/** Describes the errors of the package's schema validation. */
function describeSchemaErrors(cause: unknown): string {
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

function invalidEvent(what: string): BadRequest {
  return new BadRequest(`the CloudEvent is not valid: ${what}`);
}
