import { randomText } from "../../../lib/text/ids.ts";

/** Ids made here tell one process from another, and count up within it. */
const prefix = `${randomText(8)}-`;
let made = 0;

/** The caller's own `x-request-id`, where it is short and plain enough for a log line; else a new one. */
export function requestId(request: Request): string {
  const given = request.headers.get("x-request-id");
  if (given !== null && /^[\w.:+=@-]{1,128}$/.test(given)) return given;
  return prefix + (++made).toString(36);
}
