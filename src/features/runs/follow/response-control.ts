/** What a script may say about the HTTP answer of a synchronous call: contract §4.11. */

import { Internal } from "../../../lib/errors.ts";
import { control, controlFault, controlledResult } from "../../../lib/json/control-keys.ts";
import type { App } from "../../../platform/app/context.ts";
import { addHeaders, setHeader } from "./answer-headers.ts";

const JSON_TYPE = "application/json";

/** With which status a synchronous call answers when the script fails: as the call asks, else as the instance has it. */
export function errorStatusOf(app: App, asked?: boolean): number {
  return (asked ?? app.settings.get("error_status")) ? 500 : 200;
}

/**
 * The answer of a synchronous call.
 * @param result the job's result, JSON text
 * @throws Internal when a control key's value cannot be followed; it says which and why
 */
export function resultResponse(result: string, options: { failed: boolean; errorStatus: number }): Response {
  const status = options.failed ? options.errorStatus : 200;
  const value = controlledResult(result);
  if (value) return controlledResponse(value, status);
  return new Response(result, { status, headers: { "content-type": JSON_TYPE } });
}

/** What a run that returned normally says of its own end: that it has failed, or something that cannot be followed. */
export function endByResult(result: string): { failed: boolean; fault?: string | undefined } {
  const value = controlledResult(result);
  if (!value) return { failed: false };
  return { failed: control(value, "failure") !== undefined, fault: controlFault(value) };
}

/** @throws Internal */
function controlledResponse(value: Record<string, unknown>, normal: number): Response {
  const fault = controlFault(value);
  if (fault !== undefined) throw new Internal(fault);
  const status = control(value, "status_code") as number | undefined;
  const type = control(value, "content_type") as string | undefined;
  const headers = control(value, "headers") as Record<string, string> | undefined;
  const encoding = control(value, "content_transfer_encoding");

  const answer = new Headers();
  if (headers) addHeaders(answer, headers);
  const said = Object.hasOwn(value, "result") ? { result: value.result } : failureOf(value);
  const code = status === undefined ? (said ? normal : 204) : checkStatus(status);
  const body =
    encoding === undefined ? said && plainBody(said.result) : decodedBody(value.result, encoding, type);
  if (type !== undefined) setHeader(answer, "content-type", type);
  else if (!answer.has("content-type")) answer.set("content-type", JSON_TYPE);
  contain(answer);
  return new Response(mayHaveBody(code) ? body : null, { status: code, headers: answer });
}

/** What a run that says it has failed tells its caller, where it gives no `result`: its error, as any other's. */
function failureOf(value: Record<string, unknown>): { result: unknown } | undefined {
  const message = control(value, "failure");
  if (message === undefined) return undefined;
  return { result: { error: value.error ?? { name: "Error", message } } };
}

/**
 * What a script answers comes from the API's own origin, where whoever opens it may have a session: a page of its making
 * must not act as them. It may run its own code, apart from this origin; a policy of its own can only forbid it more
 * (Content Security Policy 3 §2.2: of several policies each holds).
 */
function contain(answer: Headers): void {
  answer.set("x-content-type-options", "nosniff");
  if (!/html|xml|svg|xsl|multipart/i.test(answer.get("content-type") ?? "")) return;
  answer.append(
    "content-security-policy",
    "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts",
  );
}

function plainBody(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result);
}

function decodedBody(result: unknown, encoding: unknown, type: unknown): Uint8Array<ArrayBuffer> {
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

/** RFC 9110 §15: three digits, the first one 1 to 5; 1xx cannot be a final answer. */
function checkStatus(status: number): number {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Internal(
      `Invalid status code: wm_status_code is ${status}, and must be a final status from 200 to 599`,
    );
  }
  return status;
}

function mayHaveBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
