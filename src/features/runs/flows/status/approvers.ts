import type { App } from "../../../../platform/app/context.ts";
import { getApproverName, listAnswers } from "../drive/approval-answers.ts";

/** Lists who has approved a step's job. */
export async function listApprovers(app: App, job_id: string) {
  const answers = await listAnswers(app, undefined, job_id);
  return answers
    .filter(({ approved }) => approved)
    .map((answer) => ({ resume_id: answer.resume_id, approver: getApproverName(answer) }));
}
