/** Every operation on jobs that existing clients call, by method and path, gets a response. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createUuid } from "../../../../src/lib/text/ids.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let root: Ask;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask: admin } = await server.workspace());
  root = (await server.user("root", { super_admin: true })).ask;
});
afterAll(() => server.stop());

const TARGETS = ["p/{path}", "h/{hash}", "f/{path}", "fv/{version}"];
const RUN_FORMS = [
  ...TARGETS.flatMap((target) => [
    `POST {w}/jobs/run/${target}`,
    `POST {w}/jobs/run_wait_result/${target}`,
    `POST {w}/jobs/run_and_stream/${target}`,
    `GET {w}/jobs/run_and_stream/${target}`,
  ]),
  ...["p/{path}", "f/{path}", "fv/{version}"].map((target) => `GET {w}/jobs/run_wait_result/${target}`),
  "POST {w}/jobs/ai_sync/p/{path}",
  "POST {w}/jobs/ai_sync/f/{path}",
];

const OTHERS = `
POST {w}/jobs/run/preview
POST {w}/jobs/run_wait_result/preview
POST {w}/jobs/run/preview_flow
POST {w}/jobs/run_wait_result/preview_flow
POST {w}/jobs/run/preview_bundle
POST {w}/jobs/run/workflow_as_code/{id}/{name}
POST {w}/jobs/restart/f/{id}
POST {w}/jobs/restart/f/{id}/from/{name}
POST {w}/jobs/restart/f/{id}/from/{name}/{number}
POST {w}/jobs/run/batch_rerun_jobs
POST {w}/jobs/run/dependencies
POST {w}/jobs/run/flow_dependencies
POST {w}/jobs/run/dependencies_async
POST {w}/jobs/run/flow_dependencies_async
POST {w}/jobs/run/dynamic_select
POST {w}/jobs/add_batch_jobs/{number}
GET {w}/jobs_u/get/{id}
GET {w}/jobs_u/completed/get/{id}
GET {w}/jobs/completed/get/{id}
GET {w}/jobs_u/completed/get_result/{id}
GET {w}/jobs/completed/get_result/{id}
GET {w}/jobs_u/completed/get_result_maybe/{id}
GET {w}/jobs/completed/get_result_maybe/{id}
GET {w}/jobs_u/completed/get_timing/{id}
GET {w}/jobs_u/get_logs/{id}
GET {w}/jobs_u/get_args/{id}
GET {w}/jobs_u/getupdate/{id}
GET {w}/jobs_u/getupdate_sse/{id}
GET {w}/job_u/getupdate_sse/{id}
GET {w}/jobs_u/get_root_job_id/{id}
GET {w}/jobs_u/get_flow_debug_info/{id}
GET {w}/jobs_u/get_log_file/{id}/{name}
GET {w}/jobs_u/get_completed_logs_tail/{id}
POST {w}/jobs_u/queue/cancel/{id}
POST {w}/jobs_u/queue/force_cancel/{id}
POST {w}/jobs_u/queue/cancel_persistent/{path}
POST {w}/jobs_u/queue/get_started_at_by_ids
GET {w}/jobs/list
GET {w}/jobs/queue/list
GET {w}/jobs/completed/list
GET {w}/jobs/queue/count
GET {w}/jobs/completed/count
GET {w}/jobs/completed/count_jobs
GET {w}/jobs/queue/list_filtered_uuids
GET {w}/jobs/list_filtered_uuids
POST {w}/jobs/list_selected_job_groups
POST {w}/jobs/queue/cancel_selection
GET {w}/jobs/queue/position/{number}
GET {w}/jobs/queue/scheduled_for/{id}
POST {w}/jobs/completed/delete/{id}
GET {w}/jobs/completed/export
POST {w}/jobs/completed/import
GET {w}/jobs/queue/export
POST {w}/jobs/queue/import
POST {w}/jobs/delete
GET {w}/jobs/result_by_id/{id}/{name}
GET /jobs/db_clock
GET /jobs/completed/count_by_tag
POST {w}/job_metrics/get/{id}
POST {w}/job_metrics/set_progress/{id}
GET {w}/job_metrics/get_progress/{id}
GET {w}/concurrency_groups/list_jobs
GET /concurrency_groups/list
DELETE /concurrency_groups/prune/{path}
GET /concurrency_groups/{id}/key
GET {w}/jobs/job_signature/{id}/{number}
GET {w}/jobs/resume_urls/{id}/{number}
GET {w}/jobs_u/resume/{id}/{number}/{name}
POST {w}/jobs_u/resume/{id}/{number}/{name}
GET {w}/jobs_u/cancel/{id}/{number}/{name}
POST {w}/jobs_u/cancel/{id}/{number}/{name}
GET {w}/jobs_u/get_flow/{id}/{number}/{name}
POST {w}/jobs/flow/resume/{id}
GET {w}/jobs/flow/user_states/{id}/{name}
POST {w}/jobs/flow/user_states/{id}/{name}
`
  .trim()
  .split("\n");

/** Only known to later clients: this list may only shrink. */
const NOT_HERE = `
POST {w}/jobs/wac/inline_checkpoint/{id}
POST {w}/jobs_u/flow/resume_suspended/{id}
GET {w}/jobs_u/flow/approval_info/{id}
GET {w}/jobs/chat_approval/{id}
`
  .trim()
  .split("\n");

