import type { App } from "../../../../platform/app/context.ts";
import { answersTo, approverOf } from "../drive/answers.ts";

/** Who has approved what a job asked for. */
export async function approversOf(app: App, job_id: string) {
  const answers = await answersTo(app, undefined, job_id);
  return answers
    .filter(({ approved }) => approved)
    .map((answer) => ({ resume_id: answer.resume_id, approver: approverOf(answer) }));
}
