/**
 * The header of a job's log: job, worker and sandbox. Offsets include it, but it is stored only together with later
 * text; for an empty log it is generated when read.
 */
import type { JobKind } from "../../../platform/queue/states.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { parseMachineName } from "../../../platform/queue/worker-name.ts";

/** Kinds that run or install user code. The others have no log. */
const LOGGING_KINDS: ReadonlySet<JobKind> = new Set<JobKind>([
  "script",
  "preview",
  "flowscript",
  "dependencies",
  "flowdependencies",
]);

/**
 * Formats the header, which ends in an empty line. @returns "" for a job that no worker has started, or that has no log
 */
export function formatLogHeader(
  { id, kind, tag, worker }: Pick<Job, "id" | "kind" | "tag" | "worker">,
  isolation: string | null,
): string {
  if (worker === null || !LOGGING_KINDS.has(kind)) return "";
  const isolation_line = isolation === null ? "" : `isolation=${isolation}\n`;
  return `job=${id} tag=${tag}\nworker=${worker} hostname=${parseMachineName(worker)}\n${isolation_line}\n`;
}

/** Removes the header from a log. */
export function stripLogHeader(log: string): string {
  return log.replace(/^job=[0-9a-f-]{36} tag=.*\nworker=.*\n(isolation=.*\n)?\n/, "");
}
