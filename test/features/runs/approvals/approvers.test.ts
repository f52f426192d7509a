/** The right to approve, also on the page; stored approvals, and what a restart does with them. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDatabase, expectOk, startTestServer } from "../../../support/harness.ts";
import {
  ann,
  ask,
  awaitApprovalStep,
  awaitFlowEnd,
  createApprovalStep,
  getPublicJob,
  getResumeUrls,
  jobs,
  js,
  nobody,
  PUBLIC_JOBS,
  script,
  server,
  setUpApprovals,
  startFlow,
  stepAfterApproval,
  token,
} from "./approvals-setup.ts";

setUpApprovals();

describe("an owner", () => {
  test("approves without a link; others may not", async () => {
    const flow = await startFlow([createApprovalStep(), stepAfterApproval]);
    await awaitApprovalStep(flow);
    expect((await nobody("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(401);
    expect((await ann("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(404);
    expect((await ask("POST", `${jobs}/flow/resume/${flow}`, { by: "owner" })).status).toBe(201);
    expect((await awaitFlowEnd(flow)).result).toMatchObject({
      resume: { by: "owner" },
      approvers: ["admin"],
    });
    expect((await ask("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(409);
  });

  test("gets an error if nothing waits", async () => {
    const flow = await startFlow([script("a", "export const main = () => 1")]);
    await awaitFlowEnd(flow);
    expect((await ask("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(409);
    const { modules } = (await getPublicJob(flow)).flow_status;
    expect((await ask("POST", `${jobs}/flow/resume/${modules[0].job}`, {})).status).toBe(400);
  });
});

describe("approvers", () => {
  async function linkOf(suspend: object) {
    const flow = await startFlow([createApprovalStep(suspend), stepAfterApproval]);
    return { flow, ...(await getResumeUrls(await awaitApprovalStep(flow), 1)) };
  }

  test("only logged-in users", async () => {
    const { flow, resume, page } = await linkOf({ user_auth_required: true });
    expect((await nobody("POST", resume, {})).status).toBe(401);
    const { ask: outsider } = await server.user("outsider");
    expect((await outsider("POST", resume, {})).status).toBe(403);
    const shown = await fetch(page);
    expect([shown.status, shown.headers.get("content-type")]).toEqual([401, "text/html; charset=utf-8"]);
    expect(await shown.text()).not.toContain("asks for approval");
    expect((await nobody("GET", resume.replace("/resume/", "/get_flow/"))).status).toBe(401);
    expect((await ann("POST", resume, {})).status).toBe(201);
    expect((await awaitFlowEnd(flow)).result.approvers).toEqual(["ann"]);
  });

  test("only members of groups, which an expression may compute", async () => {
    const everybody = await linkOf({ user_groups_required: js("[result === 'asked' ? 'all' : 'none']") });
    expect((await nobody("POST", everybody.resume, {})).status).toBe(401);
    expect((await ann("POST", everybody.resume, {})).status).toBe(201);
    await awaitFlowEnd(everybody.flow);
    const few = await linkOf({ user_groups_required: { type: "static", value: ["board"] } });
    const refused = await ann("POST", few.resume, {});
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("board")]);
    await expectOk(ask("POST", `${PUBLIC_JOBS}/queue/cancel/${few.flow}`, {}));
  });

  test("not the user who started the flow, nor their scripts", async () => {
    const { flow, resume, cancel } = await linkOf({ self_approval_disabled: true });
    expect((await nobody("POST", resume, {})).status).toBe(401);
    for (const link of [resume, cancel]) {
      const own = await ask("POST", link, {});
      expect([own.status, own.text]).toEqual([403, expect.stringContaining("self-approval")]);
    }
    expect((await ask("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(403);
    const content = `export const main = async (url: string) => {
      const headers = { authorization: "Bearer " + process.env.WM_TOKEN };
      return (await fetch(url, { headers })).status;
    }`;
    const preview = { content, language: "bun", args: { url: `${server.url}/api${resume}` } };
    expect((await ann("POST", `${jobs}/run_wait_result/preview`, preview)).json()).toBe(403);
    expect((await ann("POST", resume, {})).status).toBe(201);
    expect((await awaitFlowEnd(flow)).success).toBe(true);
  });
});

test("a signed link reads the flow, and who has approved", async () => {
  const flow = await startFlow([createApprovalStep({ required_events: 2 }), stepAfterApproval]);
  const { resume } = await getResumeUrls(await awaitApprovalStep(flow), 3, "Zoe");
  expect((await nobody("POST", resume, {})).status).toBe(201);
  const link = resume.replace("/resume/", "/get_flow/");
  const { job, approvers } = (await expectOk(nobody("GET", link))).json();
  expect(job).toMatchObject({ id: flow, job_kind: "flow" });
  expect(approvers).toEqual([{ resume_id: 3, approver: "Zoe" }]);
  expect((await nobody("GET", link.replace("Zoe", "Zoa"))).status).toBe(401);
  await expectOk(ask("POST", `${PUBLIC_JOBS}/queue/cancel/${flow}`, {}));
});

test("answers leave audit rows", async () => {
  const rows = async (operation: string) =>
    (await ask("GET", `/w/acme/audit/list?operation=${operation}&per_page=1000`)).json();
  const flow = await startFlow([createApprovalStep({ required_events: 2 }), stepAfterApproval]);
  const job = await awaitApprovalStep(flow);
  const one = await getResumeUrls(job, 1, "Ann");
  await expectOk(nobody("POST", one.resume, {}));
  await expectOk(ask("POST", (await getResumeUrls(job, 2)).cancel, {}));
  await awaitFlowEnd(flow);
  const approved = (await rows("jobs.suspend_resume")).filter((row: any) => row.resource === flow);
  expect(approved).toMatchObject([
    { username: "anonymous", parameters: { step_job: job, resume_id: "1", approver: "Ann" } },
  ]);
  const refused = (await rows("jobs.disapproval")).filter((row: any) => row.resource === flow);
  expect(refused).toMatchObject([{ username: "admin", parameters: { resume_id: "2" } }]);
});

test("scripts of a flow share values", async () => {
  const flow = await startFlow([script("a", "export const main = () => 1")]);
  const at = `${jobs}/flow/user_states/${flow}/key`;
  expect((await ask("GET", at)).json()).toBeNull();
  for (const value of [{ a: [1] }, "text", null, 7]) {
    expect(
      (await ask("POST", at, JSON.stringify(value), { "content-type": "application/json" })).status,
    ).toBe(200);
    expect((await ask("GET", at)).json()).toEqual(value);
  }
  const { flow_status } = await awaitFlowEnd(flow);
  expect((await getPublicJob(flow)).flow_status.user_states).toEqual({ key: 7 });
  const step = flow_status.modules[0].job;
  expect((await ask("GET", `${jobs}/flow/user_states/${step}/key`)).status).toBe(404);
  expect((await ann("GET", at)).status).toBe(404);
});

describe("the page", () => {
  const evil = `"><script>alert('x')</script>&`;
  const resume_form = {
    schema: {
      properties: {
        reason: { type: "string", description: evil, default: evil },
        amount: { type: "integer" },
        urgent: { type: "boolean" },
        size: { enum: ["small", 2, evil] },
        more: { type: "object" },
      },
      required: ["reason", "amount"],
    },
  };
  const content = `export const main = () => ({ description: ${JSON.stringify(evil)}, default_args: { amount: 5 } })`;
  const send = (page: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(page, { method: "POST", body: new URLSearchParams(fields), headers });

  test("shows the step's result without links of other approvers, at any depth", async () => {
    const others = `export const main = () => ({
      amount: 12, ann: "https://svc.example/api/w/acme/jobs_u/resume/1/2/3",
      all: [{ bob: "https://svc.example/approve/acme/1/2/3" }, "kept"] })`;
    const flow = await startFlow([createApprovalStep({}, others), stepAfterApproval]);
    const { page } = await getResumeUrls(await awaitApprovalStep(flow), 1);
    const text = await (await fetch(page)).text();
    for (const shown of ["<dt>amount</dt><dd>12</dd>", "<dt>all</dt><dd><pre>", "kept"])
      expect(text).toContain(shown);
    expect(text).not.toContain("svc.example");
  });

  test("shows the request with a form, and no active content", async () => {
    const flow = await startFlow([
      { ...createApprovalStep({ resume_form }, content), summary: evil },
      stepAfterApproval,
    ]);
    const { page } = await getResumeUrls(await awaitApprovalStep(flow), 1, evil);
    const shown = await fetch(page);
    const text = await shown.text();
    expect(shown.status).toBe(200);
    const policy = shown.headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    const style = /<style>([^<]*)<\/style>/.exec(text)![1]!;
    expect(policy).toContain(new Bun.CryptoHasher("sha256").update(style).digest("base64"));
    expect(text).not.toContain("<script");
    expect(text.split("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;")).toHaveLength(6);
    expect(text).toContain(`type="number" step="1" name="field amount" value="5" required`);
    expect(text).toContain(`<label class="check"><input type="checkbox" name="field urgent"`);
    expect(text).toContain(`value="reject"`);

    const bad = await send(page, { answer: "approve", "field reason": "r", "field amount": "1.5" });
    expect([bad.status, (await bad.text()).includes("amount: must be a whole number")]).toEqual([400, true]);
    const missing = await send(page, { answer: "approve", "field amount": "1" });
    expect([missing.status, (await missing.text()).includes("reason: must be filled in")]).toEqual([
      400,
      true,
    ]);
    expect((await send(page, {})).status).toBe(400);
    const answer = await send(page, {
      answer: "approve",
      "field reason": "fine",
      "field amount": "3",
      "field urgent": "on",
      "field size": "1",
      "field more": '{"a":1}',
    });
    expect([answer.status, (await answer.text()).includes("Approved")]).toEqual([200, true]);
    const { result } = await awaitFlowEnd(flow);
    expect(result.resume).toEqual({ reason: "fine", amount: 3, urgent: true, size: 2, more: { a: 1 } });
    expect(result.approvers).toEqual([evil]);
    const late = await (await fetch(page)).text();
    expect(late).toContain("has ended");
    expect(late).not.toContain("<form");
  });

  test("rejects without the form, and hides that if the flow says so", async () => {
    const flow = await startFlow([createApprovalStep({ resume_form, hide_cancel: true }), stepAfterApproval]);
    const { page } = await getResumeUrls(await awaitApprovalStep(flow), 1);
    expect(await (await fetch(page)).text()).not.toContain(`value="reject"`);
    expect((await send(page, { answer: "reject" })).status).toBe(200);
    expect((await awaitFlowEnd(flow)).result.error.name).toBe("Disapproved");
    expect((await fetch(page.replace(/[0-9a-f]{64}/, "0".repeat(64)))).status).toBe(401);
    expect((await fetch(page, { method: "DELETE" })).status).toBe(405);
  });

  test("knows the logged-in user, but not when another site sends the form", async () => {
    const flow = await startFlow([createApprovalStep({ user_auth_required: true }), stepAfterApproval]);
    const { page } = await getResumeUrls(await awaitApprovalStep(flow), 1);
    const cookie = `token=${token}`;
    const foreign = await send(page, { answer: "approve" }, { cookie, "sec-fetch-site": "cross-site" });
    expect(foreign.status).toBe(403);
    expect((await send(page, { answer: "approve" }, { cookie })).status).toBe(200);
    expect((await awaitFlowEnd(flow)).result.approvers).toEqual(["admin"]);
  });
});

test("the approval times out", async () => {
  const { error } = (
    await awaitFlowEnd(await startFlow([createApprovalStep({ timeout: 1 }), stepAfterApproval]))
  ).result;
  expect(error).toMatchObject({ name: "ApprovalTimeout", step_id: "a" });
});

test("a flow that waits for approval is approved after a restart", async () => {
  const data_dir = mkdtempSync(join(tmpdir(), "svc-approvals-"));
  const database = process.env.DATABASE_URL
    ? await createDatabase(process.env.DATABASE_URL, "migrated")
    : undefined;
  const where = { data_dir, ...(database ? { database_url: database.url } : {}) };
  try {
    const first = await startTestServer(where);
    const { ask: admin, token: secret } = await first.workspace();
    const value = { modules: [createApprovalStep({ required_events: 2 }), stepAfterApproval] };
    await expectOk(admin("POST", "/w/acme/flows/create", { path: "u/admin/flow", summary: "", value }));
    const flow = (await expectOk(admin("POST", `${jobs}/run/f/u/admin/flow`, {}))).text;
    const job = await awaitApprovalStep(flow, admin);
    const link = async (id: number) => {
      const { resume } = (await expectOk(admin("GET", `${jobs}/resume_urls/${job}/${id}`))).json();
      return resume.slice(`${first.url}/api`.length) as string;
    };
    const [one, two] = [await link(1), await link(2)];
    await expectOk(admin("POST", one, { n: 1 }));
    await first.stop();
    const second = await startTestServer(where);
    await expectOk(second.as(undefined)("POST", two, { n: 2 }));
    const { result } = await awaitFlowEnd(flow, second.as(secret));
    expect(result).toMatchObject({ resumes: [{ n: 1 }, { n: 2 }], a: "asked" });
    await second.stop();
  } finally {
    rmSync(data_dir, { recursive: true, force: true });
    await database?.drop();
  }
});
