/** What a frame waits for other than its children: the end of a pause, the next try, approvals. */
import type { ApprovalConditions, Extra, Move, Wait } from "./state.ts";
import type { FlowModule, Suspend } from "./types.ts";
import { fault, numberOf, transformed } from "./values.ts";

/** How long approvals are waited for when the flow does not say, in seconds. */
const SUSPEND_S = 1_800;

export function waitFor(move: Move, what: "sleep" | "retry", seconds: number): void {
  wait(move, { for: what, until: move.env.now() + seconds * 1000 });
}

function wait(move: Move, waits: Wait): void {
  move.state.waits = waits;
  move.steps.push({ type: "wake", at: waits.until });
}

/** Seconds before the next module; none where there is no next one. @throws what the expression throws */
export async function sleepOf(move: Move, module: FlowModule, extra: Extra): Promise<number> {
  const isLast = move.state.step + 1 >= move.frame.modules.length;
  return module.sleep && !isLast ? numberOf(move, "sleep", module.sleep, 0, extra) : 0;
}

/** Who may approve, and how often it takes. @throws what the expression throws */
export async function approvalOf(move: Move, suspend: Suspend, extra: Extra): Promise<ApprovalConditions> {
  const { user_groups_required, required_events, user_auth_required, self_approval_disabled } = suspend;
  const groups = user_groups_required
    ? ((await transformed(move, "user_groups_required", user_groups_required, extra)) ?? [])
    : [];
  if (!Array.isArray(groups) || !groups.every((group) => typeof group === "string")) {
    throw fault(
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

/** Approvals are awaited after the module, so it is the next one that waits for them. */
export function suspend(move: Move, { timeout = SUSPEND_S }: Suspend, approval: ApprovalConditions): void {
  wait(move, { for: "events", until: move.env.now() + timeout * 1000, approval });
  const next = move.frame.modules[move.state.step + 1];
  if (next) move.state.modules.push({ id: next.id, type: "WaitingForEvents" });
}
