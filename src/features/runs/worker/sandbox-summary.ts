import type { App } from "../../../platform/app/context.ts";
import type { JobKind } from "../../../platform/queue/states.ts";

const WALLED: ReadonlySet<JobKind> = new Set<JobKind>(["script", "preview", "flowscript"]);

/** In a line, what holds around the process that runs a job of this kind here; null where none does. */
export function isolationOf(app: App, { kind }: { kind: JobKind }): string | null {
  return WALLED.has(kind) ? app.runner.holds() : null;
}
