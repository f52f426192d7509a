import { isHosted } from "../programs/hosted.ts";
import type { JobLimits, RunnerOptions, RunRequest } from "../types.ts";
import type { QueuedRun } from "./queued-run.ts";

/** What is known about a run from its request. */
export class RunFacts {
  /** When it received its slot, in milliseconds of `performance.now()`. */
  readonly began = performance.now();
  readonly run: QueuedRun;
  protected readonly options: RunnerOptions;
  protected readonly request: RunRequest;

  constructor(options: RunnerOptions, run: QueuedRun) {
    this.options = options;
    this.run = run;
    this.request = run.request;
  }

  get key(): string {
    return this.run.key;
  }

  get job_id(): string {
    return this.request.job_id;
  }

  get isHosted(): boolean {
    return isHosted(this.request.version.language);
  }

  get limits(): JobLimits {
    const { limits } = this.options;
    return { ...limits, memory_mb: this.request.version.memory_mb ?? limits.memory_mb };
  }

  /** Maximum size of its log in bytes. */
  get max_bytes(): number {
    return this.options.max_log_bytes;
  }

  /** Whether the last line of its output is kept, which is a shell script's result. */
  get keep_last_line(): boolean {
    return this.request.version.language === "bash";
  }

  onLog(text: string): void {
    this.request.onLog(text);
  }
}
