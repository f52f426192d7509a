/** What a request to a route is to a script: its arguments, and what a preprocessor is handed. */

import type { ParameterBinding } from "../../../../engines/languages/types.ts";
import { parseJson } from "../../../../lib/json/json.ts";
import { joinObjects, LONG } from "../../../../lib/json/long.ts";
import { readPayload, type Source, toArguments } from "../../../runs/arguments/arguments.ts";
import {
  eventText,
  headersOf,
  joinMembers,
  queryOf,
  takesEvent,
} from "../../../runs/arguments/preprocessor-input.ts";
import type { HttpTrigger } from "../tables.ts";

const KIND = "http";

export interface RouteInput {
  /** JSON text of an object. */
  args: string;
  preprocessor_input?: string;
}

/** What is known of the request beside its body. */
export interface Asked {
  params: Record<string, string>;
  /** Below `/api/r`, as it was asked for. */
  path: string;
  /** The header that proved who calls, which is not told. */
  secret_header: string | undefined;
}

/**
 * The arguments: parameters of the query, over them the body's, and over both those of the path, which the route's author
 * relies on.
 * @throws BadRequest, PayloadTooLarge
 */
export async function inputOf(
  source: Source,
  route: HttpTrigger,
  { params, path, secret_header }: Asked,
  preprocessor: ParameterBinding[] | undefined,
): Promise<RouteInput> {
  const { request } = source;
  const isEvent = preprocessor !== undefined && takesEvent(preprocessor);
  const payload = await readPayload(source, { raw: route.raw_string, exact: isEvent });
  const body = toArguments(payload, request, {
    raw: route.raw_string,
    wrap_body: route.wrap_body,
    secret_header,
  });
  const query = queryOf(request);
  const args = withNames(body, query, params);
  if (!preprocessor) return { args };
  const facts = {
    route: route.route_path,
    path,
    method: request.method.toLowerCase(),
    params,
    query,
    headers: headersOf(request, secret_header),
  };
  const preprocessor_input = isEvent
    ? eventText(payload, { kind: KIND, raw_string: payload.text, ...facts })
    : joinMembers(args, { wm_trigger: { kind: KIND, http: facts } });
  return { args, preprocessor_input };
}

/** Names of a request are ordinary ones, whatever they are: nothing here has a prototype to change. */
function withNames(body: string, query: Record<string, string>, params: Record<string, string>): string {
  if (Object.keys(query).length === 0 && Object.keys(params).length === 0) return body;
  if (body.length > LONG) return joinObjects(JSON.stringify(query), body, JSON.stringify(params));
  return JSON.stringify({ ...query, ...(parseJson(body) as object), ...params });
}
