/** Answers to a step's approval request, and the resulting decision. */
import { asc, eq } from "drizzle-orm";
import type { FrameEvent } from "../../../../engines/flow-engine/state.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type FlowResume, flowResumes } from "../../../code/flows/tables.ts";
import type { FlowRun, LiveFrame } from "../live-run.ts";

/** Lists the answers to a step's job, oldest first, including the one that is being stored. */
export async function listAnswers(
  app: App,
  run: FlowRun | undefined,
  job_id: string,
): Promise<readonly FlowResume[]> {
  const stored = await app.db.read
    .select()
    .from(flowResumes)
    .where(eq(flowResumes.job_id, job_id))
    .orderBy(asc(flowResumes.created_at), asc(flowResumes.resume_id));
  const answer = run?.answer;
  return answer?.job_id === job_id ? [...stored, answer] : stored;
}

/** Returns the approver's name for expressions and records. */
export function getApproverName({ approver }: FlowResume): string {
  return approver ?? "anonymous";
}

/**
 * Returns the event that the answers so far cause; undefined while more are needed, or the frame does not wait for
 * approval.
 */
export async function findVerdict(app: App, run: FlowRun, frame: LiveFrame): Promise<FrameEvent | undefined> {
  const { waits, step, modules } = frame.state;
  const own = modules[step];
  if (waits?.for !== "events" || !own?.job) return undefined;
  const module = own.id;
  let approvals = 0;
  for (const answer of await listAnswers(app, run, own.job)) {
    if (!answer.approved) return { type: "disapproved", module, by: getApproverName(answer) };
    approvals++;
    if (approvals >= waits.approval.required_events) return { type: "resumed", module };
  }
  return undefined;
}
