import type { Service } from "../../lib/async/service.ts";
import type { App } from "./context.ts";

/**
 * Which jobs a process runs: all that are due (a server; a worker does nothing else), those it submits itself and the
 * dependencies of what it deploys (a command that runs a script on the data directory), or none (any other command).
 */
export type JobsRole = "all" | "worker" | "own" | "none";

/** What runs beside requests for as long as the process does. */
export interface Loop {
  /** As the log calls it. */
  name: string;
  /** The processes that it runs in. */
  roles: readonly JobsRole[];
  /** Before the worker: it is there for all jobs of this process, from the first to the last that ends while it stops. */
  phase?: "before worker";
  create(app: App): Service;
}
