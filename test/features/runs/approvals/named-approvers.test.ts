/** Members of the groups that a step names as its approvers. */
import { expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import {
  ann,
  ask,
  awaitApprovalStep,
  awaitFlowEnd,
  createApprovalStep,
  getResumeUrls,
  jobs,
  PUBLIC_JOBS,
  script,
  server,
  setUpApprovals,
  stepAfterApproval,
} from "./approvals-setup.ts";

setUpApprovals();

test("members of the groups that a step names answer a run that they may only read, without being sent a link", async () => {
  const { ask: bea } = await server.member("acme", "bea");
  await expectOk(ask("POST", "/w/acme/groups/create", { name: "crew" }));
  await expectOk(ask("POST", "/w/acme/groups/adduser/crew", { username: "ann" }));
  const folder = { name: "open", extra_perms: { "g/all": false }, owners: ["u/admin"] };
  await expectOk(ask("POST", "/w/acme/folders/create", folder));
  const asking = createApprovalStep({ user_groups_required: { type: "static", value: ["crew"] } });
  const value = {
    modules: [asking, script("after", "export const main = () => Bun.sleep(20)"), stepAfterApproval],
  };
  await expectOk(ask("POST", "/w/acme/flows/create", { path: "f/open/asking", summary: "", value }));
  const flow = (await expectOk(ask("POST", `${jobs}/run/f/f/open/asking`, {}))).text;
  const job = await awaitApprovalStep(flow);
  const sign = (from: typeof ask, of: string, search = "") =>
    from("GET", `${jobs}/resume_urls/${of}/1${search}`).then(({ status }) => status);
  expect([await sign(bea, job), await sign(ann, job, "?approver=bea"), await sign(ann, job)]).toEqual([
    403, 403, 200,
  ]);
  const { resume } = await getResumeUrls(job, 1, "ann", ann);
  expect((await bea("POST", resume, {})).status).toBe(403);
  expect((await ann("POST", `${PUBLIC_JOBS}/queue/cancel/${flow}`, {})).status).toBe(403);
  expect((await ann("POST", resume, {})).status).toBe(201);
  const { flow_status } = await awaitFlowEnd(flow);
  expect(await sign(ann, flow_status.modules[1].job)).toBe(400);
});
