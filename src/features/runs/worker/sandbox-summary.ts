import type { App } from "../../../platform/app/context.ts";
import type { JobKind } from "../../../platform/queue/states.ts";

const SANDBOXED_KINDS: ReadonlySet<JobKind> = new Set<JobKind>(["script", "preview", "flowscript"]);

/** Returns a one-line summary of the sandbox for jobs of this kind; null for kinds that start no process. */
export function formatSandboxSummary(app: App, { kind }: { kind: JobKind }): string | null {
  return SANDBOXED_KINDS.has(kind) ? app.runner.sandboxSummary() : null;
}
