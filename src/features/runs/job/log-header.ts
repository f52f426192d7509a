/**
 * The first lines of a job's log: which job it is, who runs it, and what holds around it. They are part of the text that
 * offsets count, but stored only in front of something: the log of a job that said nothing is made when it is asked for.
 */
import type { JobKind } from "../../../platform/queue/states.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { hostOf } from "../../../platform/queue/worker-name.ts";

/** Kinds that run what a person wrote, or install what that needs. The others have nothing to say. */
const SPEAKING: ReadonlySet<JobKind> = new Set<JobKind>([
  "script",
  "preview",
  "flowscript",
  "dependencies",
  "flowdependencies",
]);

/** @returns lines that end in an empty one; nothing for a job that no worker has begun, or that has no log */
export function logHeader(
  { id, kind, tag, worker }: Pick<Job, "id" | "kind" | "tag" | "worker">,
  isolation: string | null,
): string {
  if (worker === null || !SPEAKING.has(kind)) return "";
  const walls = isolation === null ? "" : `isolation=${isolation}\n`;
  return `job=${id} tag=${tag}\nworker=${worker} hostname=${hostOf(worker)}\n${walls}\n`;
}

/** What a log says after its header. */
export function withoutHeader(log: string): string {
  return log.replace(/^job=[0-9a-f-]{36} tag=.*\nworker=.*\n(isolation=.*\n)?\n/, "");
}
