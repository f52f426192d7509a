/**
 * What a preprocessor is handed of a webhook request. It tells by its own parameters which of two things it takes: a
 * single parameter `event` is given the request, any others the arguments by name, and beside them `wm_trigger`.
 */

import type { ParameterBinding } from "../../../engines/languages/types.ts";
import { withMembers } from "../../../lib/json/json.ts";
import { joinObjects, LONG } from "../../../lib/json/long.ts";
import { CREDENTIAL_HEADERS, TOKEN_PARAMETER } from "../../../platform/http/door/credentials.ts";
import { type ArgumentOptions, readPayload, type Source, toArguments } from "./arguments.ts";
import type { Payload } from "./payload.ts";

const KIND = "webhook";

export interface Preprocessed {
  /** The arguments as they would be without a preprocessor: what the job shows until it has run. */
  args: string;
  /** JSON text of the preprocessor's own arguments object. */
  preprocessor_input: string;
}

/**
 * @param parameters those of the preprocessor
 * @throws BadRequest, PayloadTooLarge
 */
export async function preprocessedArguments(
  source: Source,
  options: ArgumentOptions,
  parameters: ParameterBinding[],
): Promise<Preprocessed> {
  const { request } = source;
  const takes = takesEvent(parameters);
  const payload = await readPayload(source, { ...options, exact: takes });
  const args = toArguments(payload, request, options);
  const preprocessor_input = takes
    ? eventText(payload, eventOf(request, payload))
    : joinMembers(args, { wm_trigger: { kind: KIND } });
  return { args, preprocessor_input };
}

/** Whether it is handed one event, rather than arguments by name. */
export function takesEvent(parameters: ParameterBinding[]): boolean {
  const [first, ...others] = parameters;
  return others.length === 0 && first?.name === "event" && first.kind === "named";
}

/** The event as the preprocessor's only argument. The payload stands in `body` as it was sent, whatever its shape. */
export function eventText(payload: Payload, facts: { kind: string; raw_string: string }): string {
  if (payload.isLong) return `{"event":${joinObjects(JSON.stringify(facts), `{"body":${payload.json}}`)}}`;
  const { kind, ...others } = facts;
  return JSON.stringify({ event: { kind, body: payload.value ?? {}, ...others } });
}

/** Arguments with members beside them, which win. */
export function joinMembers(args: string, members: object): string {
  return args.length > LONG ? joinObjects(args, JSON.stringify(members)) : withMembers(args, members);
}

function eventOf(request: Request, payload: Payload) {
  return {
    kind: KIND,
    raw_string: payload.text,
    headers: headersOf(request),
    query: queryOf(request),
  };
}

/** What a request's headers tell a script: all but credentials. @param but the name of another one that is none of it */
export function headersOf(request: Request, but?: string): Record<string, string> {
  const told = [...request.headers].filter(([name]) => !CREDENTIAL_HEADERS.has(name) && name !== but);
  return Object.fromEntries(told);
}

/** The same of its query: all but the caller's token. */
export function queryOf(request: Request): Record<string, string> {
  return Object.fromEntries(
    [...new URL(request.url).searchParams].filter(([name]) => name !== TOKEN_PARAMETER),
  );
}
