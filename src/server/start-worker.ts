import { endAllStreams } from "../features/runs/follow/job-feed.ts";
import { endAllWaits } from "../features/runs/submit/wait.ts";
import { createWorker } from "../features/runs/worker/worker.ts";
import type { ServiceStack } from "../lib/async/service.ts";
import type { App } from "../platform/app/context.ts";
import type { JobsRole } from "../platform/app/loop.ts";
import { getWorkerTags, loadGroupTags } from "../platform/cluster/group-tags.ts";
import { createHeartbeat } from "../platform/cluster/heartbeat.ts";
import { startLoops } from "./loops.ts";

/**
 * Starts the worker of this process and related services. On stop, running jobs first get time to complete; then
 * waiting calls are answered and streams end.
 * @param drained called when all running jobs have completed or were requeued
 */
export async function startWorker(
  app: App,
  parts: ServiceStack,
  role: JobsRole,
  drained: () => Promise<void>,
): Promise<void> {
  await startLoops(app, parts, role, "before worker");
  const isCommand = role === "own";
  if (!isCommand) await loadGroupTags(app);
  const ofServer = () => getWorkerTags(app);
  const worker = createWorker(
    app,
    isCommand
      ? { claimed: () => ["dependency"], dispatched: () => undefined }
      : { claimed: ofServer, dispatched: ofServer },
  );
  await worker.start();
  parts.add("waiting callers", async () => {
    endAllWaits(app);
    endAllStreams(app);
    await drained();
  });
  parts.add("worker", () => worker.stop(app.config.drain_s * 1000));
  if (!isCommand) await parts.start("presence", createHeartbeat(app, worker.stats));
}
