/** What has been answered to a step that asks for approval, and what that comes to. */
import { asc, eq } from "drizzle-orm";
import type { FrameEvent } from "../../../../engines/flow-engine/state.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type FlowResume, flowResumes } from "../../../code/flows/tables.ts";
import type { FlowRun, LiveFrame } from "../run.ts";

/** The answers to the job of a step, oldest first; the one that is being stored stands at the end. */
export async function answersTo(
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

/** The name that expressions and records tell of who has answered. */
export function approverOf({ approver }: FlowResume): string {
  return approver ?? "anonymous";
}

/** What the answers so far mean for a frame; undefined while it waits for more, or for none. */
export async function verdict(app: App, run: FlowRun, frame: LiveFrame): Promise<FrameEvent | undefined> {
  const { waits, step, modules } = frame.state;
  const own = modules[step];
  if (waits?.for !== "events" || !own?.job) return undefined;
  const module = own.id;
  let approvals = 0;
  for (const answer of await answersTo(app, run, own.job)) {
    if (!answer.approved) return { type: "disapproved", module, by: approverOf(answer) };
    approvals++;
    if (approvals >= waits.approval.required_events) return { type: "resumed", module };
  }
  return undefined;
}
