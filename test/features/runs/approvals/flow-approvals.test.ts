/** Flows that wait for approval: signed links, owners, the page for people, and who may answer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Ask,
  createDatabase,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;
let nobody: Ask;
let ann: Ask;

beforeAll(async () => {
  server = await startTestServer({ workers: 4 });
  ({ ask, token } = await server.workspace());
  nobody = server.as(undefined);
  ({ ask: ann } = await server.member("acme", "ann"));
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const open = "/w/acme/jobs_u";

const js = (expr: string) => ({ type: "javascript", expr });
const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
const asks = (suspend: object = {}, content = "export const main = () => 'asked'") =>
  script("a", content, {}, { suspend });
/** Tells what its expressions saw of the approvals. */
const after = script("b", "export const main = (seen: unknown) => seen", {
  seen: js("({ resume, resumes, approvers, a: results.a })"),
});

let count = 0;
async function start(modules: object[], from: Ask = ask, more: object = {}): Promise<string> {
  const path = `u/admin/approval_${++count}`;
  await expectOk(ask("POST", "/w/acme/flows/create", { path, summary: "", value: { modules, ...more } }));
  return (await expectOk(from("POST", `${jobs}/run/f/${path}`, {}))).text;
}
const get = async (id: string, from = ask) => (await expectOk(from("GET", `${open}/get/${id}`))).json();
const ended = (id: string, from = ask): Promise<any> =>
  until(async () => {
    const job = await get(id, from);
    return job.type === "CompletedJob" ? job : undefined;
  }, "the flow's end");
/** @returns the job of the step that asks, once the flow waits for it */
const waiting = (id: string, from = ask): Promise<string> =>
  until(async () => {
    const { flow_status } = await get(id, from);
    return flow_status.approval_conditions ? flow_status.modules[flow_status.step - 1].job : undefined;
  }, "the flow's waiting");
async function urls(job: string, resume_id: number, approver?: string, from = ask) {
  const search = approver ? `?approver=${encodeURIComponent(approver)}` : "";
  const links = (await expectOk(from("GET", `${jobs}/resume_urls/${job}/${resume_id}${search}`))).json();
  const below = (url: string) => url.slice(`${server.url}/api`.length);
  return { page: links.approvalPage as string, resume: below(links.resume), cancel: below(links.cancel) };
}

