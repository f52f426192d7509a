/** What a step asks approval for, and who may answer. */
import { eq } from "drizzle-orm";
import type { ApprovalConditions, FrameState } from "../../../engines/flow-engine/state.ts";
import type { FlowModule, Suspend } from "../../../engines/flow-engine/types.ts";
import {
  BadRequest,
  Conflict,
  Forbidden,
  NotFound,
  type SvcError,
  Unauthorized,
} from "../../../lib/errors.ts";
import { isInGroup } from "../../../platform/access/permissions.ts";
import type { App, Caller } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { flowFrames } from "../../code/flows/tables.ts";
import type { LiveFlow } from "../flows/run.ts";
import { frameOf } from "../flows/status/status.ts";
import { findJob } from "../submit/service.ts";

export interface Asked {
  /** The job of the step. */
  job: Job;
  module: FlowModule;
  suspend: Suspend;
  /** The frame it stands in, with its state as it was stored last. */
  frame_id: string;
  root_job: string;
  state: FrameState;
  flow: LiveFlow;
}

/** @throws NotFound; BadRequest when the job is none that asks for approval */
export async function askedBy(app: App, workspace_id: string, job_id: string): Promise<Asked> {
  const job = await findJob(app, workspace_id, job_id);
  if (!job) throw new NotFound(`job ${job_id} in workspace ${workspace_id}`);
  if (job.flow_step_id === null || job.parent_job === null) {
    throw new BadRequest(`job ${job_id} is no step of a flow: only a step can ask for approval`);
  }
  const parent = await findJob(app, workspace_id, job.parent_job);
  const [row] = await app.db.read.select().from(flowFrames).where(eq(flowFrames.job_id, job.parent_job));
  if (!parent || !row) throw new NotFound(`flow ${job.parent_job}, which job ${job_id} is a step of`);
  const around = await frameOf(app, parent);
  if (!around) throw new NotFound(`flow ${job.parent_job}, which job ${job_id} is a step of`);
  const { flow, frame } = around;
  const module = frame.modules.find(({ id }) => id === job.flow_step_id);
  if (!module?.suspend) {
    throw new BadRequest(`step ${job.flow_step_id} does not wait for approval: it has no \`suspend\``);
  }
  const { root_job } = row;
  const state = row.state as FrameState;
  return { job, module, suspend: module.suspend, frame_id: parent.id, root_job, state, flow };
}

/**
 * Says why the answer would come too late.
 * @param state of the frame; undefined when it does not run any more
 */
export function lateness({ job, module }: Asked, state: FrameState | undefined): SvcError | undefined {
  if (!state || state.ended)
    return new Conflict("the flow has ended: nothing waits for this approval any more");
  const own = state.modules[state.step];
  const waits = state.waits ? state.waits.for === "events" : own?.type === "InProgress";
  if (own?.id === module.id && own.job === job.id && waits) return undefined;
  return new Conflict(`the flow has gone on: step ${module.id} does not wait for this approval any more`);
}

/** Who may answer; `groups` is undefined while only the end of the step will tell. */
interface Rules {
  login: boolean;
  groups: string[] | undefined;
  notSelf: boolean;
}

function rulesOf({ suspend, module }: Asked, state: FrameState | undefined): Rules {
  const own = state?.modules[state.step];
  if (state?.waits?.for === "events" && own?.id === module.id) return toRules(state.waits.approval);
  const { user_groups_required: asked, user_auth_required, self_approval_disabled } = suspend;
  const groups = asked?.type === "static" ? (asked.value ?? []) : asked ? undefined : [];
  return {
    login: Boolean(user_auth_required || self_approval_disabled || asked),
    groups: Array.isArray(groups) ? groups.map(String) : undefined,
    notSelf: self_approval_disabled ?? false,
  };
}

function toRules({
  user_auth_required,
  user_groups_required,
  self_approval_disabled,
}: ApprovalConditions): Rules {
  return {
    login: user_auth_required || self_approval_disabled || user_groups_required.length > 0,
    groups: user_groups_required,
    notSelf: self_approval_disabled,
  };
}

/** @throws Unauthorized, Forbidden when the caller may not even see what is asked */
export function requireMaySee({ identity, member }: Caller, asked: Asked, state = asked.state): void {
  const { login, groups } = rulesOf(asked, state);
  if (!login) return;
  if (!identity) throw new Unauthorized("only people who are logged in may answer: log in and come again");
  if (!member) throw new Forbidden(`you are no member of workspace ${asked.job.workspace_id}`);
  if (!groups || groups.length === 0 || groups.some((group) => isInGroup(member, group))) return;
  throw new Forbidden(`only members of ${groups.join(", ")} may answer`);
}

/**
 * @param state of the frame as it runs
 * @throws Unauthorized, Forbidden; Conflict while it is not known yet who may answer
 */
export function requireMayAnswer(caller: Caller, asked: Asked, state = asked.state): void {
  requireMaySee(caller, asked, state);
  const { notSelf, groups } = rulesOf(asked, state);
  if (!groups) {
    throw new Conflict(`who may answer is known when step ${asked.module.id} has ended: try again then`);
  }
  if (!notSelf) return;
  const { identity } = caller;
  const { started_by, email } = asked.job;
  // Else a script of whoever started the flow could answer in somebody else's name.
  if (identity?.token?.job) throw new Forbidden("no job may answer here, only a person");
  if (identity?.email === (started_by ?? email)) {
    throw new Forbidden("whoever started the flow may not approve it: self-approval is disabled");
  }
}
