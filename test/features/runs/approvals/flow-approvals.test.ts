/** Flows that wait for approval: signed links, owners, the approval page, and who may answer. */
import { describe, expect, test } from "bun:test";
import { type Ask, expectOk, until } from "../../../support/harness.ts";
import {
  ann,
  ask,
  awaitApprovalStep,
  awaitFlowEnd,
  createApprovalStep,
  getPublicJob,
  getResumeUrls,
  jobs,
  nobody,
  PUBLIC_JOBS,
  script,
  server,
  setUpApprovals,
  startFlow,
  stepAfterApproval,
} from "./approvals-setup.ts";

setUpApprovals();

describe("signed links", () => {
  test("approve with a payload that the next step reads, by POST and by GET", async () => {
    for (const method of ["POST", "GET"]) {
      const flow = await startFlow([createApprovalStep(), stepAfterApproval]);
      const job = await awaitApprovalStep(flow);
      const { resume } = await getResumeUrls(job, 4_294_967_295, "Ann & Bob");
      const payload = { yes: 1, text: "ü" };
      const query = `&payload=${Buffer.from(JSON.stringify(payload)).toString("base64url")}`;
      const answer =
        method === "GET" ? await nobody("GET", resume + query) : await nobody("POST", resume, payload);
      expect([answer.status, answer.text]).toEqual([201, ""]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      const { result, success } = await awaitFlowEnd(flow);
      expect(success).toBe(true);
      expect(result).toEqual({ resume: payload, resumes: [payload], approvers: ["Ann & Bob"], a: "asked" });
    }
  });

  test("sign the job, the number and the approver", async () => {
    const flow = await startFlow([createApprovalStep(), stepAfterApproval]);
    const job = await awaitApprovalStep(flow);
    const given = async (approver?: string) => {
      const search = approver ? `?approver=${approver}` : "";
      return (await expectOk(ask("GET", `${jobs}/job_signature/${job}/7${search}`))).text;
    };
    const { signForWorkspace } = await import("../../../../src/features/tenancy/workspaces/signing.ts");
    const { app } = server.server;
    const bytes = Buffer.from(`${job.replaceAll("-", "")}00000007`, "hex");
    const right = async (text: string) =>
      (await signForWorkspace(app, "acme", "approval", [bytes, text])).toString("hex");
    expect(await given()).toBe(await right(""));
    expect(await given("ann")).toBe(await right("ann"));
    expect(await given()).not.toBe(await given("ann"));
    await expectOk(ask("POST", `${PUBLIC_JOBS}/queue/cancel/${flow}`, {}));
  });

  test.each([
    ["of another number", (link: string) => link.replace("/5/", "/6/")],
    ["for somebody else", (link: string) => link.replace("approver=ann", "approver=bob")],
    ["for nobody", (link: string) => link.replace("?approver=ann", "")],
    ["cut short", (link: string) => link.replace(/([0-9a-f]{64})/, (all) => all.slice(2))],
    ["no hex at all", (link: string) => link.replace(/([0-9a-f]{64})/, "zz")],
    ["of another job", (link: string) => link.replace(/[0-9a-f-]{36}/, crypto.randomUUID())],
    ["of another workspace", (link: string) => link.replace("/w/acme/", "/w/other/")],
  ])("a signature %s is rejected, and the flow does not continue", async (_, change) => {
    const flow = await startFlow([createApprovalStep(), stepAfterApproval]);
    const { resume, cancel } = await getResumeUrls(await awaitApprovalStep(flow), 5, "ann");
    for (const link of [resume, cancel]) {
      const answer = await nobody("POST", change(link), {});
      expect([answer.status, answer.headers.get("svc-error")]).toEqual([401, "Unauthorized"]);
    }
    expect((await getPublicJob(flow)).type).toBe("QueuedJob");
    await expectOk(ask("POST", `${PUBLIC_JOBS}/queue/cancel/${flow}`, {}));
  });

  test("give access to the step's result, and to nothing else", async () => {
    const flow = await startFlow([createApprovalStep({ required_events: 2 }), stepAfterApproval], ask, {
      failure_module: script("failure", "export const main = () => 0"),
    });
    const job = await awaitApprovalStep(flow);
    const { resume } = await getResumeUrls(job, 3, "ann");
    const [, secret] = resume.match(/([0-9a-f]{64})/)!;
    const read = (id: string, query: string) =>
      nobody("GET", `${PUBLIC_JOBS}/completed/get_result/${id}?suspended_job=${job}&${query}`);
    const right = `resume_id=3&approver=ann&secret=${secret}`;
    const answer = await read(job, right);
    expect([answer.status, answer.json()]).toEqual([200, "asked"]);
    for (const wrong of [right.replace("=3", "=4"), right.replace("ann", "bob"), "resume_id=3&secret=00"]) {
      expect((await read(job, wrong)).status).toBe(401);
    }
    expect((await read(flow, right)).status).toBe(404);
    // Without a signature, an anonymous caller is told to log in.
    expect((await nobody("GET", `${PUBLIC_JOBS}/completed/get_result/${job}`)).status).toBe(400);

    expect(await getPublicJob(flow)).toMatchObject({
      suspend: 2,
      flow_status: {
        // The index of the waiting module, after the one that asks.
        step: 1,
        modules: [{ type: "Success" }, { type: "WaitingForEvents" }],
        failure_module: { type: "WaitingForPriorSteps", parent_module: "a" },
      },
    });
    const listed = async (path: string) =>
      (await expectOk(ask("GET", `${jobs}/${path}`))).json().filter((one: any) => one.id === flow);
    for (const path of [
      "list",
      "queue/list",
      "queue/list?suspended=true",
      "list?suspended=true&running=true",
    ]) {
      expect([path, (await listed(path))[0]?.suspend]).toEqual([path, 2]);
    }
    expect(await listed("queue/list?suspended=false")).toEqual([]);
    const { suspended } = (await expectOk(ask("GET", `${jobs}/queue/count`))).json();
    expect(suspended).toBe((await expectOk(ask("GET", `${jobs}/queue/list?suspended=true`))).json().length);
    const depth = (await expectOk(ask("GET", `${jobs}/queue/depth`))).json();
    expect(depth.map((each: any) => each.suspended)).toEqual([suspended]);
    await nobody("POST", resume, {});
    expect((await getPublicJob(flow)).suspend).toBe(1);
    await nobody("POST", (await getResumeUrls(job, 4)).resume, {});
    expect((await awaitFlowEnd(flow)).suspend).toBeUndefined();
  });

  test("the approvals that a run waits for are listed with their forms, and why a user may not answer", async () => {
    const resume_form = {
      schema: { properties: { size: { type: "string" }, note: { type: "string" } }, required: ["size"] },
    };
    const content =
      "export const main = () => ({ enums: { size: ['s', 'm'] }, default_args: { note: 'hm' } })";
    const step = createApprovalStep(
      { resume_form, self_approval_disabled: true, hide_cancel: true },
      content,
    );
    const value = { modules: [step, stepAfterApproval] };
    const flow = (await expectOk(ann("POST", `${jobs}/run/preview_flow`, { value, args: {} }))).text;
    const job = await awaitApprovalStep(flow);
    const listed = async (from: Ask) => {
      const answer = (await expectOk(from("GET", `${jobs}/flow/steps/${flow}`))).json();
      return answer.approvals;
    };
    const [request, ...others] = await listed(ask);
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      job_id: job,
      flow_job_id: flow,
      step_id: "a",
      schema: {
        type: "object",
        required: ["size"],
        properties: { size: { enum: ["s", "m"] }, note: { type: "string", default: "hm" } },
      },
      required_events: 1,
      approvers: [],
      hide_cancel: true,
    });
    expect(request.refusal).toBeUndefined();
    expect((await listed(ann))[0].refusal).toContain("self-approval is disabled");
    await expectOk(ask("POST", `${jobs}/flow/resume/${flow}`, { size: "m" }));
    await awaitFlowEnd(flow);
    expect(await listed(ask)).toEqual([]);
  });

  test("a rejection fails the flow, or continues if the step allows it", async () => {
    const flow = await startFlow([createApprovalStep(), stepAfterApproval]);
    const { cancel } = await getResumeUrls(await awaitApprovalStep(flow), 1, "Bob");
    expect((await nobody("POST", cancel, {})).status).toBe(201);
    const job = await awaitFlowEnd(flow);
    expect(job.success).toBe(false);
    expect(job.result.error).toMatchObject({ name: "Disapproved", step_id: "a" });
    expect(job.result.error.message).toContain("Bob");

    const goingOn = await startFlow([
      createApprovalStep({ continue_on_disapprove_timeout: true }),
      stepAfterApproval,
    ]);
    const links = await getResumeUrls(await awaitApprovalStep(goingOn), 1);
    expect((await nobody("GET", links.cancel)).status).toBe(201);
    const { success, result } = await awaitFlowEnd(goingOn);
    expect(success).toBe(true);
    expect(result.resume.error.name).toBe("Disapproved");
  });

  test("each number answers once, and after the end nothing waits for answers", async () => {
    const flow = await startFlow([createApprovalStep({ required_events: 2 }), stepAfterApproval]);
    const job = await awaitApprovalStep(flow);
    const [one, two, three] = await Promise.all([
      getResumeUrls(job, 1),
      getResumeUrls(job, 2),
      getResumeUrls(job, 3),
    ]);
    expect((await nobody("POST", one.resume, { n: 1 })).status).toBe(201);
    const again = await nobody("POST", one.resume, { n: 1 });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining("used already")]);
    expect((await nobody("POST", one.cancel, {})).status).toBe(400);
    expect((await getPublicJob(flow)).flow_status).toMatchObject({
      approval_conditions: { user_auth_required: false },
      modules: [
        { id: "a", approvers: [{ resume_id: 1, approver: "anonymous" }] },
        { id: "b", type: "WaitingForEvents", count: 2 },
      ],
    });
    expect((await ask("POST", two.resume, { n: 2 })).status).toBe(201);
    const { result } = await awaitFlowEnd(flow);
    expect(result).toMatchObject({ resume: { n: 2 }, resumes: [{ n: 1 }, { n: 2 }] });
    expect(result.approvers).toEqual(["anonymous", "admin"]);
    const late = await nobody("POST", three.resume, {});
    expect([late.status, late.text]).toEqual([409, expect.stringContaining("has ended")]);
    expect((await nobody("POST", one.resume, {})).status).toBe(400);
  });

  test("counts many concurrent answers, and reports one too many", async () => {
    const flow = await startFlow([createApprovalStep({ required_events: 10 }), stepAfterApproval]);
    const job = await awaitApprovalStep(flow);
    const links = await Promise.all(Array.from({ length: 12 }, (_, index) => getResumeUrls(job, index)));
    const answers = await Promise.all(links.map(({ resume }) => nobody("POST", resume, {})));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    expect((await awaitFlowEnd(flow)).result.resumes).toHaveLength(10);
  });

  test("an answer after the flow continued is rejected as late", async () => {
    const flow = await startFlow([createApprovalStep(), { ...createApprovalStep(), id: "z" }]);
    const first = await awaitApprovalStep(flow);
    const [one, two] = await Promise.all([getResumeUrls(first, 1), getResumeUrls(first, 2)]);
    expect((await nobody("POST", one.resume, {})).status).toBe(201);
    const second = await until(async () => {
      const job = await awaitApprovalStep(flow);
      return job === first ? undefined : job;
    });
    const late = await nobody("POST", two.resume, {});
    expect([late.status, late.text]).toEqual([409, expect.stringContaining("has continued")]);
    expect((await nobody("POST", (await getResumeUrls(second, 1)).resume, {})).status).toBe(201);
    expect((await awaitFlowEnd(flow)).result).toBe("asked");
  });

  test("report an invalid job or number", async () => {
    const flow = await startFlow([script("a", "export const main = () => 1")]);
    const { flow_status } = await awaitFlowEnd(flow);
    const job = flow_status.modules[0].job;
    const noSuspend = await nobody("POST", (await getResumeUrls(job, 1)).resume, {});
    expect([noSuspend.status, noSuspend.text]).toEqual([400, expect.stringContaining("no `suspend`")]);
    const refused = await ask("GET", `${jobs}/resume_urls/${flow}/1`);
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("does not wait")]);
    for (const bad of [`${job}/4294967296`, `${job}/-1`, `${job}/x`, "nojob/1"]) {
      expect((await ask("GET", `${jobs}/job_signature/${bad}`)).status).toBe(400);
    }
    const stranger = (await server.member("acme", "stranger")).ask;
    expect((await stranger("GET", `${jobs}/job_signature/${job}/1`)).status).toBe(404);
  });
});

