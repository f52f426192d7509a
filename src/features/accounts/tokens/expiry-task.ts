/**
 * The background task for expiring tokens. Marks, events and notices are stored exactly once (`expired-tokens.ts`).
 * Their delivery:
 *
 * - The event reaches the workspace's webhooks at least once, like all events.
 * - The mail is sent once, across restarts and orderly stops. If a server is killed between the mail server's
 * acceptance and the commit, the mail is sent again with the same Message-ID.
 * - The alert is raised once, since a repeated alert only increases a counter.
 *
 * `expired-tokens.ts` stores marks, deletions, events and notices in one transaction; `notices.ts` sends mails and
 * alerts, each from one server.
 */
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { announceExpiringTokens, deleteExpiredTokens, TOKEN_BATCH_SIZE } from "./expired-tokens.ts";
import { sendNotices } from "./notices.ts";

const SCAN_INTERVAL_MS = 30_000;

/** Runs one pass: returns when nothing is left to delete, announce or send. */
export async function expireTokens(app: App, isStopping: () => boolean = () => false): Promise<void> {
  // Expired tokens first, so that nobody is notified that such a token expires soon.
  for (const step of [deleteExpiredTokens, announceExpiringTokens]) {
    while (!isStopping() && (await step(app)) === TOKEN_BATCH_SIZE);
  }
  await sendNotices(app, isStopping);
}

export function createTokenExpiry(app: App): PeriodicTask {
  return createPeriodicTask(app, {
    leader_task: "token ends",
    failure_message: "ending tokens could not be looked after",
    interval_ms: SCAN_INTERVAL_MS,
    run: (_now, stopping) => expireTokens(app, () => stopping.aborted),
  });
}