/** Values that identify nothing. */
const VALUES: Record<string, string> = {
  w: "/w/acme",
  path: "u/admin/nothing",
  hash: "0123456789abcdef",
  version: "999999",
  name: "nothing",
  number: "1",
};

async function answerTo(line: string) {
  const [method, template] = line.split(" ") as [string, string];
  const path = template.replace(/\{(\w+)\}/g, (_, name) => VALUES[name] ?? createUuid());
  const answer = await root(method, path, method === "POST" ? {} : undefined);
  return {
    ...answer,
    hasRoute: answer.status !== 405 && !answer.text.includes(`there is no ${method} /api`),
  };
}

describe("existing clients", () => {
  test.each([...RUN_FORMS, ...OTHERS])("find %s", async (line) => {
    const { status, hasRoute } = await answerTo(line);
    expect([hasRoute, status < 500]).toEqual([true, true]);
  });

  test.each(NOT_HERE)("do not find %s", async (line) => {
    expect((await answerTo(line)).hasRoute).toBe(false);
  });

  test.each(RUN_FORMS)("HEAD reports %s", async (line) => {
    const { status, text } = await answerTo(line.replace(/^\w+/, "HEAD"));
    expect([status, text]).toEqual([200, ""]);
  });
});

test("the log of a job is available as a file below the job's id", async () => {
  await deploy(admin, "acme", "u/admin/says", "export const main = () => console.log('said')");
  const id = (await expectOk(admin("POST", "/w/acme/jobs/run/p/u/admin/says", {}))).text;
  await expectOk(admin("GET", `/w/acme/jobs_u/getupdate_sse/${id}?fast=true`));
  const whole = (await expectOk(admin("GET", `/w/acme/jobs_u/get_logs/${id}`))).text;
  expect(whole).toContain("said");
  for (const file of [`${id}/1700000000_1.txt`, id]) {
    expect((await expectOk(admin("GET", `/w/acme/jobs_u/get_log_file/${file}`))).text).toBe(whole);
  }
  for (const file of [`..%2F${id}/x.txt`, "..%2F..%2Fetc%2Fpasswd", "nothing/x.txt"]) {
    expect([file, (await admin("GET", `/w/acme/jobs_u/get_log_file/${file}`)).status]).toEqual([file, 400]);
  }
  const stranger = (await server.member("acme", "stranger")).ask;
  expect((await stranger("GET", `/w/acme/jobs_u/get_log_file/${id}/x.txt`)).status).toBe(404);
});
