/** Status of runs: icon, word and colour. */
import {
  IconBan,
  IconCalendarTime,
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconHandStop,
  IconLoader2,
  IconPlayerSkipForward,
} from "@tabler/icons-react";
import type { Job } from "../../api/interface.d.ts";
import type { RunnableKind } from "../navigation/places.ts";

export type Tone = "good" | "bad" | "busy" | "waiting" | "quiet";
export type RunState =
  | "waiting"
  | "scheduled"
  | "running"
  | "suspended"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "skipped";

export const STATES: Record<RunState, { word: string; tone: Tone; Icon: typeof IconClock }> = {
  waiting: { word: "Waiting", tone: "waiting", Icon: IconClock },
  scheduled: { word: "Scheduled", tone: "quiet", Icon: IconCalendarTime },
  running: { word: "Running", tone: "busy", Icon: IconLoader2 },
  suspended: { word: "Needs approval", tone: "waiting", Icon: IconHandStop },
  succeeded: { word: "Succeeded", tone: "good", Icon: IconCircleCheck },
  failed: { word: "Failed", tone: "bad", Icon: IconCircleX },
  cancelled: { word: "Cancelled", tone: "quiet", Icon: IconBan },
  skipped: { word: "Skipped", tone: "quiet", Icon: IconPlayerSkipForward },
};

/** Fields that determine the status. */
export type StateFields = Pick<
  Job,
  "type" | "canceled" | "success" | "is_skipped" | "running" | "suspend" | "scheduled_for"
>;

export function getRunState(job: StateFields): RunState {
  if (job.type === "CompletedJob") {
    if (job.canceled) return "cancelled";
    if (job.is_skipped) return "skipped";
    return job.success ? "succeeded" : "failed";
  }
  if ((job.suspend ?? 0) > 0) return "suspended";
  if (job.running) return "running";
  return job.scheduled_for !== undefined && Date.parse(job.scheduled_for) > Date.now()
    ? "scheduled"
    : "waiting";
}

export function State({ job }: { job: StateFields }) {
  const { word, tone, Icon } = STATES[getRunState(job)];
  return (
    <span className="state" data-tone={tone}>
      <Icon size={16} aria-hidden />
      {word}
    </span>
  );
}

const KINDS: Record<string, string> = {
  script: "Script",
  preview: "Test run of a script",
  flow: "Flow",
  flowpreview: "Test run of a flow",
  dependencies: "Dependency job of a script",
  flowdependencies: "Dependency job of a flow",
  script_hub: "Script of the hub",
};

/** Returns the deployed script or flow that was run; undefined for undeployed code. */
export function findDeployedRunnable({
  job_kind,
  script_path: path,
}: Pick<Job, "script_path" | "job_kind">): { kind: RunnableKind; path: string } | undefined {
  if (!path) return undefined;
  if (job_kind === "flow") return { kind: "flow", path };
  // The latter: with the retries of its trigger.
  return job_kind === "script" || job_kind === "singlestepflow" ? { kind: "script", path } : undefined;
}

/** Returns the display name of a run. */
export const formatRunName = (job: Pick<Job, "script_path" | "job_kind">): string =>
  job.script_path || (KINDS[job.job_kind] ?? job.job_kind);
