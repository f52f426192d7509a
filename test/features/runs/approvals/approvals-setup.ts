/** A server with flows that wait for approval, and calls that answer. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
export let token: string;
export let nobody: Ask;
export let ann: Ask;

export const jobs = "/w/acme/jobs";
export const PUBLIC_JOBS = "/w/acme/jobs_u";

export const js = (expr: string) => ({ type: "javascript", expr });
export const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
export const createApprovalStep = (suspend: object = {}, content = "export const main = () => 'asked'") =>
  script("a", content, {}, { suspend });
/** Returns what its expressions saw of the approvals. */
export const stepAfterApproval = script("b", "export const main = (seen: unknown) => seen", {
  seen: js("({ resume, resumes, approvers, a: results.a })"),
});

let count = 0;
export async function startFlow(modules: object[], from: Ask = ask, more: object = {}): Promise<string> {
  const path = `u/admin/approval_${++count}`;
  await expectOk(ask("POST", "/w/acme/flows/create", { path, summary: "", value: { modules, ...more } }));
  return (await expectOk(from("POST", `${jobs}/run/f/${path}`, {}))).text;
}
export const getPublicJob = async (id: string, from = ask) =>
  (await expectOk(from("GET", `${PUBLIC_JOBS}/get/${id}`))).json();
export const awaitFlowEnd = (id: string, from = ask): Promise<any> =>
  until(async () => {
    const job = await getPublicJob(id, from);
    return job.type === "CompletedJob" ? job : undefined;
  }, "the flow's end");
/** @returns the job of the step that asks for approval, once the flow waits for it */
export const awaitApprovalStep = (id: string, from = ask): Promise<string> =>
  until(async () => {
    const { flow_status } = await getPublicJob(id, from);
    return flow_status.approval_conditions ? flow_status.modules[flow_status.step - 1].job : undefined;
  }, "the flow's waiting");
export async function getResumeUrls(job: string, resume_id: number, approver?: string, from = ask) {
  const search = approver ? `?approver=${encodeURIComponent(approver)}` : "";
  const links = (await expectOk(from("GET", `${jobs}/resume_urls/${job}/${resume_id}${search}`))).json();
  const below = (url: string) => url.slice(`${server.url}/api`.length);
  return { page: links.approvalPage as string, resume: below(links.resume), cancel: below(links.cancel) };
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpApprovals(): void {
  beforeAll(async () => {
    server = await startTestServer({ workers: 4 });
    ({ ask, token } = await server.workspace());
    nobody = server.as(undefined);
    ({ ask: ann } = await server.member("acme", "ann"));
  });
  afterAll(() => server.stop());
}
