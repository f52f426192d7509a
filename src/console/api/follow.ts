/** Subscribes to a running job by server-sent events. */
import { getOperationUrl } from "./call.ts";
import type { Job } from "./interface.d.ts";
import { parseJson } from "./json.ts";

export interface RunUpdate {
  running?: boolean;
  completed?: boolean;
  new_logs?: string;
  new_result_stream?: string;
  log_offset?: number;
  stream_offset?: number;
  mem_peak?: number;
  progress?: number;
  job?: Job;
  error?: string;
}

const RECONNECT_DELAY_MS = 1_500;

/**
 * Calls `tell` with every update until the job has ended. Reconnects with the last offsets after the server's stream
 * limit (30 s) or a connection failure. Closes the stream while the tab is hidden.
 * @returns unsubscribes
 */
export function followRun(workspace: string, id: string, tell: (update: RunUpdate) => void): () => void {
  const seen = { log_offset: 0, stream_offset: 0, running: false };
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;

  function open(): void {
    if (over || source || document.hidden) return;
    source = new EventSource(
      getOperationUrl("GET /w/{workspace}/jobs_u/getupdate_sse/{id}", {
        workspace,
        id,
        query: { ...seen, get_progress: true },
      }),
    );
    source.onmessage = ({ data }) => {
      const update = parseJson(data as string) as RunUpdate;
      seen.log_offset = update.log_offset ?? seen.log_offset;
      seen.stream_offset = update.stream_offset ?? seen.stream_offset;
      seen.running = update.running ?? seen.running;
      tell(update);
      if (update.completed || update.error !== undefined) close();
    };
    source.onerror = () => {
      pause();
      timer = setTimeout(open, RECONNECT_DELAY_MS);
    };
  }
  function pause(): void {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  }
  function close(): void {
    over = true;
    pause();
    document.removeEventListener("visibilitychange", look);
  }
  function look(): void {
    if (document.hidden) pause();
    else open();
  }
  document.addEventListener("visibilitychange", look);
  open();
  return close;
}
