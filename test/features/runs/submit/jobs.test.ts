import { describe, expect, test } from "bun:test";
import { stripLogHeader } from "../../../../src/features/runs/job/log-header.ts";
import { deploy, expectOk } from "../../../support/harness.ts";
import { ask, completed, server, setUpJobs } from "./jobs-setup.ts";

setUpJobs();

const call = (path: string, args: unknown = {}, query = "") =>
  ask("POST", `/w/acme/jobs/run_wait_result/p/${path}${query}`, args);

describe("a script behind a webhook", () => {
  test("main's parameters are filled by name and keep their defaults", async () => {
    await deploy(
      ask,
      "acme",
      "u/admin/hello",
      "export function main(name: string, n = 2, when?: Date) { return { name, n, year: when?.getUTCFullYear() ?? null } }",
    );
    expect((await call("u/admin/hello", { name: "Ann" })).json()).toEqual({ name: "Ann", n: 2, year: null });
    const all = { when: "2020-05-05T00:00:00Z", n: 5, name: "Bob", other: 1 };
    expect((await call("u/admin/hello", all)).json()).toEqual({ name: "Bob", n: 5, year: 2020 });
  });

  test("a deployment creates a new version: the path runs the newest, a hash its own version", async () => {
    const first = await deploy(ask, "acme", "u/admin/versioned", "export const main = () => 1");
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    const second = await deploy(ask, "acme", "u/admin/versioned", "export const main = () => 2");
    expect((await call("u/admin/versioned")).text).toBe("2");
    expect((await ask("POST", `/w/acme/jobs/run_wait_result/h/${first}`, {})).text).toBe("1");
    const history = await ask("GET", "/w/acme/scripts/history/p/u/admin/versioned");
    expect(history.json().map((version: any) => version.script_hash)).toEqual([second, first]);
  });

  test("a warm process keeps the state of a module, which no other version sees", async () => {
    const source = (mark: number) =>
      `let calls = 0; (globalThis as any).mark ??= ${mark}; export const main = () => [(globalThis as any).mark, ++calls]`;
    await deploy(ask, "acme", "u/admin/warm", source(1));
    expect((await call("u/admin/warm")).json()).toEqual([1, 1]);
    expect((await call("u/admin/warm")).json()).toEqual([1, 2]);
    await deploy(ask, "acme", "u/admin/warm", source(2));
    expect((await call("u/admin/warm")).json()).toEqual([2, 1]);
  });

  test("wm_labels of a result labels the job if it is a list of texts, each once", async () => {
    await deploy(
      ask,
      "acme",
      "u/admin/labelled",
      "export const main = (labels: any) => ({ wm_labels: labels })",
    );
    const labelsOf = async (labels: unknown) => {
      const path = "/w/acme/jobs/run/p/u/admin/labelled";
      return (await completed((await expectOk(ask("POST", path, { labels }))).text)).labels;
    };
    expect(await labelsOf(["red", "blue", "red"])).toEqual(["red", "blue"]);
    for (const other of ["red", ["red", 1], null, { red: true }]) expect(await labelsOf(other)).toBeFalsy();
    const found = (await ask("GET", "/w/acme/jobs/list?label=blue")).json();
    expect(found.map(({ script_path }: any) => script_path)).toEqual(["u/admin/labelled"]);
  });

  test("with isolation fresh each run has a new process", async () => {
    const content = "let calls = 0; export const main = () => ++calls";
    await deploy(ask, "acme", "u/admin/fresh", content, { isolation: "fresh" });
    expect((await call("u/admin/fresh")).text).toBe("1");
    expect((await call("u/admin/fresh")).text).toBe("1");
  });

  test("an asynchronous run returns the job's id, with which its result can be read", async () => {
    const started = await ask("POST", "/w/acme/jobs/run/p/u/admin/hello", { name: "later" });
    expect(started.status).toBe(201);
    const job = await completed(started.text);
    expect(job).toMatchObject({
      type: "CompletedJob",
      success: true,
      job_kind: "script",
      script_path: "u/admin/hello",
    });
    expect(job.result).toMatchObject({ name: "later" });
    expect(job.args).toEqual({ name: "later" });
    const bare = await ask("GET", `/w/acme/jobs_u/completed/get_result/${job.id}`);
    expect(bare.json()).toEqual(job.result);
    const maybe = (await ask("GET", `/w/acme/jobs/completed/get_result_maybe/${job.id}`)).json();
    expect(maybe).toMatchObject({ completed: true, success: true });
  });

  test("GET takes a base64 payload", async () => {
    const payload = Buffer.from('{"name":"ünï"}').toString("base64url");
    const answer = await ask("GET", `/w/acme/jobs/run_wait_result/p/u/admin/hello?payload=${payload}`);
    expect(answer.json().name).toBe("ünï");
  });

  test("bash: arguments by position, the last line is the result", async () => {
    await deploy(
      ask,
      "acme",
      "u/admin/sh",
      'who="$1"\ntimes="${2:-2}"\necho noise\necho "$who $times $WM_JOB_PATH"\n',
      {
        language: "bash",
      },
    );
    expect((await call("u/admin/sh", { who: "Ann Lee" })).json()).toBe("Ann Lee 2 u/admin/sh");
    const failing = await deploy(ask, "acme", "u/admin/sh_fails", "echo oh no >&2\nexit 3\n", {
      language: "bash",
    });
    expect(failing).toBeTruthy();
    const { error } = (await call("u/admin/sh_fails")).json();
    expect(error.name).toBe("ExecutionErr");
    expect(error.message).toContain("code 3");
    expect(error.message).toContain("oh no");
  });

  test("python: by name, defaults, errors with their class, warm", async () => {
    const content = [
      "calls = 0",
      "def main(name: str, n: int = 3):",
      "    global calls",
      "    calls += 1",
      "    print('counted', calls)",
      "    if name == 'bad':",
      "        raise KeyError('no such thing')",
      "    return {'name': name, 'n': n, 'calls': calls}",
    ].join("\n");
    await deploy(ask, "acme", "u/admin/py", content, { language: "python3" });
    expect((await call("u/admin/py", { name: "Ann" })).json()).toEqual({ name: "Ann", n: 3, calls: 1 });
    expect((await call("u/admin/py", { name: "Bob", n: 1 })).json()).toEqual({ name: "Bob", n: 1, calls: 2 });
    expect((await call("u/admin/py", { name: "bad" })).json().error).toMatchObject({ name: "KeyError" });
  });

  test("contextual variables and a token that acts as the job", async () => {
    const content = `export async function main() {
      const { WM_TOKEN, WM_WORKSPACE, WM_JOB_ID, BASE_INTERNAL_URL, WM_USERNAME } = process.env;
      const headers = { authorization: "Bearer " + WM_TOKEN };
      const who = await fetch(BASE_INTERNAL_URL + "/api/w/" + WM_WORKSPACE + "/users/whoami", { headers });
      return { who: (await who.json()).username, WM_WORKSPACE, WM_JOB_ID, WM_USERNAME, token: WM_TOKEN.split(""), keys: Object.keys(process.env) };
    }`;
    await deploy(ask, "acme", "u/admin/context", content);
    const id = (await ask("POST", "/w/acme/jobs/run/p/u/admin/context", {})).text;
    const { result } = await completed(id);
    expect(result).toMatchObject({ who: "admin", WM_WORKSPACE: "acme", WM_JOB_ID: id, WM_USERNAME: "admin" });
    expect(result.keys).not.toContain("SVC_SECRET_KEY");
    expect((await server.as(result.token.join(""))("GET", "/users/email")).status).toBe(401);
  });

  test("a job of a super admin who is not a member has their rights while they are super admin", async () => {
    const content = `export async function main() {
      const { WM_TOKEN, BASE_INTERNAL_URL } = process.env;
      const headers = { authorization: "Bearer " + WM_TOKEN };
      const path = (path: string) => fetch(BASE_INTERNAL_URL + "/api" + path, { headers }).then((r) => r.status);
      const made = await fetch(BASE_INTERNAL_URL + "/api/users/tokens/create", { method: "POST", headers, body: "{}" });
      return [await path("/w/acme/variables/list"), await path("/users/tokens/list"), made.status];
    }`;
    await deploy(ask, "acme", "u/admin/above", content);
    const above = await server.user("above", { super_admin: true });
    const answer = await above.ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/above", {});
    // Operations beyond the workspace, or with effects beyond the job's end, are denied.
    expect(answer.json()).toEqual([200, 403, 403]);
  });

  test("the id of a job is case-insensitive", async () => {
    const id = "0198F0A0-0000-7000-8000-00000000ABCD";
    expect((await call("u/admin/hello", { name: "Ann" }, `?job_id=${id}`)).status).toBe(200);
    expect((await completed(id)).id).toBe(id.toLowerCase());
    expect((await call("u/admin/hello", {}, `?job_id=${id.toLowerCase()}`)).status).toBe(400);
  });

  test("npm dependencies are locked at deploy, also unpinned ones", async () => {
    const content =
      'import isNumber from "is-number@7.0.0"; import isOdd from "is-odd"; export const main = (x: number) => [isNumber(x), isOdd(x)]';
    const hash = await deploy(ask, "acme", "u/admin/packages", content);
    expect((await call("u/admin/packages", { x: 3 })).json()).toEqual([true, true]);
    const { lock } = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
    expect(lock).toContain("//bun.lock");
    expect(lock).toContain('"is-number": "7.0.0"');
  }, 60_000);

  test("a version whose package does not exist is stored with the reason, and the previous one still runs", async () => {
    await deploy(ask, "acme", "u/admin/missing", "export const main = () => 'before'");
    const hash = await deploy(
      ask,
      "acme",
      "u/admin/missing",
      'import x from "svc-no-such-package-at-all"; export const main = () => x',
    );
    const status = (await ask("GET", `/w/acme/scripts/deployment_status/h/${hash}`)).json();
    expect(status.lock_error_logs).toContain("svc-no-such-package-at-all");
    expect((await call("u/admin/missing")).json()).toBe("before");
    const pinned = await ask("POST", `/w/acme/jobs/run_wait_result/h/${hash}`, {});
    expect(pinned.status).toBe(400);
    expect(pinned.text).toContain("could not be resolved");
  }, 60_000);

  test("a preview runs undeployed code", async () => {
    const id = (
      await expectOk(
        ask("POST", "/w/acme/jobs/run/preview", {
          content: "export const main = (a: number) => a * 2",
          language: "bun",
          args: { a: 21 },
        }),
      )
    ).text;
    expect((await completed(id)).result).toBe(42);
  });
});

