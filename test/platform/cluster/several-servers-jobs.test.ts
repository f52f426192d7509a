/** Jobs that run on another server of the same PostgreSQL than the one that was called. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deploy, expectOk, until } from "../../support/harness.ts";
import { startBucket } from "../../support/peers/bucket.ts";
import {
  ACME,
  ask,
  back,
  both,
  CALLS,
  deployFlow,
  getJob,
  holdGate,
  jobEnd,
  run,
  running,
  setTags,
  setUpJobServers,
  step,
  token,
} from "./several-servers-jobs-setup.ts";

setDefaultTimeout(60_000);

describe.skipIf(!process.env.DATABASE_URL)("a job that runs on another server", () => {
  setUpJobServers();

  describe("calls", () => {
    const called = async (path: string) => {
      const id = await run("p/u/admin/calls", { path, variable: "" });
      const { result } = await jobEnd(id);
      const log = (await ask("GET", `${ACME}/jobs_u/get_logs/${id}`)).text;
      return { said: result.said, token: result.token.replaceAll(" ", ""), log };
    };
    beforeAll(() => deploy(ask, "acme", "u/admin/calls", CALLS));

    test("its own server and, by the public address, another, as its own identity", async () => {
      const { said, token: its, log } = await called("/api/w/acme/users/whoami");
      expect(log).toContain(both.front.url);
      const [own, other] = said;
      expect([own[0], other[0]]).toEqual([200, 200]);
      expect(JSON.parse(other[1])).toEqual(JSON.parse(own[1]));
      // Its token is revoked with its end, everywhere.
      expect((await both.front.as(its)("GET", "/users/whoami")).status).toBe(401);
      expect((await both.back.as(its)("GET", "/users/whoami")).status).toBe(401);
    });

    test.each([
      ["a short secret", "hidden-word-1", true],
      ["a secret of several lines", "-----BEGIN KEY-----\nabc\ndef\n-----END KEY-----", true],
      ["a secret that is longer than the servers tell each other", "long".repeat(2_000), false],
    ])(
      "another server for %s, which is masked where the job runs, or not disclosed",
      async (name, value, isTold) => {
        const path = `u/admin/secret_${name.length}`;
        const secret = { path, value, is_secret: true, description: "" };
        await expectOk(ask("POST", `${ACME}/variables/create`, secret));
        await deploy(
          ask,
          "acme",
          "u/admin/asks",
          `export async function main(path: string) {
          const answer = await fetch(process.env.BASE_URL + "/api/w/acme/variables/get_value/" + path, {
            headers: { authorization: "Bearer " + process.env.WM_TOKEN },
          });
          const text = await answer.text();
          if (answer.ok) console.log("read", JSON.parse(text));
          return [answer.status, answer.ok ? JSON.parse(text).length : text];
        }`,
        );
        const id = await run("p/u/admin/asks", { path });
        const { result } = await jobEnd(id);
        expect(result).toEqual(
          isTold ? [200, value.length] : [401, expect.stringContaining("BASE_INTERNAL_URL")],
        );
        const log = (await ask("GET", `${ACME}/jobs_u/get_logs/${id}`)).text;
        expect(log.includes("read")).toBe(isTold);
        for (const line of value.split("\n")) expect(log).not.toContain(line);
      },
    );

    test("no server with an invented token", async () => {
      const { token: its } = await called("/api/version");
      const madeUp = its.slice(0, 22) + "0".repeat(10);
      const began = performance.now();
      expect((await both.front.as(madeUp)("GET", "/users/whoami")).status).toBe(401);
      // No other server was queried.
      expect(performance.now() - began).toBeLessThan(1_500);
    });
  });

  test("sends its progress to followers here", async () => {
    const seen = Promise.withResolvers<void>();
    using gate = holdGate(seen.promise);
    await deploy(
      ask,
      "acme",
      "u/admin/progress",
      `export async function main(gate: string) {
        const url = process.env.BASE_INTERNAL_URL + "/api/w/acme/job_metrics/set_progress/" + process.env.WM_JOB_ID;
        await fetch(url, {
          method: "POST",
          headers: { authorization: "Bearer " + process.env.WM_TOKEN },
          body: JSON.stringify({ percent: 42 }),
        });
        console.log("said on the way");
        await fetch(gate);
        return "done";
      }`,
    );
    const id = await run("p/u/admin/progress", { gate: gate.url });
    const response = await fetch(
      `${both.front.url}/api${ACME}/jobs_u/getupdate_sse/${id}?get_progress=true&running=false`,
      { headers: { authorization: `Bearer ${token}` } },
    );
    let text = "";
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes('"progress":42') && text.includes("said on the way")) seen.resolve();
    }
    expect(text).toContain('"progress":42');
    expect(text).toContain("said on the way");
    expect(text.indexOf("said on the way")).toBeLessThan(text.indexOf('"completed":true'));
    expect(text).toContain('"done"');
  });

  test("is canceled when its caller disconnects", async () => {
    await deploy(ask, "acme", "u/admin/long", "export const main = () => Bun.sleep(60_000)");
    const hangUp = new AbortController();
    const calling = fetch(`${both.front.url}/api${ACME}/jobs/run_wait_result/p/u/admin/long`, {
      method: "POST",
      body: "{}",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: hangUp.signal,
    }).catch(() => undefined);
    const [job] = await until(async () => {
      const found = (
        await ask("GET", `${ACME}/jobs/list?running=true&script_path_exact=u/admin/long`)
      ).json();
      return found.length > 0 ? found : undefined;
    }, "the job");
    await running(job.id);
    hangUp.abort();
    await calling;
    expect(await jobEnd(job.id)).toMatchObject({ canceled: true, success: false });
    expect(both.back.server.app.queue.has(job.id)).toBe(false);
  });

  test("is a step of a flow that is answered here, resumed there, and contains flows and loops", async () => {
    const inner = await deployFlow([step("x", "export const main = () => 'inner'")]);
    const flow = await deployFlow([
      { id: "sub", value: { type: "flow", path: inner, input_transforms: {} } },
      {
        id: "loop",
        value: {
          type: "forloopflow",
          iterator: { type: "javascript", expr: "[1, 2, 3, 4, 5, 6]" },
          parallel: true,
          skip_failures: false,
          modules: [
            step("each", "export const main = (n: number) => n * 2", {
              value: {
                type: "rawscript",
                language: "bun",
                content: "export const main = (n: number) => n * 2",
                input_transforms: { n: { type: "javascript", expr: "flow_input.iter.value" } },
              },
            }),
          ],
        },
      },
      step("asks", "export const main = () => 'asked'", {
        suspend: { required_events: 1, timeout: 60 },
      }),
      {
        id: "last",
        value: {
          type: "rawscript",
          language: "bun",
          content: "export const main = (all: unknown) => all",
          input_transforms: {
            all: { type: "javascript", expr: "[results.sub, results.loop, resume]" },
          },
        },
      },
    ]);
    const answer = ask("POST", `${ACME}/jobs/run_wait_result/f/${flow}`, {});
    const [job] = await until(async () => {
      const found = (await ask("GET", `${ACME}/jobs/list?script_path_exact=${flow}`)).json();
      return found.length > 0 ? found : undefined;
    }, "the flow");
    const asking = await until(async () => {
      const { flow_status } = await getJob(job.id);
      return flow_status?.approval_conditions ? flow_status.modules[flow_status.step - 1].job : undefined;
    }, "the flow's waiting");
    const links = (await expectOk(ask("GET", `${ACME}/jobs/resume_urls/${asking}/1`))).json();
    const url = `${both.back.url}${new URL(links.resume).pathname}`;
    const resumed = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"yes":true}',
    });
    expect(resumed.status).toBe(201);
    expect((await expectOk(answer)).json()).toEqual(["inner", [2, 4, 6, 8, 10, 12], { yes: true }]);
  });

  test("leaves nothing behind with delete_after_use", async () => {
    await deploy(ask, "acme", "u/admin/traceless", "export const main = (s: string) => s.length", {
      delete_after_use: true,
    });
    const s = "the-argument";
    const answer = await expectOk(
      ask("POST", `${ACME}/jobs/run_wait_result/p/u/admin/traceless?include_header=x`, { s }),
    );
    expect(answer.json()).toBe(s.length);
    const [job] = (
      await ask("GET", `${ACME}/jobs/completed/list?script_path_exact=u/admin/traceless&success=true`)
    ).json();
    expect(JSON.stringify(await getJob(job.id))).not.toContain(s);
  });

  test("is stored once for an idempotency key, whichever server receives it", async () => {
    await deploy(ask, "acme", "u/admin/once", "export const main = () => process.env.WM_JOB_ID");
    const headers = { "idempotency-key": "over all" };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        expectOk(
          (at % 2 === 0 ? ask : back)("POST", `${ACME}/jobs/run_wait_result/p/u/admin/once`, {}, headers),
        ),
      ),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    const found = (await ask("GET", `${ACME}/jobs/list?script_path_exact=u/admin/once`)).json();
    expect(found).toHaveLength(1);
  });

  test("keeps its run's shared folder if the steps stay on one worker", async () => {
    await setTags([]);
    const write = (name: string) =>
      `import { appendFileSync } from "node:fs"; export const main = () => { appendFileSync("shared/${name}", "x"); return process.env.WM_JOB_ID; }`;
    const read = `import { readdirSync } from "node:fs"; export const main = () => readdirSync("shared").sort().join();`;
    const flow = await deployFlow(
      [
        step("a", write("one")),
        {
          id: "loop",
          value: {
            type: "forloopflow",
            iterator: { type: "javascript", expr: "[1, 2, 3]" },
            parallel: true,
            skip_failures: false,
            modules: [step("b", write("two"))],
          },
        },
        step("c", read),
      ],
      { same_worker: true },
    );
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        expectOk((at % 2 === 0 ? ask : back)("POST", `${ACME}/jobs/run_wait_result/f/${flow}`, {})),
      ),
    );
    for (const answer of answers) expect(answer.json()).toBe("one,two");
    await setTags(["dependency"]);
  });

  test("counts for a concurrency limit across both servers", async () => {
    await setTags([]);
    const content =
      "export async function main() { const began = Date.now(); await Bun.sleep(40); return [began, Date.now()]; }";
    await deploy(ask, "acme", "u/admin/single", content, { concurrent_limit: 1 });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        expectOk((at % 2 === 0 ? ask : back)("POST", `${ACME}/jobs/run_wait_result/p/u/admin/single`, {})),
      ),
    );
    const spans = answers.map((answer) => answer.json() as [number, number]).sort(([a], [b]) => a - b);
    for (const [at, [began]] of spans.slice(1).entries()) expect(began).toBeGreaterThanOrEqual(spans[at]![1]);
    await setTags(["dependency"]);
  });

  test("reads from the bucket what was stored through the other server", async () => {
    await using bucket = await startBucket();
    const resource = { path: "u/admin/bucket", value: bucket.resource, resource_type: "s3" };
    await expectOk(ask("POST", `${ACME}/resources/create`, resource));
    const large_file_storage = { type: "S3Storage", s3_resource_path: "$res:u/admin/bucket" };
    await expectOk(ask("POST", `${ACME}/workspaces/edit_large_file_storage_config`, { large_file_storage }));
    const stored = await fetch(`${both.front.url}/api${ACME}/job_helpers/upload_s3_file?file_key=dir/a.bin`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: "what is in it",
    });
    expect(stored.status).toBe(200);
    const read = await back("GET", `${ACME}/job_helpers/download_s3_file?file_key=dir/a.bin`);
    expect([read.status, read.text]).toEqual([200, "what is in it"]);
  });
});
