/** Options of scripts and calls: caching, deletion after use, identity, restarts. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import {
  ask,
  callScript,
  completed,
  getJobState,
  jobs,
  server,
  setUpOptions,
  start,
  token,
} from "./options-setup.ts";

setUpOptions();

describe("run forms", () => {
  test.each([
    ["POST", `${jobs}/run/f/u/admin/nothing`],
    ["POST", `${jobs}/run_wait_result/f/u/admin/nothing`],
    ["GET", `${jobs}/run_wait_result/f/u/admin/nothing`],
    ["POST", `${jobs}/run_and_stream/f/u/admin/nothing`],
    ["POST", `${jobs}/run/fv/17`],
    ["GET", `${jobs}/run_wait_result/fv/17`],
    ["GET", `${jobs}/run_and_stream/fv/17`],
    ["POST", `${jobs}/ai_sync/f/u/admin/nothing`],
  ])("%s %s: there is no such flow", async (method, path) => {
    const answer = await ask(method, path, method === "POST" ? {} : undefined);
    expect([answer.status, answer.text]).toEqual([404, expect.stringMatching(/^Not found: flow /)]);
  });

  test("ai_sync answers as the synchronous call, and all_runnables names it", async () => {
    await deploy(ask, "acme", "u/admin/listed", "export const main = (a: number) => a + 1", {
      summary: "adds",
      description: "one",
    });
    await deploy(ask, "acme", "u/admin/library", "export const helper = 1");
    const runnables = (await ask("GET", "/users/all_runnables")).json();
    const [listed] = runnables.filter((each: any) => each.path === "u/admin/listed");
    expect(listed).toMatchObject({
      workspace: "acme",
      kind: "script",
      summary: "adds",
      description: "one",
      endpoint_async: "/w/acme/jobs/run/p/u/admin/listed",
      endpoint_sync: "/w/acme/jobs/run_wait_result/p/u/admin/listed",
      endpoint_ai_sync: "/w/acme/jobs/ai_sync/p/u/admin/listed",
      endpoint_openai_sync: "/w/acme/jobs/openai_sync/p/u/admin/listed",
    });
    expect(runnables.some((each: any) => each.path === "u/admin/library")).toBe(false);
    expect((await ask("POST", listed.endpoint_ai_sync, { a: 2 })).json()).toBe(3);
    expect((await ask("POST", listed.endpoint_openai_sync, { a: 2 })).json()).toBe(3);
  });
});

describe("a cached result", () => {
  const content = "let runs = 0; export const main = (a: number, b?: number) => [++runs, a, b]";

  test("is used for runs with the same arguments, in any order, until it expires", async () => {
    await deploy(ask, "acme", "u/admin/cached", content, { cache_ttl: 600 });
    expect((await callScript("u/admin/cached", { a: 1, b: 2 })).json()).toEqual([1, 1, 2]);
    expect((await callScript("u/admin/cached", { b: 2, a: 1 })).json()).toEqual([1, 1, 2]);
    expect((await callScript("u/admin/cached", { a: 2 })).json()).toEqual([2, 2, null]);
    const id = await start("u/admin/cached", { a: 1, b: 2 });
    const job = await completed(id);
    expect([job.result, job.success]).toEqual([[1, 1, 2], true]);
    expect(job.logs).toContain("taken from the cache");
    const { app } = server.server;
    const clock = app.clock;
    Object.assign(app, { clock: () => new Date(Date.now() + 601_000) });
    try {
      expect((await callScript("u/admin/cached", { a: 1, b: 2 })).json()[0]).toBeGreaterThan(2);
    } finally {
      Object.assign(app, { clock });
    }
  });

  test("can be requested by the call, and is not shared", async () => {
    await deploy(ask, "acme", "u/admin/uncached", content, { extra_perms: {} });
    expect((await callScript("u/admin/uncached", { a: 1 }, "?cache_ttl=60")).json()[0]).toBe(1);
    expect((await callScript("u/admin/uncached", { a: 1 }, "?cache_ttl=60")).json()[0]).toBe(1);
    expect((await callScript("u/admin/uncached", { a: 1 })).json()[0]).toBe(2);
    const other = await server.member("acme", "cora", "admin");
    const theirs = await other.ask("POST", `${jobs}/run_wait_result/p/u/admin/uncached?cache_ttl=60`, {
      a: 1,
    });
    expect(theirs.status).toBe(200);
    const job = (await other.ask("GET", `${jobs}/list?per_page=1`)).json()[0];
    expect((await getJobState(job.id)).logs).not.toContain("taken from the cache");
  });

  test("of a stream is the whole text", async () => {
    const streaming = `export function* main(n: number) { for (let i = 0; i < n; i++) yield "c" + i + ";" }`;
    await deploy(ask, "acme", "u/admin/cached_stream", streaming, { cache_ttl: 600 });
    for (const _ of ["made", "cached"]) {
      expect((await callScript("u/admin/cached_stream", { n: 2 })).json()).toBe("c0;c1;");
    }
  });

  test("is not stored for a failure", async () => {
    const failing =
      "let runs = 0; export const main = () => { if (++runs === 1) throw new Error('once'); return runs }";
    await deploy(ask, "acme", "u/admin/failing", failing, { cache_ttl: 600 });
    expect((await callScript("u/admin/failing")).json().error.message).toBe("once");
    expect((await callScript("u/admin/failing")).json()).toBe(2);
    expect((await callScript("u/admin/failing")).json()).toBe(2);
  });
});

describe("delete_after_use", () => {
  const secret = "dwim-4711-quux";
  const content = `export function main(text: string) {
    console.log("log " + text);
    return { said: text, wm_labels: [text] };
  }`;

  test("stores nothing of a synchronous call: neither for the API nor on disk", async () => {
    await deploy(ask, "acme", "u/admin/traceless", content, { delete_after_use: true });
    const answer = await callScript("u/admin/traceless", { text: secret });
    expect(answer.json().said).toBe(secret);
    const [{ id }] = (await ask("GET", `${jobs}/list?script_path_exact=u/admin/traceless`)).json();
    const job = await completed(id);
    expect(job).toMatchObject({ args: {}, result: {}, deleted: true, success: true });
    expect(job.logs).toBe("##DELETED##");
    expect((await ask("GET", `${jobs}_u/get_logs/${id}`)).text).toBe("##DELETED##");
    expect(JSON.stringify(job)).not.toContain(secret);
    expect(await readStored(server)).not.toContain(secret);
  });

  test("stores nothing of a failure, nor of a call repeated with its key", async () => {
    const throwing = `export function main(text: string) { console.log(text); throw new Error("bad " + text); }`;
    await deploy(ask, "acme", "u/admin/traceless_fails", throwing, { delete_after_use: true });
    const key = { "idempotency-key": "once-and-away" };
    const first = await callScript("u/admin/traceless_fails", { text: secret }, "", key);
    expect(first.json().error.message).toBe(`bad ${secret}`);
    const again = await callScript("u/admin/traceless_fails", { text: secret }, "", key);
    expect([again.status, again.headers.get("svc-error")]).toEqual([409, "Conflict"]);
    expect(await readStored(server)).not.toContain(secret);
  });

  test("waits for a slot like any other", async () => {
    const slow = "export async function main(n: number) { await Bun.sleep(30); return n }";
    await deploy(ask, "acme", "u/admin/traceless_slow", slow, { delete_after_use: true });
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => callScript("u/admin/traceless_slow", { n })));
    expect(answers.map((answer) => answer.json())).toEqual(numbers);
  });

  test("respects a concurrency limit: a call that cannot wait in the queue is told to retry", async () => {
    const slow = "export async function main(ms: number) { await Bun.sleep(ms); return ms }";
    const options = { delete_after_use: true, concurrent_limit: 1 };
    await deploy(ask, "acme", "u/admin/traceless_limited", slow, options);
    const first = callScript("u/admin/traceless_limited", { ms: 800 });
    await until(async () => {
      const [job] = (await ask("GET", `${jobs}/list?script_path_exact=u/admin/traceless_limited`)).json();
      return job?.running ? true : undefined;
    }, "the first call");
    const second = await callScript("u/admin/traceless_limited", { ms: 1 });
    expect([second.status, second.headers.get("svc-error")]).toEqual([503, "Unavailable"]);
    expect((await first).json()).toBe(800);
    expect((await callScript("u/admin/traceless_limited", { ms: 2 })).json()).toBe(2);
  });

  test("has no effect on an asynchronous call", async () => {
    const job = await completed(await start("u/admin/traceless", { text: "kept" }));
    expect(job.result.said).toBe("kept");
    expect(job.deleted).toBeFalsy();
  });
});

describe("on behalf of another user", () => {
  const content = "export const main = () => [process.env.WM_EMAIL, process.env.WM_PERMISSIONED_AS]";

  test("a script runs as its deployer, and its caller may follow the job", async () => {
    const owner = await server.member("acme", "olga");
    const caller = await server.member("acme", "carl");
    await deploy(owner.ask, "acme", "u/olga/acting", content, { on_behalf_of_email: "olga@example.org" });
    const refused = await caller.ask("POST", `${jobs}/run_wait_result/p/u/olga/acting`, {});
    expect(refused.status).toBe(404);
    const answer = await ask("POST", `${jobs}/run_wait_result/p/u/olga/acting`, {});
    expect(answer.json()).toEqual(["olga@example.org", "u/olga"]);
    const [job] = (await ask("GET", `${jobs}/list?script_path_exact=u/olga/acting`)).json();
    expect(job).toMatchObject({ created_by: "admin", permissioned_as: "u/olga", email: "olga@example.org" });
  });

  test("only an admin can set it for others", async () => {
    const dev = await server.member("acme", "dave");
    const body = { path: "u/dave/acting", content, language: "bun", on_behalf_of_email: "olga@example.org" };
    expect((await dev.ask("POST", "/w/acme/scripts/create", body)).status).toBe(403);
    expect((await ask("POST", "/w/acme/scripts/create", body)).status).toBe(201);
    const other = { ...body, path: "u/admin/acting", on_behalf_of_email: "nobody@example.org" };
    await expectOk(ask("POST", "/w/acme/scripts/create", other));
    const answer = await callScript("u/admin/acting");
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("nobody@example.org")]);
  });
});

describe("an Idempotency-Key", () => {
  const counting =
    "let runs = 0; export async function main(ms = 0) { const n = ++runs; await Bun.sleep(ms); return n }";

  test("makes a repeated call return the first job's id or result", async () => {
    await deploy(ask, "acme", "u/admin/counting", counting);
    const key = { "idempotency-key": '"5a6b-async"' };
    const id = await start("u/admin/counting", { ms: 0 }, "", key);
    expect(await start("u/admin/counting", { ms: 0 }, "", { "idempotency-key": "5a6b-async" })).toBe(id);
    await completed(id);
    expect(await start("u/admin/counting", { ms: 0 }, "", key)).toBe(id);
    const sync = { "idempotency-key": "sync" };
    const first = await callScript("u/admin/counting", { ms: 1 }, "", sync);
    const again = await callScript("u/admin/counting", { ms: 1 }, "", sync);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await callScript("u/admin/counting", { ms: 1 })).json()).toBe(first.json() + 1);
  });

  test("starts one job for many concurrent calls", async () => {
    await deploy(ask, "acme", "u/admin/at_once", counting);
    const key = { "idempotency-key": "stampede" };
    const calls = Array.from({ length: 20 }, () => callScript("u/admin/at_once", { ms: 50 }, "", key));
    expect((await Promise.all(calls)).map((answer) => answer.json())).toEqual(Array(20).fill(1));
    const list = (await ask("GET", `${jobs}/list?script_path_exact=u/admin/at_once`)).json();
    expect(list.length).toBe(1);
  });

  test("survives a caller that disconnects: the job continues and the retry has its result", async () => {
    await deploy(ask, "acme", "u/admin/hung_up", counting);
    const controller = new AbortController();
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "idempotency-key": "hang-up",
    };
    const url = `${server.url}/api${jobs}/run_wait_result/p/u/admin/hung_up`;
    const init = { method: "POST", headers, body: '{"ms":600}' };
    const lost = fetch(url, { ...init, signal: controller.signal }).catch((error) => error.name);
    await until(async () => {
      const [job] = (await ask("GET", `${jobs}/list?script_path_exact=u/admin/hung_up`)).json();
      return job?.running ? true : undefined;
    }, "the job");
    controller.abort();
    expect(await lost).toBe("AbortError");
    expect(await (await fetch(url, init)).json()).toBe(1);
  });

  test("belongs to its caller, and to one request", async () => {
    await deploy(ask, "acme", "u/admin/owned", counting);
    const key = { "idempotency-key": "mine" };
    const id = await start("u/admin/owned", { ms: 1 }, "", key);
    const other = await ask("POST", `${jobs}/run/p/u/admin/owned`, { ms: 2 }, key);
    expect([other.status, other.headers.get("svc-error")]).toEqual([422, "IdempotencyKeyReused"]);
    const somebody = await server.member("acme", "ivan", "admin");
    const theirs = await somebody.ask("POST", `${jobs}/run/p/u/admin/owned`, { ms: 1 }, key);
    expect([theirs.status, theirs.text === id]).toEqual([201, false]);
  });

  test.each([
    ["empty", '""'],
    ["too long", "x".repeat(256)],
  ])("that is %s is rejected", async (_, value) => {
    const answer = await callScript("u/admin/owned", {}, "", { "idempotency-key": value });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("Idempotency-Key")]);
  });
});

describe("tags", () => {
  test("may contain the workspace and arguments; the call's takes precedence", async () => {
    const content = "export const main = () => 1";
    await deploy(ask, "acme", "u/admin/tagged", content, { tag: "$workspace-$args[size]" });
    expect((await completed(await start("u/admin/tagged", { size: "xl" }))).tag).toBe("acme-xl");
    expect((await completed(await start("u/admin/tagged", {}, "?tag=other"))).tag).toBe("other");
  });
});
