/** Response controls: how a script's result determines the HTTP response of a synchronous call (contract §4.11). */

import { Internal } from "../../../lib/errors.ts";
import {
  findControlKeyError,
  parseControlledResult,
  readControlKey,
} from "../../../lib/json/control-keys.ts";
import type { App } from "../../../platform/app/context.ts";
import { addScriptHeaders, setScriptHeader } from "./script-headers.ts";

const JSON_TYPE = "application/json";

/**
 * Returns the status of a synchronous call whose script failed: as the call requests, else as the instance is
 * configured.
 */
export function getErrorStatus(app: App, asked?: boolean): number {
  return (asked ?? app.settings.get("error_status")) ? 500 : 200;
}

/**
 * Creates the response of a synchronous call.
 * @param result the job's result, JSON text
 * @throws Internal for an invalid control key, saying which and why
 */
export function createResultResponse(
  result: string,
  options: { failed: boolean; errorStatus: number },
): Response {
  const status = options.failed ? options.errorStatus : 200;
  const value = parseControlledResult(result);
  if (value) return createControlledResponse(value, status);
  return new Response(result, { status, headers: { "content-type": JSON_TYPE } });
}

/** Returns whether the result of a successful run declares a failure, or has an invalid control key. */
export function readControlledOutcome(result: string): { failed: boolean; fault?: string | undefined } {
  const value = parseControlledResult(result);
  if (!value) return { failed: false };
  return { failed: readControlKey(value, "failure") !== undefined, fault: findControlKeyError(value) };
}

/** Creates the HTTP response that a result with control keys describes. @throws Internal */
function createControlledResponse(value: Record<string, unknown>, normal: number): Response {
  const fault = findControlKeyError(value);
  if (fault !== undefined) throw new Internal(fault);
  const status = readControlKey(value, "status_code") as number | undefined;
  const type = readControlKey(value, "content_type") as string | undefined;
  const headers = readControlKey(value, "headers") as Record<string, string> | undefined;
  const encoding = readControlKey(value, "content_transfer_encoding");

  const answer = new Headers();
  if (headers) addScriptHeaders(answer, headers);
  const said = Object.hasOwn(value, "result") ? { result: value.result } : readFailure(value);
  const code = status === undefined ? (said ? normal : 204) : parseStatus(status);
  const body =
    encoding === undefined ? said && encodeBody(said.result) : decodeBody(value.result, encoding, type);
  if (type !== undefined) setScriptHeader(answer, "content-type", type);
  else if (!answer.has("content-type")) answer.set("content-type", JSON_TYPE);
  sandboxPage(answer);
  return new Response(canHaveBody(code) ? body : null, { status: code, headers: answer });
}

/** Returns the response of a run that declares a failure without `result`: its error, as for any failed run. */
function readFailure(value: Record<string, unknown>): { result: unknown } | undefined {
  const message = readControlKey(value, "failure");
  if (message === undefined) return undefined;
  return { result: { error: value.error ?? { name: "Error", message } } };
}

/**
 * Sandboxes HTML from scripts. It is served from the API's origin, where the reader may have a session, so it must not
 * act as the reader. Further policies of the script can only restrict it more (Content Security Policy 3 §2.2).
 */
function sandboxPage(answer: Headers): void {
  answer.set("x-content-type-options", "nosniff");
  if (!/html|xml|svg|xsl|multipart/i.test(answer.get("content-type") ?? "")) return;
  answer.append(
    "content-security-policy",
    "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts",
  );
}

function encodeBody(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

function decodeBody(result: unknown, encoding: unknown, type: unknown): Uint8Array<ArrayBuffer> {
  if (encoding !== "base64") {
    throw new Internal(
      `wm_content_transfer_encoding is ${JSON.stringify(encoding)}: only "base64" is supported`,
    );
  }
  if (typeof type !== "string") {
    throw new Internal("wm_content_transfer_encoding needs wm_content_type, the type of the decoded bytes");
  }
  if (typeof result !== "string")
    throw new Internal("wm_content_transfer_encoding needs `result` to be a base64 string");
  const clean = result.replace(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(clean) || clean.length % 4 === 1) {
    throw new Internal("`result` is not valid base64 (RFC 4648 §4)");
  }
  return new Uint8Array(Buffer.from(clean, "base64"));
}

/** Validates a response status (RFC 9110 §15): three digits, the first one 1 to 5. A final response cannot be 1xx. */
function parseStatus(status: number): number {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Internal(
      `Invalid status code: wm_status_code is ${status}, and must be a final status from 200 to 599`,
    );
  }
  return status;
}

function canHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
