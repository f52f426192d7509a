import type { ServiceClient } from "../client/transport.ts";
import type { LiveDisplay } from "../terminal/live.ts";
import { type StepLine, startStepTree } from "../terminal/tree/step-tree.ts";
import { describeApproval } from "./approval.ts";
import { FlowSteps } from "./flow-steps.ts";
import type { JobRef } from "./follow.ts";

const POLL_INTERVAL_MS = 250;

/** Shows a flow's steps while it runs, instead of a script's log. @param shows false: shows nothing */
export async function startStepDisplay(
  client: ServiceClient,
  job: JobRef,
  shows: boolean,
): Promise<Omit<LiveDisplay, "stop"> & { stop: () => Promise<void> }> {
  if (!shows) return { state: () => {}, log: () => {}, stop: async () => {} };
  const steps = new FlowSteps(client, job);
  let told: string | undefined;
  const show = async (lines: StepLine[]) => {
    tree.show(lines);
    const asking = findAsking(lines);
    if (asking?.job === undefined || asking.job === told) return;
    told = asking.job;
    const note = await describeApproval(client, job);
    tree.note(note);
  };
  const tree = await startStepTree(`flow ${job.id}`);
  let stopped = false;
  // A short outage is ignored here: followJob reports it.
  const look = () =>
    steps
      .readLines()
      .then(show)
      .catch(() => {});
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

/** Finds the step that waits for approval, at any depth. */
function findAsking(lines: StepLine[]): StepLine | undefined {
  for (const line of lines) {
    const found = line.state === "approval" ? line : findAsking(line.inner);
    if (found) return found;
  }
  return undefined;
}
