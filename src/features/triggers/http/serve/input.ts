/** The input of a route's script: its arguments, and the input of its preprocessor. */

import type { ParameterBinding } from "../../../../engines/languages/types.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import { LONG_JSON_CHARACTERS, mergeJsonObjects } from "../../../../lib/json/long-json.ts";
import { type ArgumentSource, createArguments, readPayload } from "../../../runs/arguments/arguments.ts";
import {
  addJsonMembers,
  expectsEvent,
  filterVisibleHeaders,
  filterVisibleQuery,
  formatEvent,
} from "../../../runs/arguments/preprocessor-input.ts";
import type { HttpTrigger } from "../tables.ts";

const TRIGGER_KIND = "http";

export interface RouteInput {
  /** JSON text of an object. */
  args: string;
  preprocessor_input?: string;
}

/** Properties of the request besides its body. */
export interface RouteRequest {
  params: Record<string, string>;
  /** The requested path below `/api/r`. */
  path: string;
  /** The header that authenticated the caller, which is not passed on. */
  secret_header: string | undefined;
}

/**
 * Reads the arguments. Path parameters override fields of the body, which override query parameters, because the
 * route's author relies on the path.
 * @throws BadRequest, PayloadTooLarge
 */
export async function readRouteInput(
  source: ArgumentSource,
  route: HttpTrigger,
  { params, path, secret_header }: RouteRequest,
  preprocessor: ParameterBinding[] | undefined,
): Promise<RouteInput> {
  const { request } = source;
  const isEvent = preprocessor !== undefined && expectsEvent(preprocessor);
  const payload = await readPayload(source, { raw: route.raw_string, exact: isEvent });
  const body = createArguments(payload, request, {
    raw: route.raw_string,
    wrap_body: route.wrap_body,
    secret_header,
  });
  const query = filterVisibleQuery(request);
  const args = mergeRouteArguments(body, query, params);
  if (!preprocessor) return { args };
  const facts = {
    route: route.route_path,
    path,
    method: request.method.toLowerCase(),
    params,
    query,
    headers: filterVisibleHeaders(request, secret_header),
  };
  const preprocessor_input = isEvent
    ? formatEvent(payload, { kind: TRIGGER_KIND, raw_string: payload.text, ...facts })
    : addJsonMembers(args, { wm_trigger: { kind: TRIGGER_KIND, http: facts } });
  return { args, preprocessor_input };
}

/** Merges the arguments as JSON text, so that names such as `__proto__` are ordinary ones. */
export function mergeRouteArguments(
  body: string,
  query: Record<string, string>,
  params: Record<string, string>,
): string {
  if (Object.keys(query).length === 0 && Object.keys(params).length === 0) return body;
  if (body.length > LONG_JSON_CHARACTERS)
    return mergeJsonObjects(JSON.stringify(query), body, JSON.stringify(params));
  return JSON.stringify({ ...query, ...(parseJson(body) as object), ...params });
}
