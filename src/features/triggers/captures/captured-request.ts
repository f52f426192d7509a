/** Reads a request to be captured: the resulting arguments, with likely secrets masked. */
import { BadRequest } from "../../../lib/errors.ts";
import { readBytes } from "../../../platform/http/input.ts";
import { createArguments, readTextPayload } from "../../runs/arguments/arguments.ts";
import { type Payload, parsePayload } from "../../runs/arguments/payload.ts";
import {
  filterVisibleHeaders,
  filterVisibleQuery,
  formatEvent,
} from "../../runs/arguments/preprocessor-input.ts";
import { parseRoute, RouteTable } from "../http/route-table.ts";
import { mergeRouteArguments } from "../http/serve/input.ts";
import type { CapturedInput } from "./captures.ts";
import { MASK, maskQuerySecrets, SECRET_NAME } from "./mask.ts";

const MAX_BODY_BYTES = 1_000_000;
const METHODS_WITHOUT_BODY = new Set(["GET", "HEAD"]);

/** Options in a webhook's URL that determine its arguments. */
export interface WebhookOptions {
  raw: boolean;
  wrap_body: boolean;
  include_header?: string | undefined;
  include_query?: string | undefined;
}

/** Reads a webhook request to be captured. @throws BadRequest, PayloadTooLarge */
export async function readWebhookCapture(request: Request, options: WebhookOptions): Promise<CapturedInput> {
  const shown = maskSecrets(request);
  const payload = await readCapturedPayload(request);
  const facts = { kind: "webhook", ...describeRequest(shown, payload) };
  return {
    main_args: createArguments(payload, shown, options),
    preprocessor_args: formatEvent(payload, facts),
  };
}

/**
 * Reads a request to an HTTP route to be captured.
 * @param path the requested path, below the capture URL
 * @param config the route's settings: `route_path` gives the parameters, `raw_string` and `wrap_body` the form of the
 * arguments
 * @throws BadRequest, PayloadTooLarge
 */
export async function readRouteCapture(
  request: Request,
  path: string,
  config: Record<string, unknown>,
): Promise<CapturedInput> {
  const shown = maskSecrets(request);
  const payload = await readCapturedPayload(request);
  const method = request.method.toLowerCase();
  const pattern = typeof config.route_path === "string" ? config.route_path : undefined;
  const route = pattern ?? path;
  const params = pattern === undefined ? {} : findParameters(pattern, method, path);
  const { query, ...facts } = describeRequest(shown, payload);
  const options = { raw: config.raw_string === true, wrap_body: config.wrap_body === true };
  const event = { kind: "http", ...facts, route, path: `/${path}`, method, params, query };
  return {
    main_args: mergeRouteArguments(createArguments(payload, shown, options), query, params),
    preprocessor_args: formatEvent(payload, event),
  };
}

function describeRequest(shown: Request, { text }: Payload) {
  return { raw_string: text, headers: filterVisibleHeaders(shown), query: filterVisibleQuery(shown) };
}

function findParameters(route: string, method: string, path: string): Record<string, string> {
  const place = { workspace_id: "", workspaced_route: false, is_static_website: false };
  const table = new RouteTable<typeof place & { route_path: string; http_method: string }>();
  table.add({ ...place, route_path: parseRoute(route), http_method: method });
  return table.find(method, path.split("/"))?.params ?? {};
}

/** Copies the request without its body and without callers' credentials, which a script does not need to see. */
function maskSecrets({ url, method, headers }: Request): Request {
  const masked = [...headers].map(([name, value]) => [name, SECRET_NAME.test(name) ? MASK : value]);
  return new Request(maskQuerySecrets(url), { method, headers: masked as [string, string][] });
}

async function readCapturedPayload(request: Request): Promise<Payload> {
  if (METHODS_WITHOUT_BODY.has(request.method)) return parsePayload("application/json", "");
  const type = request.headers.get("content-type") ?? "";
  if (/^\s*multipart\//i.test(type)) return readForm(request, type);
  return readTextPayload({ request, limit: MAX_BODY_BYTES }, true);
}

/** Reads a form. Files are not kept; their fields contain name, type and size. */
async function readForm(request: Request, type: string): Promise<Payload> {
  const bytes = await readBytes(request, MAX_BODY_BYTES);
  const value: Record<string, unknown> = Object.create(null);
  try {
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    for (const name of new Set(form.keys())) {
      const parts = form.getAll(name).map(describePart);
      value[name] = parts.length === 1 ? parts[0] : parts;
    }
  } catch (cause) {
    throw new BadRequest("the body is not a valid multipart form", { cause });
  }
  return { text: "", value };
}

function describePart(part: string | File): unknown {
  return typeof part === "string" ? part : { filename: part.name, content_type: part.type, size: part.size };
}
