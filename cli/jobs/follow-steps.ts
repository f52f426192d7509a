import type { ServiceClient } from "../client/transport.ts";
import type { LiveDisplay } from "../terminal/live.ts";
import { startStepTree } from "../terminal/tree/step-tree.ts";
import { FlowSteps } from "./flow-steps.ts";
import type { JobRef } from "./follow.ts";

const POLL_INTERVAL_MS = 250;

/**
 * Shows a flow's steps while it runs, in place of a script's log.
 * @param shows false: nothing is shown
 */
export async function startStepDisplay(
  client: ServiceClient,
  job: JobRef,
  shows: boolean,
): Promise<Omit<LiveDisplay, "stop"> & { stop: () => Promise<void> }> {
  if (!shows) return { state: () => {}, log: () => {}, stop: async () => {} };
  const steps = new FlowSteps(client, job);
  const tree = await startStepTree(`flow ${job.id}`);
  let stopped = false;
  // A short outage is ignored here: followJob reports it.
  const look = () => steps.readLines().then(tree.show, () => {});
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look().then(() => {
      looking = undefined;
    });
  }, POLL_INTERVAL_MS);
  return {
    state: () => {},
    log: () => {},
    async stop() {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      await looking;
      await look();
      tree.stop();
    },
  };
}
