/**
 * The success handler of a workspace: which outcomes it receives, its arguments, and that it is not called for
 * itself.
 */
import { expect, test } from "bun:test";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import {
  alerts,
  ask,
  awaitCalls,
  ended,
  HANDLER,
  job,
  listCalls,
  run,
  setHandler,
  setUpHandlers,
} from "./error-handlers-setup.ts";

setUpHandlers();

const set = (body: object) => expectOk(ask("POST", "/w/acme/workspaces/edit_success_handler", body));
const heardOf = async (id: string): Promise<any[]> => {
  const found = (await expectOk(ask("GET", `/w/acme/jobs/list?parent_job=${id}`))).json();
  return found.filter(({ created_by }: any) => created_by === "success_handler");
};
const handlerOf = async (id: string) => {
  const [found] = await until(async () => {
    const some = await heardOf(id);
    return some.length > 0 ? some : undefined;
  }, `the success handler of ${id}`);
  return ended(found.id);
};
const outboxIsEmpty = () =>
  until(async () => ((await listCalls()).length === 0 ? true : undefined), "an empty outbox");

test("is started for a script that succeeds, with its result and its job", async () => {
  await ended(await run("u/admin/ok"));
  await outboxIsEmpty();
  await set({ path: HANDLER, extra_args: { channel: "ops", email: "other" } });
  const id = await run("u/admin/ok");
  const handler = await handlerOf(id);
  expect(handler.args).toEqual({
    result: { fine: true },
    workspace_id: "acme",
    job_id: id,
    path: "u/admin/ok",
    is_flow: false,
    started_at: (await job(id)).started_at,
    email: "other",
    channel: "ops",
  });
  expect(handler).toMatchObject({
    script_path: "u/admin/handler",
    permissioned_as: "g/success_handler",
    created_by: "success_handler",
    success: true,
    result: "g/success_handler",
  });
  await outboxIsEmpty();
  expect(await heardOf(handler.id)).toEqual([]);
});

test("is started for a flow once, not for its steps, previews and failures", async () => {
  await set({ path: "flow/u/admin/handler_flow" });
  await expectOk(
    ask("POST", "/w/acme/flows/create", {
      path: "u/admin/good_flow",
      summary: "",
      value: {
        modules: [{ id: "a", value: { type: "script", path: "u/admin/ok", input_transforms: {} } }],
      },
    }),
  );
  const id = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/good_flow", {}))).text;
  const { args } = await handlerOf(id);
  expect(args).toMatchObject({
    job_id: id,
    path: "u/admin/good_flow",
    is_flow: true,
    result: { fine: true },
  });
  const content = "export const main = () => 1";
  const preview = await expectOk(
    ask("POST", "/w/acme/jobs/run/preview", { content, language: "bun", args: {} }),
  );
  await ended(preview.text);
  const failed = await run("u/admin/boom");
  await ended(failed);
  await awaitCalls();
  const steps = (await job(id)).flow_status.modules.map((module: any) => module.job);
  for (const other of [preview.text, failed, ...steps])
    expect([other, await heardOf(other)]).toEqual([other, []]);
});

test("is not started for a job that another job started", async () => {
  await set({ path: HANDLER });
  const parent = await run("u/admin/ok");
  await handlerOf(parent);
  const child = await run("u/admin/ok", `?parent_job=${parent}`);
  await ended(child);
  await handlerOf(await run("u/admin/ok"));
  await outboxIsEmpty();
  expect(await heardOf(child)).toEqual([]);
});

test("receives references in a result as texts, which its rights do not resolve", async () => {
  await deploy(ask, "acme", "u/admin/names", "export const main = () => ({ name: '$var:u/admin/none' })");
  await deploy(ask, "acme", "u/admin/echo", "export const main = (result: { name: string }) => result.name");
  await set({ path: "script/u/admin/echo" });
  const { success, result } = await handlerOf(await run("u/admin/names"));
  expect([success, result]).toEqual([true, "$var:u/admin/none"]);
});

test("raises an alert if it fails or is missing, and none is started after it is removed", async () => {
  await deploy(ask, "acme", "u/admin/sad", "export const main = () => { throw new Error('no') }");
  await set({ path: "script/u/admin/sad" });
  await handlerOf(await run("u/admin/ok"));
  await outboxIsEmpty();
  expect((await alerts("error_handler_failed"))[0].message).toContain("u/admin/sad failed");
  await set({ path: "script/u/admin/nowhere" });
  await ended(await run("u/admin/ok"));
  await outboxIsEmpty();
  await deploy(ask, "acme", "u/admin/gone", "export const main = () => {}");
  await setHandler({ error_handler: "script/u/admin/gone" });
  await expectOk(ask("POST", "/w/acme/scripts/delete/p/u/admin/gone"));
  await ended(await run("u/admin/boom"));
  await outboxIsEmpty();
  // Each handler has its own alert.
  const told = await alerts("error_handler_not_started");
  const missing = told.map(({ message }) => /script (\S+)/.exec(message)?.[1]);
  expect(missing.sort()).toEqual(["u/admin/gone", "u/admin/nowhere"]);
  await set({});
  const id = await run("u/admin/ok");
  await ended(id);
  await outboxIsEmpty();
  expect(await heardOf(id)).toEqual([]);
});
