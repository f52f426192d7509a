/** Jobs that are canceled: queued, running, several at once. */
import { beforeAll, describe, expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { ask, completed, server, setUpJobs } from "./jobs-setup.ts";

setUpJobs();

beforeAll(async () => {
  const content = "export const main = (name: string) => ({ name })";
  await deploy(ask, "acme", "u/admin/hello", content);
});

describe("canceling", () => {
  test("a running job is stopped, and its result names who canceled it", async () => {
    await deploy(
      ask,
      "acme",
      "u/admin/sleeps",
      "export async function main() { console.log('begun'); await Bun.sleep(60000) }",
    );
    const id = (await ask("POST", "/w/acme/jobs/run/p/u/admin/sleeps", {})).text;
    await until(async () =>
      (await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text.includes("begun") ? true : undefined,
    );
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "enough" }));
    const job = await completed(id);
    expect(job).toMatchObject({
      canceled: true,
      success: false,
      canceled_by: "admin",
      canceled_reason: "enough",
    });
    expect(job.result.error.name).toBe("Canceled");
  });

  test("a job scheduled for later can be canceled in the queue", async () => {
    const id = (await ask("POST", "/w/acme/jobs/run/p/u/admin/hello?scheduled_in_secs=3600", { name: "x" }))
      .text;
    expect((await ask("GET", `/w/acme/jobs_u/get/${id}`)).json()).toMatchObject({
      type: "QueuedJob",
      running: false,
    });
    await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
    expect((await ask("GET", `/w/acme/jobs_u/completed/get/${id}`)).json().canceled).toBe(true);
  });

  test("a scheduled job runs when it is due", async () => {
    const id = (await ask("POST", "/w/acme/jobs/run/p/u/admin/hello?scheduled_in_secs=1", { name: "soon" }))
      .text;
    expect((await completed(id)).result.name).toBe("soon");
  });

  test("a caller that disconnects cancels the job", async () => {
    const controller = new AbortController();
    const hanging = fetch(`${server.url}/api/w/acme/jobs/run_wait_result/p/u/admin/sleeps`, {
      method: "POST",
      body: "{}",
      headers: { authorization: `Bearer ${(await server.user("hangs")).token}` },
      signal: controller.signal,
    }).catch(() => undefined);
    controller.abort();
    await hanging;
    const started = fetch(`${server.url}/api/w/acme/jobs/run_wait_result/p/u/admin/sleeps`, {
      method: "POST",
      body: "{}",
      headers: { authorization: `Bearer ${(await server.user("hangs2", { super_admin: true })).token}` },
      signal: AbortSignal.timeout(500),
    }).catch(() => undefined);
    await started;
    const job = await until(async () => {
      const list = (await ask("GET", "/w/acme/jobs/list?script_path_exact=u/admin/sleeps&per_page=1")).json();
      return list[0]?.type === "CompletedJob" && list[0].canceled_reason === "http connection broke"
        ? list[0]
        : undefined;
    }, "the cancelation");
    expect(job.success).toBe(false);
  });
});
