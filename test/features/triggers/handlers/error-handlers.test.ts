/** Error handlers of a workspace: which outcomes they receive, their arguments, and one call for each. */
import { describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createRescuer } from "../../../../src/features/runs/worker/rescuer.ts";
import { createHandlerTask } from "../../../../src/features/triggers/handlers/handler-task.ts";
import { getHandlerTask } from "../../../../src/features/triggers/handlers/outbox.ts";
import { processHandlerCall } from "../../../../src/features/triggers/handlers/start-handler.ts";
import { createUuid } from "../../../../src/lib/text/ids.ts";
import { insertJob } from "../../../../src/platform/queue/job-store.ts";
import { MAX_ATTEMPTS } from "../../../../src/platform/queue/states.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  alerts,
  ask,
  awaitCalls,
  ended,
  HANDLER,
  handlerOf,
  handlersFor,
  job,
  listCalls,
  run,
  server,
  setHandler,
  setUpHandlers,
} from "./error-handlers-setup.ts";

setUpHandlers();

describe("an error handler is started for the failure", () => {
  test("of a script that throws, with its error and its job", async () => {
    const extra_args = { channel: "ops", email: "other" };
    await setHandler({ error_handler: HANDLER, error_handler_extra_args: extra_args });
    const id = await run("u/admin/boom");
    const handler = await handlerOf(id);
    const failed = await job(id);
    expect(handler.args).toEqual({
      error: { ...failed.result.error, message: "no luck", name: "TypeError" },
      workspace_id: "acme",
      job_id: id,
      path: "u/admin/boom",
      is_flow: false,
      started_at: failed.started_at,
      email: "other",
      channel: "ops",
    });
    expect(handler).toMatchObject({
      script_path: "u/admin/handler",
      permissioned_as: "g/error_handler",
      created_by: "error_handler",
      parent_job: id,
      success: true,
    });
  });

  test("of a result that declares a failure, with its keys", async () => {
    const { args } = await handlerOf(await run("u/admin/marked"));
    expect(args).toMatchObject({
      wm_failure: "bad",
      left: 3,
      path: "u/admin/marked",
      email: expect.any(String),
    });
    expect(args.error).toBeUndefined();
  });

  test("of a flow once, and not for its step", async () => {
    const id = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/bad_flow", {}))).text;
    const { args } = await handlerOf(id);
    expect(args).toMatchObject({ job_id: id, path: "u/admin/bad_flow", is_flow: true });
    expect(args.error.message).toContain("no luck");
    await awaitCalls();
    const all = (
      await expectOk(ask("GET", "/w/acme/jobs/list?created_by=error_handler&per_page=1000"))
    ).json();
    const steps = (await job(id)).flow_status.modules.map((module: any) => module.job);
    expect(all.filter(({ parent_job }: any) => steps.includes(parent_job))).toEqual([]);
  });

  test("of jobs that were canceled: queued, running, and flows", async () => {
    const queued = await run("u/admin/ok", "?scheduled_in_secs=1000");
    const running = await run("u/admin/hangs");
    const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/long_flow", {}))).text;
    for (const id of [running, flow]) {
      await until(async () => ((await job(id)).running ? true : undefined), "its beginning");
    }
    for (const id of [queued, running, flow]) {
      await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, { reason: "not needed" }));
      const { args } = await handlerOf(id);
      expect(args).toMatchObject({ job_id: id, error: { name: "Canceled" } });
    }
  });

  test("of a job that lost its worker in its last attempt", async () => {
    const { app } = server.server;
    const id = createUuid();
    const long_ago = new Date(Date.now() - 3_600_000);
    const [like] = await app.db.read
      .select()
      .from(jobs)
      .where(eq(jobs.id, await ended(await run("u/admin/ok")).then((found) => found.id)));
    await app.db.write(async (tx) => {
      const lost = { state: "running", worker: "gone", started_at: long_ago, last_ping: long_ago } as const;
      await insertJob(tx, { ...like!, ...lost, id });
      await tx.update(jobs).set({ attempts: MAX_ATTEMPTS }).where(eq(jobs.id, id));
    });
    await createRescuer(app).rescue();
    expect((await handlerOf(id)).args.error.name).toBe("WorkerLost");
  });

  test("by a flow, if the handler is one", async () => {
    await setHandler({ error_handler: "flow/u/admin/handler_flow" });
    const id = await run("u/admin/boom");
    expect(await handlerOf(id)).toMatchObject({
      job_kind: "flow",
      script_path: "u/admin/handler_flow",
      args: { job_id: id },
    });
  });
});