describe("signed links", () => {
  test("approve with a payload that the next step reads, by POST and by GET", async () => {
    for (const method of ["POST", "GET"]) {
      const flow = await start([asks(), after]);
      const job = await waiting(flow);
      const { resume } = await urls(job, 4_294_967_295, "Ann & Bob");
      const payload = { yes: 1, text: "ü" };
      const query = `&payload=${Buffer.from(JSON.stringify(payload)).toString("base64url")}`;
      const answer =
        method === "GET" ? await nobody("GET", resume + query) : await nobody("POST", resume, payload);
      expect([answer.status, answer.text]).toEqual([201, ""]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      const { result, success } = await ended(flow);
      expect(success).toBe(true);
      expect(result).toEqual({ resume: payload, resumes: [payload], approvers: ["Ann & Bob"], a: "asked" });
    }
  });

  test("sign the job, the number and the approver", async () => {
    const flow = await start([asks(), after]);
    const job = await waiting(flow);
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
    await expectOk(ask("POST", `${open}/queue/cancel/${flow}`, {}));
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
    const flow = await start([asks(), after]);
    const { resume, cancel } = await urls(await waiting(flow), 5, "ann");
    for (const link of [resume, cancel]) {
      const answer = await nobody("POST", change(link), {});
      expect([answer.status, answer.headers.get("svc-error")]).toEqual([401, "Unauthorized"]);
    }
    expect((await get(flow)).type).toBe("QueuedJob");
    await expectOk(ask("POST", `${open}/queue/cancel/${flow}`, {}));
  });

  test("give access to the step's result, and to nothing else", async () => {
    const flow = await start([asks({ required_events: 2 }), after], ask, {
      failure_module: script("failure", "export const main = () => 0"),
    });
    const job = await waiting(flow);
    const { resume } = await urls(job, 3, "ann");
    const [, secret] = resume.match(/([0-9a-f]{64})/)!;
    const read = (id: string, query: string) =>
      nobody("GET", `${open}/completed/get_result/${id}?suspended_job=${job}&${query}`);
    const right = `resume_id=3&approver=ann&secret=${secret}`;
    const answer = await read(job, right);
    expect([answer.status, answer.json()]).toEqual([200, "asked"]);
    for (const wrong of [right.replace("=3", "=4"), right.replace("ann", "bob"), "resume_id=3&secret=00"]) {
      expect((await read(job, wrong)).status).toBe(401);
    }
    expect((await read(flow, right)).status).toBe(404);
    // Without a signature, a stranger is told to log in.
    expect((await nobody("GET", `${open}/completed/get_result/${job}`)).status).toBe(400);

    expect(await get(flow)).toMatchObject({
      suspend: 2,
      flow_status: {
        // The index of the module that waits, after the one that asks.
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
    expect((await get(flow)).suspend).toBe(1);
    await nobody("POST", (await urls(job, 4)).resume, {});
    expect((await ended(flow)).suspend).toBeUndefined();
  });

  test("the approvals that a run waits for are listed with their forms, and why a user may not answer", async () => {
    const resume_form = {
      schema: { properties: { size: { type: "string" }, note: { type: "string" } }, required: ["size"] },
    };
    const content =
      "export const main = () => ({ enums: { size: ['s', 'm'] }, default_args: { note: 'hm' } })";
    const step = asks({ resume_form, self_approval_disabled: true, hide_cancel: true }, content);
    const value = { modules: [step, after] };
    const flow = (await expectOk(ann("POST", `${jobs}/run/preview_flow`, { value, args: {} }))).text;
    const job = await waiting(flow);
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
    await ended(flow);
    expect(await listed(ask)).toEqual([]);
  });

  test("a rejection fails the flow, or continues if the step allows it", async () => {
    const flow = await start([asks(), after]);
    const { cancel } = await urls(await waiting(flow), 1, "Bob");
    expect((await nobody("POST", cancel, {})).status).toBe(201);
    const job = await ended(flow);
    expect(job.success).toBe(false);
    expect(job.result.error).toMatchObject({ name: "Disapproved", step_id: "a" });
    expect(job.result.error.message).toContain("Bob");

    const goingOn = await start([asks({ continue_on_disapprove_timeout: true }), after]);
    const links = await urls(await waiting(goingOn), 1);
    expect((await nobody("GET", links.cancel)).status).toBe(201);
    const { success, result } = await ended(goingOn);
    expect(success).toBe(true);
    expect(result.resume.error.name).toBe("Disapproved");
  });

  test("each number answers once, and after the end nothing waits for answers", async () => {
    const flow = await start([asks({ required_events: 2 }), after]);
    const job = await waiting(flow);
    const [one, two, three] = await Promise.all([urls(job, 1), urls(job, 2), urls(job, 3)]);
    expect((await nobody("POST", one.resume, { n: 1 })).status).toBe(201);
    const again = await nobody("POST", one.resume, { n: 1 });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining("used already")]);
    expect((await nobody("POST", one.cancel, {})).status).toBe(400);
    expect((await get(flow)).flow_status).toMatchObject({
      approval_conditions: { user_auth_required: false },
      modules: [
        { id: "a", approvers: [{ resume_id: 1, approver: "anonymous" }] },
        { id: "b", type: "WaitingForEvents", count: 2 },
      ],
    });
    expect((await ask("POST", two.resume, { n: 2 })).status).toBe(201);
    const { result } = await ended(flow);
    expect(result).toMatchObject({ resume: { n: 2 }, resumes: [{ n: 1 }, { n: 2 }] });
    expect(result.approvers).toEqual(["anonymous", "admin"]);
    const late = await nobody("POST", three.resume, {});
    expect([late.status, late.text]).toEqual([409, expect.stringContaining("has ended")]);
    expect((await nobody("POST", one.resume, {})).status).toBe(400);
  });

  test("counts many concurrent answers, and reports one too many", async () => {
    const flow = await start([asks({ required_events: 10 }), after]);
    const job = await waiting(flow);
    const links = await Promise.all(Array.from({ length: 12 }, (_, index) => urls(job, index)));
    const answers = await Promise.all(links.map(({ resume }) => nobody("POST", resume, {})));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    expect((await ended(flow)).result.resumes).toHaveLength(10);
  });

  test("an answer after the flow continued is rejected as late", async () => {
    const flow = await start([asks(), { ...asks(), id: "z" }]);
    const first = await waiting(flow);
    const [one, two] = await Promise.all([urls(first, 1), urls(first, 2)]);
    expect((await nobody("POST", one.resume, {})).status).toBe(201);
    const second = await until(async () => {
      const job = await waiting(flow);
      return job === first ? undefined : job;
    });
    const late = await nobody("POST", two.resume, {});
    expect([late.status, late.text]).toEqual([409, expect.stringContaining("has continued")]);
    expect((await nobody("POST", (await urls(second, 1)).resume, {})).status).toBe(201);
    expect((await ended(flow)).result).toBe("asked");
  });

  test("report an invalid job or number", async () => {
    const flow = await start([script("a", "export const main = () => 1")]);
    const { flow_status } = await ended(flow);
    const job = flow_status.modules[0].job;
    const noSuspend = await nobody("POST", (await urls(job, 1)).resume, {});
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
  // The step itself approves or refuses while it runs.
  const early = (verb: string) => `export async function main() {
    const at = process.env.BASE_INTERNAL_URL + "/api/w/acme/jobs";
    const headers = { authorization: "Bearer " + process.env.WM_TOKEN, "content-type": "application/json" };
    const links = await (await fetch(at + "/resume_urls/" + process.env.WM_JOB_ID + "/9", { headers })).json();
    const answer = await fetch(links.${verb}, { method: "POST", headers, body: '{"early":true}' });
    return answer.status;
  }`;

  test("takes effect at once", async () => {
    const flow = await start([asks({}, early("resume")), after]);
    const { result } = await ended(flow);
    expect(result).toMatchObject({ resume: { early: true }, a: 201 });
    const refused = await ended(await start([asks({}, early("cancel")), after]));
    expect(refused.result.error.name).toBe("Disapproved");
  });

  test("counts together with later ones, in a branch too", async () => {
    const inner = asks({ required_events: 2 }, early("resume"));
    const branch = {
      id: "o",
      value: { type: "branchall", branches: [{ modules: [inner, after] }, { modules: [] }] },
    };
    const flow = await start([branch]);
    await until(async () => {
      const answer = await ask("POST", `${jobs}/flow/resume/${flow}`, { later: true });
      return answer.status === 201 ? true : undefined;
    });
    expect((await ended(flow)).result[0]).toMatchObject({ resumes: [{ early: true }, { later: true }] });
  });
});

describe("an owner", () => {
  test("approves without a link; others may not", async () => {
    const flow = await start([asks(), after]);
    await waiting(flow);
    expect((await nobody("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(401);
    expect((await ann("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(404);
    expect((await ask("POST", `${jobs}/flow/resume/${flow}`, { by: "owner" })).status).toBe(201);
    expect((await ended(flow)).result).toMatchObject({ resume: { by: "owner" }, approvers: ["admin"] });
    expect((await ask("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(409);
  });

  test("gets an error if nothing waits", async () => {
    const flow = await start([script("a", "export const main = () => 1")]);
    await ended(flow);
    expect((await ask("POST", `${jobs}/flow/resume/${flow}`, {})).status).toBe(409);
    const { modules } = (await get(flow)).flow_status;
    expect((await ask("POST", `${jobs}/flow/resume/${modules[0].job}`, {})).status).toBe(400);
  });
});

describe("approvers", () => {
  async function linkOf(suspend: object) {
    const flow = await start([asks(suspend), after]);
    return { flow, ...(await urls(await waiting(flow), 1)) };
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
    expect((await ended(flow)).result.approvers).toEqual(["ann"]);
  });

  test("only members of groups, which an expression may compute", async () => {
    const everybody = await linkOf({ user_groups_required: js("[result === 'asked' ? 'all' : 'none']") });
    expect((await nobody("POST", everybody.resume, {})).status).toBe(401);
    expect((await ann("POST", everybody.resume, {})).status).toBe(201);
    await ended(everybody.flow);
    const few = await linkOf({ user_groups_required: { type: "static", value: ["board"] } });
    const refused = await ann("POST", few.resume, {});
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("board")]);
    await expectOk(ask("POST", `${open}/queue/cancel/${few.flow}`, {}));
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
    expect((await ended(flow)).success).toBe(true);
  });
});

test("a signed link reads the flow, and who has approved", async () => {
  const flow = await start([asks({ required_events: 2 }), after]);
  const { resume } = await urls(await waiting(flow), 3, "Zoe");
  expect((await nobody("POST", resume, {})).status).toBe(201);
  const link = resume.replace("/resume/", "/get_flow/");
  const { job, approvers } = (await expectOk(nobody("GET", link))).json();
  expect(job).toMatchObject({ id: flow, job_kind: "flow" });
  expect(approvers).toEqual([{ resume_id: 3, approver: "Zoe" }]);
  expect((await nobody("GET", link.replace("Zoe", "Zoa"))).status).toBe(401);
  await expectOk(ask("POST", `${open}/queue/cancel/${flow}`, {}));
});

test("answers leave audit rows", async () => {
  const rows = async (operation: string) =>
    (await ask("GET", `/w/acme/audit/list?operation=${operation}&per_page=1000`)).json();
  const flow = await start([asks({ required_events: 2 }), after]);
  const job = await waiting(flow);
  const one = await urls(job, 1, "Ann");
  await expectOk(nobody("POST", one.resume, {}));
  await expectOk(ask("POST", (await urls(job, 2)).cancel, {}));
  await ended(flow);
  const approved = (await rows("jobs.suspend_resume")).filter((row: any) => row.resource === flow);
  expect(approved).toMatchObject([
    { username: "anonymous", parameters: { step_job: job, resume_id: "1", approver: "Ann" } },
  ]);
  const refused = (await rows("jobs.disapproval")).filter((row: any) => row.resource === flow);
  expect(refused).toMatchObject([{ username: "admin", parameters: { resume_id: "2" } }]);
});

test("scripts of a flow share values", async () => {
  const flow = await start([script("a", "export const main = () => 1")]);
  const at = `${jobs}/flow/user_states/${flow}/key`;
  expect((await ask("GET", at)).json()).toBeNull();
  for (const value of [{ a: [1] }, "text", null, 7]) {
    expect(
      (await ask("POST", at, JSON.stringify(value), { "content-type": "application/json" })).status,
    ).toBe(200);
    expect((await ask("GET", at)).json()).toEqual(value);
  }
  const { flow_status } = await ended(flow);
  expect((await get(flow)).flow_status.user_states).toEqual({ key: 7 });
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
    const flow = await start([asks({}, others), after]);
    const { page } = await urls(await waiting(flow), 1);
    const text = await (await fetch(page)).text();
    for (const shown of ["amount", "12", "kept"]) expect(text).toContain(shown);
    expect(text).not.toContain("svc.example");
  });

  test("shows the request with a form, and no active content", async () => {
    const flow = await start([{ ...asks({ resume_form }, content), summary: evil }, after]);
    const { page } = await urls(await waiting(flow), 1, evil);
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
    expect(text).toContain(`type="checkbox" name="field urgent"`);
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
    const { result } = await ended(flow);
    expect(result.resume).toEqual({ reason: "fine", amount: 3, urgent: true, size: 2, more: { a: 1 } });
    expect(result.approvers).toEqual([evil]);
    const late = await (await fetch(page)).text();
    expect(late).toContain("has ended");
    expect(late).not.toContain("<form");
  });

  test("rejects without the form, and hides that if the flow says so", async () => {
    const flow = await start([asks({ resume_form, hide_cancel: true }), after]);
    const { page } = await urls(await waiting(flow), 1);
    expect(await (await fetch(page)).text()).not.toContain(`value="reject"`);
    expect((await send(page, { answer: "reject" })).status).toBe(200);
    expect((await ended(flow)).result.error.name).toBe("Disapproved");
    expect((await fetch(page.replace(/[0-9a-f]{64}/, "0".repeat(64)))).status).toBe(401);
    expect((await fetch(page, { method: "DELETE" })).status).toBe(405);
  });

  test("knows the logged-in user, but not when another site sends the form", async () => {
    const flow = await start([asks({ user_auth_required: true }), after]);
    const { page } = await urls(await waiting(flow), 1);
    const cookie = `token=${token}`;
    const foreign = await send(page, { answer: "approve" }, { cookie, "sec-fetch-site": "cross-site" });
    expect(foreign.status).toBe(401);
    expect((await send(page, { answer: "approve" }, { cookie })).status).toBe(200);
    expect((await ended(flow)).result.approvers).toEqual(["admin"]);
  });
});

test("the approval times out", async () => {
  const { error } = (await ended(await start([asks({ timeout: 1 }), after]))).result;
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
    const value = { modules: [asks({ required_events: 2 }), after] };
    await expectOk(admin("POST", "/w/acme/flows/create", { path: "u/admin/flow", summary: "", value }));
    const flow = (await expectOk(admin("POST", `${jobs}/run/f/u/admin/flow`, {}))).text;
    const job = await waiting(flow, admin);
    const link = async (id: number) => {
      const { resume } = (await expectOk(admin("GET", `${jobs}/resume_urls/${job}/${id}`))).json();
      return resume.slice(`${first.url}/api`.length) as string;
    };
    const [one, two] = [await link(1), await link(2)];
    await expectOk(admin("POST", one, { n: 1 }));
    await first.stop();
    const second = await startTestServer(where);
    await expectOk(second.as(undefined)("POST", two, { n: 2 }));
    const { result } = await ended(flow, second.as(secret));
    expect(result).toMatchObject({ resumes: [{ n: 1 }, { n: 2 }], a: "asked" });
    await second.stop();
  } finally {
    rmSync(data_dir, { recursive: true, force: true });
    await database?.drop();
  }
});
