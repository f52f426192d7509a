/** Waits of a frame: sleeps, retry delays and approvals. */
import type { ApprovalConditions, ExtraNames, TransitionContext, Wait } from "./state.ts";
import type { FlowModule, Suspend } from "./types.ts";
import { createFault, evaluateNumber, evaluateTransform } from "./values.ts";

/** Default approval timeout in seconds. */
const DEFAULT_APPROVAL_TIMEOUT_S = 1_800;

export function startWait(move: TransitionContext, what: "sleep" | "retry", seconds: number): void {
  setWait(move, { for: what, until: move.env.now() + seconds * 1000 });
}

function setWait(move: TransitionContext, waits: Wait): void {
  move.state.waits = waits;
  move.commands.push({ type: "wake", at: waits.until });
}

/** Returns the seconds to sleep before the next module; 0 after the last one. @throws errors of the expression */
export async function evaluateSleep(
  move: TransitionContext,
  module: FlowModule,
  extra: ExtraNames,
): Promise<number> {
  const isLast = move.state.step + 1 >= move.frame.modules.length;
  return module.sleep && !isLast ? evaluateNumber(move, "sleep", module.sleep, 0, extra) : 0;
}

/** Evaluates who may approve, and how many approvals are needed. @throws errors of the expression */
export async function evaluateApproval(
  move: TransitionContext,
  suspend: Suspend,
  extra: ExtraNames,
): Promise<ApprovalConditions> {
  const { user_groups_required, required_events, user_auth_required, self_approval_disabled } = suspend;
  const groups = user_groups_required
    ? ((await evaluateTransform(move, "user_groups_required", user_groups_required, extra)) ?? [])
    : [];
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === "string")) {
    throw createFault(
      "InvalidGroups",
      `user_groups_required must be an array of names, and is ${JSON.stringify(groups)}`,
    );
  }
  return {
    required_events: required_events ?? 1,
    user_auth_required: user_auth_required ?? false,
    user_groups_required: groups,
    self_approval_disabled: self_approval_disabled ?? false,
  };
}

/** Starts waiting for approvals; as they follow the module, the next module shows the wait. */
export function awaitApproval(
  move: TransitionContext,
  { timeout = DEFAULT_APPROVAL_TIMEOUT_S }: Suspend,
  approval: ApprovalConditions,
): void {
  setWait(move, { for: "events", until: move.env.now() + timeout * 1000, approval });
  const next = move.frame.modules[move.state.step + 1];
  if (next) move.state.modules.push({ id: next.id, type: "WaitingForEvents" });
}