describe("no error handler is started for", () => {
  const silent: [string, () => Promise<string>, () => Promise<unknown>][] = [
    ["of a good end", () => run("u/admin/ok"), async () => {}],
    [
      "of a preview",
      async () => {
        const body = { content: "export const main = () => { throw 1 }", language: "bun" };
        return (await expectOk(ask("POST", "/w/acme/jobs/run/preview", body))).text;
      },
      async () => {},
    ],
    [
      "of what another job has started",
      async () => run("u/admin/boom", `?parent_job=${await run("u/admin/ok")}`),
      async () => {},
    ],
    [
      "of a flow that is muted",
      async () => (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/muted_flow", {}))).text,
      () => ask("POST", "/w/acme/flows/toggle_workspace_error_handler/u/admin/muted_flow", { muted: true }),
    ],
    [
      "of a script that is muted",
      () => run("u/admin/marked"),
      () => ask("POST", "/w/acme/scripts/toggle_workspace_error_handler/p/u/admin/marked", { muted: true }),
    ],
    [
      "of canceled jobs where they are muted",
      async () => {
        const id = await run("u/admin/ok", "?scheduled_in_secs=1000");
        await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${id}`, {}));
        return id;
      },
      () => setHandler({ error_handler: HANDLER, error_handler_muted_on_cancel: true }),
    ],
  ];
  test.each(silent)("%s", async (_, start, prepare) => {
    await prepare();
    const id = await start();
    await ended(id);
    await awaitCalls();
    expect(await handlersFor(id)).toEqual([]);
  });

  test("of a muted script; once it is no longer muted, the handler is started", async () => {
    const toggle = "/w/acme/scripts/toggle_workspace_error_handler/p/u/admin/marked";
    await expectOk(ask("POST", toggle, { muted: false }));
    await handlerOf(await run("u/admin/marked"));
  });

  test("while none is configured; from then on for each failure", async () => {
    await setHandler({});
    const before = await run("u/admin/boom");
    await ended(before);
    await until(async () => ((await listCalls()).length === 0 ? true : undefined), "an empty outbox");
    const unheard = await run("u/admin/boom");
    await ended(unheard);
    if (server.server.app.db.dialect === "sqlite") expect(await listCalls()).toEqual([]);
    await until(async () => ((await listCalls()).length === 0 ? true : undefined), "an empty outbox");
    await setHandler({ error_handler: HANDLER });
    await handlerOf(await run("u/admin/boom"));
    expect([...(await handlersFor(before)), ...(await handlersFor(unheard))]).toEqual([]);
  });
});

describe("a handler that fails", () => {
  test("raises an alert and starts no further handler", async () => {
    await setHandler({ error_handler: "script/u/admin/boom" });
    const id = await run("u/admin/marked");
    const handler = await handlerOf(id);
    expect(handler.success).toBe(false);
    const alert = await until(
      async () => (await alerts("error_handler_failed")).find(({ message }) => message.includes(handler.id)),
      "the alert",
    );
    expect(alert.workspace_id).toBe("acme");
    await setHandler({ error_handler: HANDLER });
    await awaitCalls();
    expect(await handlersFor(handler.id)).toEqual([]);
  });

  test("to start, because it was deleted, raises an alert", async () => {
    await deploy(ask, "acme", "u/admin/leaves", "export const main = () => 1");
    await setHandler({ error_handler: "script/u/admin/leaves" });
    await server.server.app.db.write(async (tx) => {
      const { scripts } = await import("../../../../src/features/code/scripts/tables.ts");
      await tx.delete(scripts).where(eq(scripts.path, "u/admin/leaves"));
      const { invalidateScript } = await import("../../../../src/features/code/scripts/versions.ts");
      tx.afterCommit(() => invalidateScript(server.server.app, "acme", "u/admin/leaves"));
    });
    const id = await run("u/admin/boom");
    const [alert] = await until(async () => {
      const found = await alerts("error_handler_not_started");
      return found.length > 0 ? found : undefined;
    }, "the alert");
    expect(alert.message).toContain(id);
    expect(alert.message).toContain("u/admin/leaves");
    await until(async () => ((await listCalls()).length === 0 ? true : undefined), "an empty outbox");
  });
});

test("a handler that cannot be started is retried for a day, then an alert is raised", async () => {
  const { app } = server.server;
  const { id, ask: theirs } = await server.workspace("unread");
  const own = (method: string, path: string, body: unknown) =>
    expectOk(theirs(method, `/w/${id}${path}`, body));
  await deploy(theirs, id, "u/admin/boom", "export const main = () => { throw new Error('no luck') }");
  await deploy(theirs, id, "u/admin/hears", "export const main = (secret: string) => secret.length");
  const { wake } = getHandlerTask(app);
  await until(async () => ((await listCalls()).length === 0 ? true : undefined), "an empty outbox");
  getHandlerTask(app).wake = () => {};
  try {
    await own("POST", "/workspaces/edit_error_handler", { error_handler: "script/u/admin/hears" });
    const job_id = (await own("POST", "/jobs/run/p/u/admin/boom", {})).text;
    await until(async () => ((await listCalls()).length > 0 ? true : undefined), "the row of the outbox");
    // An error of neither the handler nor the database: the job's result cannot be parsed.
    await app.db.write((tx) => tx.update(jobs).set({ result: "{" }).where(eq(jobs.id, job_id)));
    const [call] = await listCalls();
    const about = async (job: string) =>
      (await alerts("error_handler_not_started")).filter(({ message }) => message.includes(job));
    const tried = async (age_ms: number) => {
      const created_at = new Date(app.clock().getTime() - age_ms);
      await processHandlerCall(app, { ...call!, created_at });
      return (await listCalls()).length;
    };
    expect(await tried(23 * 3_600_000)).toBe(1);
    expect(await about(job_id)).toHaveLength(0);
    expect(await tried(25 * 3_600_000)).toBe(0);
    const [alert] = await about(job_id);
    expect(alert).toMatchObject({ workspace_id: id, message: expect.stringContaining(job_id) });
  } finally {
    getHandlerTask(app).wake = wake;
  }
});

test("a completion is processed by one server only", async () => {
  const { app } = server.server;
  await until(async () => ((await listCalls()).length === 0 ? true : undefined), "an empty outbox");
  const { wake } = getHandlerTask(app);
  getHandlerTask(app).wake = () => {};
  try {
    const first = await run("u/admin/boom");
    await ended(first);
    const [call] = await listCalls();
    expect(call).toMatchObject({ job_id: first, occasion: "workspace" });
    await Promise.all(Array.from({ length: 8 }, () => processHandlerCall(app, call!)));
    expect(await handlersFor(first)).toHaveLength(1);
    const second = await run("u/admin/boom");
    await ended(second);
    expect(await handlersFor(second)).toEqual([]);
    const next = createHandlerTask(app);
    next.start();
    await handlerOf(second);
    await next.stop();
    expect(await handlersFor(second)).toHaveLength(1);
    expect(await listCalls()).toEqual([]);
  } finally {
    getHandlerTask(app).wake = wake;
  }
});

test("a handler has the rights granted to the group of handlers, and no others", async () => {
  const secret = { path: "f/ops/key", value: "the value", is_secret: false, description: "" };
  await expectOk(ask("POST", "/w/acme/folders/create", { name: "ops" }));
  await expectOk(ask("POST", "/w/acme/variables/create", secret));
  const code = `export async function main() {
    const at = process.env.BASE_INTERNAL_URL + "/api/w/acme/variables/get_value/f/ops/key";
    const answer = await fetch(at, { headers: { authorization: "Bearer " + process.env.WM_TOKEN } });
    return [answer.status, await answer.text()];
  }`;
  await deploy(ask, "acme", "u/admin/reads", code);
  await setHandler({ error_handler: "script/u/admin/reads" });
  expect((await handlerOf(await run("u/admin/boom"))).result[0]).toBe(404);
  await expectOk(ask("POST", "/w/acme/acls/add/folder/ops", { owner: "g/error_handler", write: false }));
  expect((await handlerOf(await run("u/admin/boom"))).result).toEqual([200, '"the value"']);
});
