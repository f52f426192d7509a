/**
 * The notifier of tokens that end. What is stored, a mark on the token with the event and the notices, is stored exactly
 * once (src/features/accounts/tokens/expiry.ts). What is stored arrives:
 *
 * - the event, at the workspace's webhooks: at least once, as all events;
 * - the mail: once, across restarts and servers that stop in an orderly way; a server that is killed between the mail
 *   server's yes and the commit after it leaves a mail that is sent a second time, with the same Message-ID, rather
 *   than one that was never sent;
 * - the alert: once, since the same alert again only counts.
 */
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { announceEnds, endTokens, PIECE } from "./expiry.ts";
import { tellNotices } from "./notices.ts";

const INTERVAL_MS = 30_000;

/** One round: returns when nothing is left to end, to announce and to tell. */
export async function tendTokens(app: App, isStopping: () => boolean = () => false): Promise<void> {
  // First what is over: of such a token nobody is told that it ends soon.
  for (const step of [endTokens, announceEnds]) {
    while (!isStopping() && (await step(app)) === PIECE);
  }
  await tellNotices(app, isStopping);
}

export function createTokenNotifier(app: App): PeriodicTask {
  return createPeriodicTask(app, {
    of_leader: "token ends",
    failure: "ending tokens could not be looked after",
    interval_ms: INTERVAL_MS,
    run: (_now, stopping) => tendTokens(app, () => stopping.aborted),
  });
}
