/** Slots for large request bodies, held from receipt until the body has been processed. */
import { ByteSemaphore, LARGE_BYTES } from "../../lib/async/byte-semaphore.ts";

const bodySlots = new ByteSemaphore();
const releases = new WeakMap<Request, () => void>();

/** Resolves when a received body may be processed; at once if it is small. */
export async function acquireBodySlot(request: object, bytes: number): Promise<void> {
  if (bytes < LARGE_BYTES || releases.has(request as Request)) return;
  releases.set(request as Request, await bodySlots.enter(bytes));
}

/** Releases the slot. Call it once the body is no longer needed: its job is stored, or the response is sent. */
export function releaseBodySlot(request: Request): void {
  releases.get(request)?.();
}

/** Moves the slot to a request that was created from the first one's body. */
export function transferBodySlot(from: Request, to: Request): Request {
  const leave = releases.get(from);
  if (leave) releases.set(to, leave);
  return to;
}
