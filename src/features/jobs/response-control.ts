/** What a script may say about the HTTP answer of a synchronous call: contract §4.11. */
import { Internal } from "../../errors.ts";
import { control, PREFIXES } from "../../lib/control-keys.ts";

const MARKS = PREFIXES.map((prefix) => `"${prefix}`);

const JSON_TYPE = "application/json";

/**
 * The answer of a synchronous call.
 * @param result the job's result, JSON text
 * @throws Internal when a control key's value cannot be followed; it says which and why
 */
export function resultResponse(result: string, options: { failed: boolean; errorStatus: number }): Response {
  const status = options.failed ? options.errorStatus : 200;
  if (result.startsWith("{") && MARKS.some((mark) => result.includes(mark))) {
    const value = JSON.parse(result) as Record<string, unknown>;
    const controlled = controlledResponse(value, status);
    if (controlled) return controlled;
  }
  return new Response(result, { status, headers: { "content-type": JSON_TYPE } });
}

/** The string under `wm_failure`, which marks a run that returned normally as failed. */
export function failureMark(result: string): string | undefined {
  if (!result.startsWith("{") || !result.includes("_failure")) return undefined;
  const mark = control(JSON.parse(result) as Record<string, unknown>, "failure");
  return typeof mark === "string" ? mark : undefined;
}

function controlledResponse(value: Record<string, unknown>, normal: number): Response | undefined {
  const status = control(value, "status_code");
  const type = control(value, "content_type");
  const headers = control(value, "headers");
  const encoding = control(value, "content_transfer_encoding");
  const failure = control(value, "failure");
  const isHeaders = typeof headers === "object" && headers !== null && !Array.isArray(headers);
  // A key whose value has the wrong type is ordinary JSON, as existing scripts rely on.
  const known =
    typeof status === "number" || typeof type === "string" || isHeaders || typeof failure === "string";
  if (!known && encoding === undefined) return undefined;

  const answer = new Headers();
  if (isHeaders) addHeaders(answer, headers as Record<string, unknown>);
  const has = Object.hasOwn(value, "result");
  const code = typeof status === "number" ? checkStatus(status) : has ? normal : 204;
  const body =
    encoding === undefined ? plainBody(value.result, has) : decodedBody(value.result, encoding, type);
  if (typeof type === "string") setHeader(answer, "content-type", type);
  else if (!answer.has("content-type")) answer.set("content-type", JSON_TYPE);
  contain(answer);
  return new Response(mayHaveBody(code) ? body : null, { status: code, headers: answer });
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

function plainBody(result: unknown, has: boolean): string | null {
  if (!has) return null;
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

function addHeaders(answer: Headers, headers: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") throw new Internal(`wm_headers: the value of ${name} must be a string`);
    if (name.toLowerCase() === "set-cookie" && /^[\s=]*token\s*(=|;|$)/i.test(value)) {
      throw new Internal(
        "wm_headers: a script may not set the cookie `token`, which is the server's session",
      );
    }
    setHeader(answer, name, value);
  }
}

function setHeader(answer: Headers, name: string, value: string): void {
  try {
    answer.set(name, value);
  } catch {
    throw new Internal(
      `wm_headers: ${JSON.stringify(name)} with this value is not a valid header (RFC 9110 §5)`,
    );
  }
}
