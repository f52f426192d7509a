/** An error handler of a workspace that is muted for scripts and flows below `u/`. */
import { expect, test } from "bun:test";
import { deploy, expectOk } from "../../../support/harness.ts";
import {
  ask,
  awaitCalls,
  ended,
  HANDLER,
  handlerOf,
  handlersFor,
  run,
  setHandler,
  setUpHandlers,
} from "./error-handlers-setup.ts";

setUpHandlers();

test("it is not called for items below u/, but for those in folders", async () => {
  await expectOk(ask("POST", "/w/acme/folders/create", { name: "ops" }));
  await deploy(ask, "acme", "f/ops/boom", "export const main = () => { throw new Error('no') }");
  await setHandler({ path: HANDLER, muted_on_user_path: true });
  const own = await run("u/admin/boom");
  await ended(own);
  await handlerOf(await run("f/ops/boom"));
  await setHandler({ path: HANDLER, muted_on_user_path: false });
  await awaitCalls();
  expect(await handlersFor(own)).toEqual([]);
});
