/** Links for programs in messages: what opens them there does not answer. */
import { expect, test } from "bun:test";
import {
  awaitApprovalStep,
  awaitFlowEnd,
  createApprovalStep,
  getPublicJob,
  getResumeUrls,
  nobody,
  server,
  setUpApprovals,
  startFlow,
  stepAfterApproval,
} from "./approvals-setup.ts";

setUpApprovals();

const PAYLOAD = { size: "<b>large</b>", n: 1 };
const encoded = `payload=${Buffer.from(JSON.stringify(PAYLOAD)).toString("base64url")}`;

async function startWaiting(approver?: string) {
  const flow = await startFlow([createApprovalStep(), stepAfterApproval]);
  return { flow, ...(await getResumeUrls(await awaitApprovalStep(flow), 1, approver)) };
}

const open = (below: string, headers: Record<string, string>, method = "GET") =>
  fetch(`${server.url}/api${below}`, { method, headers, redirect: "manual" });

test.each([
  [
    "a chat's preview",
    { "user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", accept: "*/*" },
  ],
  ["another chat's preview", { "user-agent": "WhatsApp/2.23.20.0" }],
  ["a scanner of mails", { "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64)", accept: "*/*" }],
  ["a browser", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" }],
  ["a browser's prefetch", { "sec-fetch-mode": "no-cors", "sec-purpose": "prefetch", accept: "*/*" }],
] as [string, Record<string, string>][])("opened by %s, a link leads to its page", async (_, headers) => {
  const { flow, page, resume, cancel } = await startWaiting("ann");
  for (const link of [resume, cancel]) {
    const answer = await open(link, headers);
    expect([answer.status, answer.headers.get("location")]).toEqual([302, page]);
    expect((await open(link, headers, "HEAD")).status).toBe(200);
  }
  expect((await getPublicJob(flow)).type).toBe("QueuedJob");
  expect((await nobody("GET", resume, undefined, { "user-agent": "curl/8.5.0", accept: "*/*" })).status).toBe(
    201,
  );
  expect((await awaitFlowEnd(flow)).success).toBe(true);
});

test.each([
  ["a script of another page", { "sec-fetch-mode": "cors", "user-agent": "Mozilla/5.0", accept: "*/*" }],
  ["PowerShell", { "user-agent": "Mozilla/5.0 (Windows NT; en-US) WindowsPowerShell/5.1", accept: "*/*" }],
  ["a program without a name", { "user-agent": "", accept: "*/*" }],
] as [string, Record<string, string>][])("called by %s, it answers", async (_, headers) => {
  const { flow, resume } = await startWaiting();
  expect((await open(`${resume}?${encoded}`, headers)).status).toBe(201);
  expect((await awaitFlowEnd(flow)).result.resume).toEqual(PAYLOAD);
});

test("the page shows what the link answers, and sends it", async () => {
  const { flow, resume } = await startWaiting("ann & bob");
  const { headers } = await open(`${resume}&${encoded}`, { accept: "text/html" });
  const page = headers.get("location")!;
  expect(await (await fetch(page)).text()).toContain("<dd>&lt;b&gt;large&lt;/b&gt;</dd>");
  expect((await fetch(page.replace(encoded, "payload=eA"))).status).toBe(400);
  const sent = await fetch(page, { method: "POST", body: new URLSearchParams({ answer: "approve" }) });
  expect(sent.status).toBe(200);
  const { result } = await awaitFlowEnd(flow);
  expect([result.resume, result.approvers]).toEqual([PAYLOAD, ["ann & bob"]]);
});
