import { createRandomText } from "../../../lib/text/ids.ts";

/** Generated ids: a random prefix per process, and a counter. */
const prefix = `${createRandomText(8)}-`;
let idCount = 0;

/** Returns the caller's `x-request-id` if it is short and plain enough for a log line, else a new id. */
export function resolveRequestId(request: Request): string {
  const given = request.headers.get("x-request-id");
  if (given !== null && /^[\w.:+=@-]{1,128}$/.test(given)) return given;
  return prefix + (++idCount).toString(36);
}
