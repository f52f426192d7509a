/** What is known of no job before it has run. */
export const UNFINISHED = {
  status: null,
  completed_at: null,
  duration_ms: null,
  result: null,
  preprocessed: null,
  cancel_requested: false,
  canceled_by: null,
  canceled_reason: null,
  attempts: 0,
  mem_peak_kb: null,
  isolation: null,
  labels: null,
  deleted: false,
  concurrency_blocked: false,
  progress: null,
} as const;
