/** Code that is not deployed, and batches of jobs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await ask("GET", `${jobs}_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);

describe("a preview", () => {
  test("of kind identity returns its arguments", async () => {
    const answer = await ask("POST", `${jobs}/run_wait_result/preview`, {
      kind: "identity",
      args: { a: [1] },
    });
    expect(answer.json()).toEqual({ a: [1] });
    const [job] = (await ask("GET", `${jobs}/list?per_page=1`)).json();
    expect(job.job_kind).toBe("identity");
  });

  test("without code is rejected", async () => {
    const answer = await ask("POST", `${jobs}/run/preview`, { args: {} });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("`content`")]);
  });

  const send = (form: FormData, query = "") =>
    fetch(`${server.url}/api${jobs}/run/preview_bundle${query}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });

  test("of a bundle runs the file sent with it", async () => {
    const form = new FormData();
    form.append("preview", JSON.stringify({ args: { n: 2 }, language: "bun", path: "u/admin/bundled" }));
    form.append("file", new Blob(["var twice=(n)=>n*2;export{twice as main};"]), "main.js");
    const answer = await send(form);
    expect(answer.status).toBe(201);
    expect(await completed(await answer.text())).toMatchObject({ result: 4, script_path: "u/admin/bundled" });
  });

  test("of code with a syntax error creates a job that fails", async () => {
    const form = new FormData();
    form.append("preview", "{}");
    form.append("file", new Blob(["export const = 1"]));
    const answer = await send(form);
    expect(answer.status).toBe(201);
    const { success, result } = await completed(await answer.text());
    expect([success, result.error.message]).toEqual([false, expect.stringContaining("line 1")]);
  });

  test.each([
    ["no file", { preview: "{}" }, "`file`"],
    ["a preview that is not JSON", { preview: "{", file: new Blob(["export const main = 1"]) }, "not JSON"],
  ])("of a bundle with %s is rejected", async (_, parts, says) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(parts)) form.append(name, value as Blob);
    const answer = await send(form);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(says)]);
  });
});

describe("the lock of undeployed code", () => {
  const script = (raw_code: string, language = "bun") => ({
    raw_scripts: [{ raw_code, language, script_path: "u/admin/new" }],
    entrypoint: "u/admin/new",
  });

  test("is resolved at once, or by a job", async () => {
    const body = script("echo hi", "bash");
    expect((await ask("POST", `${jobs}/run/dependencies`, body)).json()).toEqual({ lock: "" });
    const started = await expectOk(ask("POST", `${jobs}/run/dependencies_async`, body));
    expect((await completed(started.text)).result).toEqual({ lock: "" });
  });

  test("of code that cannot be resolved is an error with the reason", async () => {
    const answer = await ask("POST", `${jobs}/run/dependencies`, script("export const = 1"));
    expect(answer.status).toBe(201);
    expect(answer.json().error.message).toContain("line 1, column 14");
  });

  test("accepts one script, which is the entrypoint", async () => {
    for (const body of [
      { raw_scripts: [], entrypoint: "x" },
      { ...script("1"), entrypoint: "u/admin/other" },
    ]) {
      expect((await ask("POST", `${jobs}/run/dependencies`, body)).status).toBe(400);
    }
    const operator = await server.member("acme", "otto", "operator");
    const refused = await operator.ask("POST", `${jobs}/run/dependencies`, script("export const main = 1"));
    expect(refused.status).toBe(403);
  });
});

describe("many concurrent jobs", () => {
  test("run again with their arguments, changed ones, and the latest version", async () => {
    await deploy(ask, "acme", "u/admin/again", "export const main = (a: number, b: number) => [1, a, b]");
    const first = (await ask("POST", `${jobs}/run/p/u/admin/again`, { a: 1, b: 2 })).text;
    const second = (await ask("POST", `${jobs}/run/p/u/admin/again`, { a: 3, b: 4 })).text;
    await deploy(ask, "acme", "u/admin/again", "export const main = (a: number, b: number) => [2, a, b]");
    const rerun = async (body: object) => {
      const { text } = await expectOk(ask("POST", `${jobs}/run/batch_rerun_jobs`, body));
      return Promise.all(
        text
          .trim()
          .split("\n")
          .map(async (id) => (await completed(id)).result),
      );
    };
    expect(await rerun({ job_ids: [first, second] })).toEqual([
      [1, 1, 2],
      [1, 3, 4],
    ]);
    const options = { input_transforms: { b: { type: "static", value: 9 } }, use_latest_version: true };
    const changed = { job_ids: [first], script_options_by_path: { "u/admin/again": options } };
    expect(await rerun(changed)).toEqual([[2, 1, 9]]);
    const preview = (await ask("POST", `${jobs}/run/preview`, { kind: "identity" })).text;
    const refused = await ask("POST", `${jobs}/run/batch_rerun_jobs`, { job_ids: [first, preview] });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(preview)]);
  });

  test("flows run again, in their version or the latest", async () => {
    const path = "u/admin/flow_again";
    const js = (expr: string) => ({ type: "javascript", expr });
    const flow = (a: string, b: string) => {
      const input_transforms = { a: js(`flow_input.${a}`), b: js(`flow_input.${b}`) };
      const value = { type: "script", path: "u/admin/again", input_transforms };
      return { path, summary: "", value: { modules: [{ id: "a", value }] } };
    };
    await expectOk(ask("POST", "/w/acme/flows/create", flow("a", "b")));
    const first = (await expectOk(ask("POST", `${jobs}/run/f/${path}`, { a: 1, b: 2 }))).text;
    await completed(first);
    await expectOk(ask("POST", `/w/acme/flows/update/${path}`, flow("b", "a")));
    const rerun = async (options: object) => {
      const body = { job_ids: [first], flow_options_by_path: { [path]: options } };
      const { text } = await expectOk(ask("POST", `${jobs}/run/batch_rerun_jobs`, body));
      const job = await completed(text.trim());
      expect(job).toMatchObject({ job_kind: "flow", script_path: path, success: true });
      return job.result;
    };
    expect(await rerun({})).toEqual([2, 1, 2]);
    const input_transforms = { b: { type: "static", value: 9 } };
    expect(await rerun({ input_transforms, use_latest_version: true })).toEqual([2, 9, 1]);
  });

  test("fill the queue for a super admin", async () => {
    expect((await ask("POST", `${jobs}/add_batch_jobs/3`, { kind: "noop" })).status).toBe(403);
    const root = await server.user("root", { super_admin: true });
    const ids = (await expectOk(root.ask("POST", `${jobs}/add_batch_jobs/25`, { kind: "noop" }))).json();
    expect(new Set(ids).size).toBe(25);
    for (const id of ids) expect(await completed(id)).toMatchObject({ job_kind: "noop", result: null });
    const scripts = await root.ask("POST", `${jobs}/add_batch_jobs/2`, {
      kind: "script",
      path: "u/admin/again",
    });
    expect(scripts.json().length).toBe(2);
    for (const n of ["0", "x", "1000000"]) {
      expect((await root.ask("POST", `${jobs}/add_batch_jobs/${n}`, { kind: "noop" })).status).toBe(400);
    }
  });

  test("more than there are slots are stored at once, and each runs once", async () => {
    const root = await server.user("crowd", { super_admin: true });
    const path = "u/admin/crowd";
    const content = "export const main = () => Bun.env.WM_JOB_ID";
    await deploy(ask, "acme", path, content);
    const add = async (count: number): Promise<string[]> =>
      (
        await expectOk(
          root.ask("POST", `${jobs}/add_batch_jobs/${count}`, { kind: "script", path, tag: "crowd" }),
        )
      ).json();
    const ids = (await Promise.all([add(1_500), add(64), add(1)])).flat();
    expect(new Set(ids).size).toBe(1_565);
    const counted = async () => Number((await ask("GET", `${jobs}/completed/count_jobs?tags=crowd`)).text);
    await until(async () => (await counted()) === ids.length || undefined, "all jobs have run");
    const listed = [];
    for (let page = 1; listed.length < ids.length; page++) {
      const query = `script_path_exact=${path}&per_page=1000&page=${page}`;
      const rows = (await expectOk(ask("GET", `${jobs}/completed/list?${query}`))).json();
      if (rows.length === 0) break;
      listed.push(...rows);
    }
    expect(listed.map(({ id }) => id).sort()).toEqual([...ids].sort());
    expect(listed.every(({ success }) => success)).toBe(true);
    for (const id of [ids[0]!, ids[1_499]!, ids[1_564]!]) expect((await completed(id)).result).toBe(id);
    const audited: any[] = (await expectOk(ask("GET", "/w/acme/audit/list?operation=jobs.run"))).json();
    const calls = audited.filter((row) => row.resource === path);
    // Each stored batch has its own audit row.
    expect(calls.length).toBeGreaterThan(3);
    expect(calls.reduce((sum, row) => sum + Number(row.parameters.jobs), 0)).toBe(ids.length);
  }, 60_000);

  test("of a script with a limit start within the limit, and waiting ones can be canceled", async () => {
    const root = await server.user("limiter", { super_admin: true });
    const path = "u/admin/limited";
    const content = "export const main = () => Bun.sleep(60_000)";
    const limits = { concurrent_limit: 2, concurrency_time_window_s: 60 };
    await deploy(ask, "acme", path, content, limits);
    const ids: string[] = (
      await expectOk(root.ask("POST", `${jobs}/add_batch_jobs/20`, { kind: "script", path }))
    ).json();
    const running = async () =>
      (await ask("GET", `${jobs}/list?running=true&script_path_exact=${path}`)).json().length;
    await until(async () => (await running()) === 2 || undefined, "two run");
    for (const id of ids) await ask("POST", `${jobs}_u/queue/cancel/${id}`, {});
    for (const id of ids) expect((await completed(id)).canceled).toBe(true);
  }, 60_000);
});