describe("output of a script", () => {
  test("10,000 lines arrive in the job's log, complete and in order", async () => {
    await deploy(
      ask,
      "acme",
      "u/admin/prints",
      "export function main() { for (let i = 0; i < 10000; i++) console.log('line ' + i); return 'done' }",
    );
    const id = (await ask("POST", "/w/acme/jobs/run/p/u/admin/prints", {})).text;
    await completed(id);
    const log = await ask("GET", `/w/acme/jobs_u/get_logs/${id}`);
    expect(stripLogHeader(log.text)).toBe(Array.from({ length: 10_000 }, (_, i) => `line ${i}\n`).join(""));
  });

  test("output of a job never reaches the next job of the same process", async () => {
    await deploy(
      ask,
      "acme",
      "u/admin/echoes",
      "export function main(n: number) { process.stdout.write('<' + n + '>'); return n }",
    );
    const ids: string[] = [];
    for (let n = 0; n < 30; n++)
      ids.push((await ask("POST", "/w/acme/jobs/run/p/u/admin/echoes", { n })).text);
    for (const [n, id] of ids.entries()) {
      await completed(id);
      expect(stripLogHeader((await ask("GET", `/w/acme/jobs_u/get_logs/${id}`)).text)).toBe(`<${n}>`);
    }
  });
});

describe("lists", () => {
  test("newest first, filtered, paged; success and running exclude each other", async () => {
    const page = (await ask("GET", "/w/acme/jobs/list?per_page=3")).json();
    expect(page).toHaveLength(3);
    expect(page[0].id > page[1].id).toBe(true);
    const failed = (await ask("GET", "/w/acme/jobs/list?success=false")).json();
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every((job: any) => job.success === false)).toBe(true);
    expect((await ask("GET", "/w/acme/jobs/list?success=true&running=true")).status).toBe(400);
    expect((await ask("GET", "/w/acme/jobs/list?per_page=20000")).status).toBe(400);
  });
});
