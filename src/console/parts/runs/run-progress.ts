/** Loads a run by its id, with log and stream if it is still running. */
import { useEffect, useMemo, useState } from "react";
import { sendRequest } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { followRun } from "../../api/follow.ts";
import type { Job } from "../../api/interface.d.ts";
import { notifyError } from "../elements/Problem.tsx";
import { LogBuffer } from "./log/buffer.ts";

export interface RunProgress {
  log: LogBuffer;
  stream: string;
  /** Memory in kB. */
  memory: number | undefined;
  progress: number | undefined;
}

/** Provides log, result stream and figures of a run: streamed while it runs, else loaded. */
export function useRunProgress(workspace: string, job: Job | undefined): RunProgress {
  const id = job?.id;
  const [stream, setStream] = useState("");
  const [figures, setFigures] = useState<{ memory?: number | undefined; progress?: number | undefined }>({});
  // Fixed at the first render: if a followed run ends, its log is already complete.
  const [begun, setBegun] = useState<{ id: string; live: boolean }>();
  if (job && begun?.id !== job.id) setBegun({ id: job.id, live: job.type === "QueuedJob" });
  const live = begun?.id === id ? begun?.live : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a log for each run
  const log = useMemo(() => new LogBuffer(), [workspace, id]);
  useEffect(() => {
    if (id === undefined || live === undefined) return;
    setStream("");
    setFigures({});
    if (!live) {
      const left = new AbortController();
      void readLog(workspace, id, log, left.signal).catch(
        (error) => left.signal.aborted || notifyError(error),
      );
      return () => left.abort();
    }
    return followRun(workspace, id, (update) => {
      if (update.new_logs) log.append(update.new_logs);
      if (update.new_result_stream) setStream((before) => before + update.new_result_stream);
      if (update.mem_peak !== undefined || update.progress !== undefined) {
        setFigures({ memory: update.mem_peak, progress: update.progress });
      }
      if (update.completed || update.running) {
        void queryClient.invalidateQueries({ queryKey: [workspace, "runs"] });
      }
    });
  }, [workspace, id, live, log]);
  return { log, stream, memory: figures.memory, progress: figures.progress };
}

async function readLog(workspace: string, id: string, log: LogBuffer, signal: AbortSignal): Promise<void> {
  const response = await sendRequest("GET /w/{workspace}/jobs_u/get_logs/{id}", { workspace, id }, signal);
  const decoder = new TextDecoder();
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    log.append(decoder.decode(bytes, { stream: true }));
  }
}
