/**
 * Lists the contextual variables of jobs, with their descriptions and the values that a job of the caller would see.
 */
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { getWorkspaceEnvironment } from "../../../tenancy/workspaces/environment.ts";
import { createJobEnvironment, type JobFacts } from "../../job/environment.ts";

export interface ContextualVariable {
  name: string;
  value: string;
  description: string;
  /** Whether an admin set it for the workspace. */
  is_custom: boolean;
}

const DESCRIPTIONS: Record<string, string> = {
  WM_WORKSPACE: "Id of the workspace",
  WM_TOKEN: "Token of the job, with the rights of whom it runs as; it answers while the job runs",
  WM_EMAIL: "E-mail of whom the job runs as",
  WM_USERNAME: "Username of whom the job runs as",
  WM_BASE_URL: "Public address of this instance",
  WM_JOB_ID: "Id of the job",
  WM_JOB_PATH: "Path of the script or flow that runs, empty for a preview",
  WM_SCHEDULED_FOR: "Moment (UTC) at which the job was due",
  WM_FLOW_JOB_ID: "Id of the job of the flow around a step",
  WM_ROOT_FLOW_JOB_ID: "Id of the job of the outermost flow around a step",
  WM_ROOT_JOB_ID: "Id of the topmost job",
  WM_FLOW_PATH: "Path of the flow around a step",
  WM_FLOW_STEP_ID: "Id of the step in its flow",
  WM_SCHEDULE_PATH: "Path of the schedule that started the job",
  WM_PERMISSIONED_AS: "Whose rights the job has: u/<user> or g/<group>",
  WM_STATE_PATH: "Path of the resource that keeps the state of the script or step",
  WM_STATE_PATH_NEW: "The same, by its newer name",
  WM_OBJECT_PATH: "Unique prefix for the names of files that the job stores",
  WM_WORKER_GROUP: "Group of the worker that runs the job",
  WM_RUNNABLE_ID: "Hash of the version of the script that runs",
};

const EXAMPLE_TOKEN = "<token of the job>";

/** Lists the variables of every job, then those that the workspace's admins have set. */
export async function describeContextualVariables(ctx: WorkspaceContext): Promise<ContextualVariable[]> {
  const values: Record<string, string> = {
    ...createJobEnvironment(ctx.app, createExampleJob(ctx), undefined),
    WM_TOKEN: EXAMPLE_TOKEN,
  };
  const own = Object.entries(DESCRIPTIONS).map(([name, description]) => ({
    name,
    value: values[name] ?? "",
    description,
    is_custom: false,
  }));
  const { variables } = await getWorkspaceEnvironment(ctx.app, ctx.caller.member.workspace_id);
  const custom = Object.entries(variables).map(([name, value]) => ({
    name,
    value,
    description: "Set for all jobs of the workspace by its admins",
    is_custom: true,
  }));
  return [...own, ...custom];
}

/** Creates a job as the caller would start it now, of a script called `example`. */
function createExampleJob({ app, caller: { member } }: WorkspaceContext): JobFacts {
  const now = app.clock();
  const owner = `u/${member.username}`;
  return {
    id: "00000000-0000-7000-8000-000000000000",
    workspace_id: member.workspace_id,
    script_path: `${owner}/example`,
    script_hash: "0".repeat(16),
    permissioned_as: owner,
    email: member.email,
    created_at: now,
    scheduled_for: now,
    started_at: now,
    parent_job: null,
    root_job: null,
    schedule_path: null,
  };
}
