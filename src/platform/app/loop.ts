import type { Service } from "../../lib/async/service.ts";
import type { App } from "./context.ts";

/**
 * Which jobs a process runs. `all`: every due job (a server). `worker`: the same, without serving requests. `own`:
 * the jobs that it submits, and the dependency jobs of its deployments (a command that works on the data directory).
 * `none`: no jobs.
 */
export type JobsRole = "all" | "worker" | "own" | "none";

/** A background service that runs as long as the process. */
export interface Loop {
  /** Its name in the log. */
  name: string;
  /** Roles of the processes that run this service. */
  roles: readonly JobsRole[];
  /** Whether it starts before the worker and stops after it, to serve all jobs of this process. */
  phase?: "before worker";
  create(app: App): Service;
}
