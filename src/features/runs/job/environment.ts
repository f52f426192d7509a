import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import type { Environment } from "../../tenancy/workspaces/environment.ts";

/** Where in which flow a job stands. */
export interface FlowPlace {
  /** Of the flow the step is written in; undefined for one that is not deployed and has none. */
  path: string | undefined;
  /** Id of the step. */
  step: string;
  /** The outermost flow's job, when this is its last step: what it streams is the flow's stream. */
  streams_to: string | undefined;
  /** It has a folder in common with the other steps. */
  shares: boolean;
}

/** What of a job its environment is made of. */
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
 * The contextual variables of a job; WM_TOKEN is the child's and comes from the runner. All are strings, empty when they
 * do not apply.
 * @param place of a flow's step
 */
export function jobEnvironment(
  app: App,
  job: JobFacts,
  place: FlowPlace | undefined,
): Record<string, string> {
  const user = job.permissioned_as.replace(/^u\//, "");
  const { statePath, objectPath } = place ? pathsOfStep(job, user, place) : pathsOf(job, user);
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
 * The job's whole environment. The workspace's own variables give way to those of the job and to those that its script
 * names itself (`NAME=value`).
 */
export function withCustom(
  facts: Record<string, string>,
  { variables, id }: Environment,
  envs: readonly string[],
): Record<string, string> {
  if (id === "") return facts;
  const custom = { ...variables };
  for (const pair of envs) delete custom[pair.split("=", 1)[0]!];
  return { ...custom, ...facts };
}

/** Where the job keeps its state, and what it may begin the names of its files with. */
interface Paths {
  statePath: string;
  objectPath: string;
}

function pathsOf(job: JobFacts, user: string): Paths {
  return {
    statePath: job.script_path ? `${job.script_path}/user` : `u/${user}/tmp_state`,
    objectPath: `${flat(job.script_path ?? "preview")}/${startOf(job)}/${uniqueEnd(job)}`,
  };
}

function pathsOfStep(job: JobFacts, user: string, { path, step }: FlowPlace): Paths {
  return {
    statePath: path ? `${path}/${step}_user` : `u/${user}/tmp_state`,
    objectPath: `${flat(path ?? "preview")}/${startOf(job)}/${step}/${uniqueEnd(job)}`,
  };
}

function flat(path: string): string {
  return path.replaceAll("/", "_");
}

function startOf({ schedule_path }: JobFacts): string {
  return schedule_path === null ? "manual" : flat(schedule_path);
}

function uniqueEnd({ id, started_at, created_at }: JobFacts): string {
  return `${(started_at ?? created_at).getTime()}_${id}`;
}
