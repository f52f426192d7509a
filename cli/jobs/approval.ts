/** Approvals of flows: describing and answering them. */

import { getResumeUrls, listFlowSteps } from "../client/operations/runs.ts";
import { type ServiceClient, toCliError } from "../client/transport.ts";
import type { JobRef } from "./follow.ts";
import { readJob } from "./wait.ts";

/** Requests the links for the approval that a flow, or one of its steps, waits for. Each link can be used once. */
function requestLinks(client: ServiceClient, { workspace, id }: JobRef) {
  const resume_id = String(crypto.getRandomValues(new Uint32Array(1))[0]);
  return client.call(getResumeUrls, { workspace, job_id: id, resume_id, query: {} });
}

/** Describes how to answer the approval that a flow waits for: by command, and by its page. */
export async function describeApproval(client: ServiceClient, job: JobRef): Promise<string> {
  const { id, workspace } = job;
  // It may have been answered in the meantime.
  const links = await requestLinks(client, job).catch(() => undefined);
  return [
    "waits for approval:",
    `  svc job approve ${id} --workspace ${workspace}    (or reject)`,
    ...(links ? [`  ${links.approvalPage}`] : []),
  ].join("\n");
}

/** Reads the JSON Schema of the form of an approval; undefined if there is no form. @throws CliError */
export async function readApprovalForm(client: ServiceClient, job: JobRef): Promise<unknown> {
  const { workspace, id } = job;
  const read = async (flow_job_id: string) =>
    (await client.call(listFlowSteps, { workspace, flow_job_id })).approvals;
  const readOfStep = async (cause: Error) => {
    if (cause.name !== "BadRequest") throw cause;
    const { parent_job } = await readJob(client, job);
    if (!parent_job) return [];
    return (await read(parent_job)).filter(({ job_id }) => job_id === id);
  };
  const [request] = await read(id).catch(readOfStep);
  return request?.schema;
}

export interface ApprovalAnswer {
  approved: boolean;
  /** The value of `resume` in the next step. */
  value: Record<string, unknown>;
}

/** Answers the approval that a flow, or one of its steps, waits for. @throws CliError */
export async function answerFlow(client: ServiceClient, job: JobRef, answer: ApprovalAnswer): Promise<void> {
  const links = await requestLinks(client, job);
  const link = new URL(answer.approved ? links.resume : links.cancel);
  const response = await client.send(link.pathname.slice(link.pathname.indexOf("/api/")), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(answer.value),
  });
  if (!response.ok) throw await toCliError(response, {});
}
