import type { Service } from "../../lib/async/service.ts";
import type { App } from "./context.ts";

/**
 * The jobs that a process runs. `all`: every due job (a server). `worker`: the same, and it serves no requests. `own`: jobs
 * that it submits, and dependency jobs of its deployments (a command that works on the data directory). `none`: no jobs.
 */
export type JobsRole = "all" | "worker" | "own" | "none";

/** A background service that runs as long as the process. */
export interface Loop {
  /** Its name in the log. */
  name: string;
  /** Roles of the processes that run it. */
  roles: readonly JobsRole[];
  /** Starts before the worker and stops after it, so that it serves all jobs of this process. */
  phase?: "before worker";
  create(app: App): Service;
}
