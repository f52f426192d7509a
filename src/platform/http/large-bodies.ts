/** Room for large bodies of requests, from when they have come until something was made of them. */
import { LARGE, Room } from "../../lib/async/large-work.ts";

const room = new Room();
const leaving = new WeakMap<Request, () => void>();

/** Resolves when the body, which is read, may be looked into; at once when it is not large. */
export async function enterBody(request: object, bytes: number): Promise<void> {
  if (bytes < LARGE || leaving.has(request as Request)) return;
  leaving.set(request as Request, await room.enter(bytes));
}

/** To be called when nothing is made of the body any more: its job is stored, or the request is answered. */
export function leaveBody(request: Request): void {
  leaving.get(request)?.();
}

/** The same body under another request, which has been read from the first. */
export function sameBody(from: Request, to: Request): Request {
  const leave = leaving.get(from);
  if (leave) leaving.set(to, leave);
  return to;
}
