/**
 * The input of a preprocessor for a webhook request. A preprocessor with the single parameter `event` gets the request;
 * any other gets the arguments by name, and `wm_trigger`.
 */

import type { ParameterBinding } from "../../../engines/languages/types.ts";
import { mergeMembers } from "../../../lib/json/json.ts";
import { LONG_JSON_CHARACTERS, mergeJsonObjects } from "../../../lib/json/long-json.ts";
import { CREDENTIAL_HEADERS, TOKEN_PARAMETER } from "../../../platform/http/guards/credentials.ts";
import { type ArgumentOptions, type ArgumentSource, createArguments, readPayload } from "./arguments.ts";
import type { Payload } from "./payload.ts";

const TRIGGER_KIND = "webhook";

export interface PreprocessorArguments {
  /** The arguments without a preprocessor: shown as the job's until the preprocessor has run. */
  args: string;
  /** JSON text of the preprocessor's arguments object. */
  preprocessor_input: string;
}

/**
 * Reads the arguments of a script or flow with a preprocessor.
 * @param parameters of the preprocessor
 * @throws BadRequest, PayloadTooLarge
 */
export async function readPreprocessorArguments(
  source: ArgumentSource,
  options: ArgumentOptions,
  parameters: ParameterBinding[],
): Promise<PreprocessorArguments> {
  const { request } = source;
  const takes = expectsEvent(parameters);
  const payload = await readPayload(source, { ...options, exact: takes });
  const args = createArguments(payload, request, options);
  const preprocessor_input = takes
    ? formatEvent(payload, createEvent(request, payload))
    : addJsonMembers(args, { wm_trigger: { kind: TRIGGER_KIND } });
  return { args, preprocessor_input };
}

/** Returns whether the preprocessor takes one `event` instead of arguments by name. */
export function expectsEvent(parameters: ParameterBinding[]): boolean {
  const [first, ...others] = parameters;
  return others.length === 0 && first?.name === "event" && first.kind === "named";
}

/** Formats the event as the preprocessor's only argument, with the payload in `body` as it was sent. */
export function formatEvent(payload: Payload, facts: { kind: string; raw_string: string }): string {
  if (payload.isLong)
    return `{"event":${mergeJsonObjects(JSON.stringify(facts), `{"body":${payload.json}}`)}}`;
  const { kind, ...others } = facts;
  return JSON.stringify({ event: { kind, body: payload.value ?? {}, ...others } });
}

/** Adds members to the arguments' JSON text; they override existing ones. */
export function addJsonMembers(args: string, members: object): string {
  return args.length > LONG_JSON_CHARACTERS
    ? mergeJsonObjects(args, JSON.stringify(members))
    : mergeMembers(args, members);
}

function createEvent(request: Request, payload: Payload) {
  return {
    kind: TRIGGER_KIND,
    raw_string: payload.text,
    headers: filterVisibleHeaders(request),
    query: filterVisibleQuery(request),
  };
}

/** Returns the request's headers without credentials. @param but name of another header to leave out */
export function filterVisibleHeaders(request: Request, but?: string): Record<string, string> {
  const told = [...request.headers].filter(([name]) => !CREDENTIAL_HEADERS.has(name) && name !== but);
  return Object.fromEntries(told);
}

/** Returns the request's query without the caller's token. */
export function filterVisibleQuery(request: Request): Record<string, string> {
  return Object.fromEntries(
    [...new URL(request.url).searchParams].filter(([name]) => name !== TOKEN_PARAMETER),
  );
}
