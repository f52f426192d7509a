import { endWaits } from "../features/runs/submit/wait.ts";
import { createWorker } from "../features/runs/worker/worker.ts";
import type { Parts } from "../lib/async/start-stop.ts";
import type { App } from "../platform/app/context.ts";
import type { JobsRole } from "../platform/app/loop.ts";
import { readGroupTags, takenTags } from "../platform/cluster/group-tags.ts";
import { createPresence } from "../platform/cluster/heartbeat.ts";
import { startLoops } from "./loops.ts";

/**
 * Starts the worker of this process and what belongs to it. When it stops, running jobs get their time first; then who
 * waits for one is answered.
 * @param drained what is done when running jobs have ended or were put back
 */
export async function startWorker(
  app: App,
  parts: Parts,
  role: JobsRole,
  drained: () => Promise<void>,
): Promise<void> {
  await startLoops(app, parts, role, "before worker");
  const isCommand = role === "own";
  if (!isCommand) await readGroupTags(app);
  const ofServer = () => takenTags(app);
  const worker = createWorker(
    app,
    isCommand
      ? { claimed: () => ["dependency"], handed: () => undefined }
      : { claimed: ofServer, handed: ofServer },
  );
  await worker.start();
  parts.add("waiting callers", async () => {
    endWaits(app);
    await drained();
  });
  parts.add("worker", () => worker.stop(app.config.drain_s * 1000));
  if (!isCommand) await parts.start("presence", createPresence(app, worker.work));
}
