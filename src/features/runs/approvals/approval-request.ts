/** Approval requests of steps, and who may answer them. */
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
import type { LiveFlow } from "../flows/live-run.ts";
import { findFrame } from "../flows/status/status.ts";
import { findJob } from "../submit/find-and-cancel.ts";

export interface ApprovalRequest {
  /** The step's job. */
  job: Job;
  module: FlowModule;
  suspend: Suspend;
  /** The frame that contains the step, with its last stored state. */
  frame_id: string;
  root_job: string;
  state: FrameState;
  flow: LiveFlow;
}

/** Returns the request of a step's job. @throws NotFound; BadRequest if the step has no `suspend` */
export async function getApprovalRequest(
  app: App,
  workspace_id: string,
  job_id: string,
): Promise<ApprovalRequest> {
  const job = await findJob(app, workspace_id, job_id);
  if (!job) throw new NotFound(`job ${job_id} in workspace ${workspace_id}`);
  if (job.flow_step_id === null || job.parent_job === null) {
    throw new BadRequest(`job ${job_id} is not a step of a flow: only a step can ask for approval`);
  }
  const parent = await findJob(app, workspace_id, job.parent_job);
  const [row] = await app.db.read.select().from(flowFrames).where(eq(flowFrames.job_id, job.parent_job));
  if (!parent || !row) throw new NotFound(`flow ${job.parent_job}, which job ${job_id} is a step of`);
  const around = await findFrame(app, parent);
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

/** Returns an error if an answer would be too late. @param state of the frame; undefined if it no longer runs */
export function findExpiryError(
  { job, module }: ApprovalRequest,
  state: FrameState | undefined,
): SvcError | undefined {
  if (!state || state.ended) return new Conflict("the flow has ended: nothing waits for this approval");
  const own = state.modules[state.step];
  const waits = state.waits ? state.waits.for === "events" : own?.type === "InProgress";
  if (own?.id === module.id && own.job === job.id && waits) return undefined;
  return new Conflict(`the flow has continued: step ${module.id} no longer waits for this approval`);
}

/** The users who may answer. `groups` is undefined as long as they depend on the step's result. */
interface AnswerRules {
  login: boolean;
  groups: string[] | undefined;
  forbids_self_approval: boolean;
}

function readAnswerRules({ suspend, module }: ApprovalRequest, state: FrameState | undefined): AnswerRules {
  const own = state?.modules[state.step];
  if (state?.waits?.for === "events" && own?.id === module.id) return createAnswerRules(state.waits.approval);
  const { user_groups_required: asked, user_auth_required, self_approval_disabled } = suspend;
  const groups = asked?.type === "static" ? (asked.value ?? []) : asked ? undefined : [];
  return {
    login: Boolean(user_auth_required || self_approval_disabled || asked),
    groups: Array.isArray(groups) ? groups.map(String) : undefined,
    forbids_self_approval: self_approval_disabled ?? false,
  };
}

function createAnswerRules({
  user_auth_required,
  user_groups_required,
  self_approval_disabled,
}: ApprovalConditions): AnswerRules {
  return {
    login: user_auth_required || self_approval_disabled || user_groups_required.length > 0,
    groups: user_groups_required,
    forbids_self_approval: self_approval_disabled,
  };
}

/**
 * Checks that the caller may see an approval request.
 * @throws Unauthorized, Forbidden if the caller may not see the request
 */
export function requireCanSee(
  { identity, member }: Caller,
  asked: ApprovalRequest,
  state = asked.state,
): void {
  const { login, groups } = readAnswerRules(asked, state);
  if (!login) return;
  if (!identity) throw new Unauthorized("only users who are logged in may answer: log in and try again");
  if (!member) throw new Forbidden(`you are not a member of workspace ${asked.job.workspace_id}`);
  if (!groups || groups.length === 0 || groups.some((group) => isInGroup(member, group))) return;
  throw new Forbidden(`only members of ${groups.join(", ")} may answer`);
}

/** Returns whether the step names groups whose members answer, of which the caller is one. */
export function isNamedApprover({ member }: Caller, asked: ApprovalRequest): boolean {
  const { groups = [] } = readAnswerRules(asked, asked.state);
  return member !== undefined && groups.some((group) => isInGroup(member, group));
}

/**
 * Requires that the caller may answer.
 * @param state of the running frame
 * @throws Unauthorized, Forbidden; Conflict while the permitted groups are unknown
 */
export function requireCanAnswer(caller: Caller, asked: ApprovalRequest, state = asked.state): void {
  requireCanSee(caller, asked, state);
  const { forbids_self_approval, groups } = readAnswerRules(asked, state);
  if (!groups) {
    throw new Conflict(
      `the users who may answer are known once step ${asked.module.id} has ended: try again then`,
    );
  }
  if (!forbids_self_approval) return;
  const { identity } = caller;
  const { started_by, email } = asked.job;
  // Otherwise the script of a user who started the flow could answer in another user's name.
  if (identity?.token?.job) throw new Forbidden("only users may answer this approval, not jobs");
  if (identity?.email === (started_by ?? email)) {
    throw new Forbidden("the user who started the flow may not approve it: self-approval is disabled");
  }
}
