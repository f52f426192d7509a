import type { App } from "../../context.ts";
import type { Job } from "../../queue/tables.ts";

/** The contextual variables of a job; WM_TOKEN is the child's and comes from the runner. All are strings, empty when they do not apply. */
export function jobEnvironment(app: App, job: Job): Record<string, string> {
  const user = job.permissioned_as.replace(/^u\//, "");
  const statePath = job.script_path ? `${job.script_path}/user` : `u/${user}/tmp_state`;
  const started = (job.started_at ?? job.created_at).getTime();
  return {
    WM_WORKSPACE: job.workspace_id,
    WM_EMAIL: job.email,
    WM_USERNAME: user,
    WM_BASE_URL: app.urls.base,
    WM_JOB_ID: job.id,
    WM_JOB_PATH: job.script_path ?? "",
    WM_SCHEDULED_FOR: job.scheduled_for.toISOString(),
    WM_FLOW_JOB_ID: "",
    WM_ROOT_FLOW_JOB_ID: "",
    WM_ROOT_JOB_ID: job.root_job ?? job.id,
    WM_FLOW_PATH: "",
    WM_FLOW_STEP_ID: "",
    WM_SCHEDULE_PATH: "",
    WM_PERMISSIONED_AS: job.permissioned_as,
    WM_STATE_PATH: statePath,
    WM_STATE_PATH_NEW: statePath,
    WM_OBJECT_PATH: `${(job.script_path ?? "preview").replaceAll("/", "_")}/manual/${started}_${job.id}`,
    WM_WORKER_GROUP: "default",
    WM_RUNNABLE_ID: job.script_hash ?? "",
    BASE_INTERNAL_URL: app.urls.internal,
    BASE_URL: app.urls.base,
  };
}
