import type { Client } from "../client/transport.ts";
import type { Live } from "../terminal/live.ts";
import { openStepTree } from "../terminal/tree/step-tree.ts";
import { FlowSteps } from "./flow-steps.ts";
import type { JobRef } from "./follow.ts";

const LOOK_MS = 250;

/**
 * Shows a flow's steps while it runs, in the place of a script's log.
 * @param shows false: nothing is shown
 */
export async function openSteps(
  client: Client,
  job: JobRef,
  shows: boolean,
): Promise<Omit<Live, "stop"> & { stop: () => Promise<void> }> {
  if (!shows) return { state: () => {}, log: () => {}, stop: async () => {} };
  const steps = new FlowSteps(client, job);
  const tree = await openStepTree(`flow ${job.id}`);
  let stopped = false;
  // A server that is away for a moment is no reason to end: whoever follows the job tells of that.
  const look = () => steps.read().then(tree.show, () => {});
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    looking ??= look().then(() => {
      looking = undefined;
    });
  }, LOOK_MS);
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
