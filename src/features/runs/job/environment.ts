import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import type { WorkspaceEnvironment } from "../../tenancy/workspaces/environment.ts";

/** The place of a job in its flow. */
export interface FlowPlace {
  /** Path of the flow that contains the step; undefined for an undeployed flow without one. */
  path: string | undefined;
  /** Id of the step. */
  step: string;
  /** Job of the outermost flow if this is its last step, whose stream is the flow's stream. */
  stream_job: string | undefined;
  /** Whether it shares a folder with the other steps (`same_worker`). */
  sharesFolder: boolean;
}

/** The job fields that determine its environment. */
export type JobFacts = Pick<
  Job,
  | "id"
  | "workspace_id"
  | "script_path"
  | "script_hash"
  | "permissioned_as"
  | "email"
  | "created_at"
  | "scheduled_for"
  | "started_at"
  | "parent_job"
  | "root_job"
  | "schedule_path"
>;

/**
 * Creates the contextual variables of a job, as strings, empty where they do not apply. The runner adds WM_TOKEN, which
 * belongs to the process.
 * @param place set for a step of a flow
 */
export function createJobEnvironment(
  app: App,
  job: JobFacts,
  place: FlowPlace | undefined,
): Record<string, string> {
  const user = job.permissioned_as.replace(/^u\//, "");
  const { statePath, objectPath } = place ? stepPaths(job, user, place) : jobPaths(job, user);
  return {
    WM_WORKSPACE: job.workspace_id,
    WM_EMAIL: job.email,
    WM_USERNAME: user,
    WM_BASE_URL: app.urls.base,
    WM_JOB_ID: job.id,
    WM_JOB_PATH: job.script_path ?? "",
    WM_SCHEDULED_FOR: job.scheduled_for.toISOString(),
    WM_FLOW_JOB_ID: place ? (job.parent_job ?? "") : "",
    WM_ROOT_FLOW_JOB_ID: place ? (job.root_job ?? "") : "",
    WM_ROOT_JOB_ID: job.root_job ?? job.id,
    WM_FLOW_PATH: place?.path ?? "",
    WM_FLOW_STEP_ID: place?.step ?? "",
    WM_SCHEDULE_PATH: job.schedule_path ?? "",
    WM_PERMISSIONED_AS: job.permissioned_as,
    WM_STATE_PATH: statePath,
    WM_STATE_PATH_NEW: statePath,
    WM_OBJECT_PATH: objectPath,
    WM_WORKER_GROUP: app.config.worker_group,
    WM_RUNNABLE_ID: job.script_hash ?? "",
    BASE_INTERNAL_URL: app.urls.internal,
    BASE_URL: app.urls.base,
  };
}

/**
 * Returns the job's whole environment. The job's contextual variables and the script's own `NAME=value` take precedence
 * over the workspace's variables.
 */
export function addCustomVariables(
  facts: Record<string, string>,
  { variables, id }: WorkspaceEnvironment,
  envs: readonly string[],
): Record<string, string> {
  if (id === "") return facts;
  const custom = { ...variables };
  for (const pair of envs) delete custom[pair.split("=", 1)[0]!];
  return { ...custom, ...facts };
}

/** Default paths of the job's state and of its stored objects. */
interface JobPaths {
  statePath: string;
  objectPath: string;
}

function jobPaths(job: JobFacts, user: string): JobPaths {
  return {
    statePath: job.script_path ? `${job.script_path}/user` : `u/${user}/tmp_state`,
    objectPath: `${flattenPath(job.script_path ?? "preview")}/${startSegment(job)}/${uniqueSegment(job)}`,
  };
}

function stepPaths(job: JobFacts, user: string, { path, step }: FlowPlace): JobPaths {
  return {
    statePath: path ? `${path}/${step}_user` : `u/${user}/tmp_state`,
    objectPath: `${flattenPath(path ?? "preview")}/${startSegment(job)}/${step}/${uniqueSegment(job)}`,
  };
}

function flattenPath(path: string): string {
  return path.replaceAll("/", "_");
}

function startSegment({ schedule_path }: JobFacts): string {
  return schedule_path === null ? "manual" : flattenPath(schedule_path);
}

function uniqueSegment({ id, started_at, created_at }: JobFacts): string {
  return `${(started_at ?? created_at).getTime()}_${id}`;
}