describe("an answer before the flow waits", () => {
  // The step itself approves or rejects while it runs.
  const early = (verb: string) => `export async function main() {
    const at = process.env.BASE_INTERNAL_URL + "/api/w/acme/jobs";
    const headers = { authorization: "Bearer " + process.env.WM_TOKEN, "content-type": "application/json" };
    const links = await (await fetch(at + "/resume_urls/" + process.env.WM_JOB_ID + "/9", { headers })).json();
    const answer = await fetch(links.${verb}, { method: "POST", headers, body: '{"early":true}' });
    return answer.status;
  }`;

  test("takes effect at once", async () => {
    const flow = await startFlow([createApprovalStep({}, early("resume")), stepAfterApproval]);
    const { result } = await awaitFlowEnd(flow);
    expect(result).toMatchObject({ resume: { early: true }, a: 201 });
    const refused = await awaitFlowEnd(
      await startFlow([createApprovalStep({}, early("cancel")), stepAfterApproval]),
    );
    expect(refused.result.error.name).toBe("Disapproved");
  });

  test("counts together with later ones, in a branch too", async () => {
    const inner = createApprovalStep({ required_events: 2 }, early("resume"));
    const branch = {
      id: "o",
      value: { type: "branchall", branches: [{ modules: [inner, stepAfterApproval] }, { modules: [] }] },
    };
    const flow = await startFlow([branch]);
    await until(async () => {
      const answer = await ask("POST", `${jobs}/flow/resume/${flow}`, { later: true });
      return answer.status === 201 ? true : undefined;
    });
    expect((await awaitFlowEnd(flow)).result[0]).toMatchObject({
      resumes: [{ early: true }, { later: true }],
    });
  });
});
