import { expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer } from "../../../support/harness.ts";

test("an app that is only a draft is open to nobody without a login", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const path = "u/admin/shop";
  const script = "script/u/admin/x";
  await deploy(ask, "acme", "u/admin/x", "export const main = () => 1");
  const policy = { execution_mode: "anonymous", triggerables_v2: { [`a:${script}`]: {} } };
  const draft = { path, value: {}, summary: "", policy, custom_path: "shop", draft_only: true };
  await expectOk(ask("POST", "/w/acme/apps/create", draft));
  const secret = (await expectOk(ask("GET", `/w/acme/apps/secret_of/${path}`))).text;
  const calls = async (who: Ask) => {
    const answers = await Promise.all([
      who("GET", `/w/acme/apps_u/public_app/${secret}`),
      who("GET", "/apps_u/public_app_by_custom_path/shop"),
      who("POST", `/w/acme/apps_u/execute_component/${path}`, { component: "a", path: script }),
    ]);
    return answers.map(({ status }) => status);
  };
  const nobody = server.as(undefined);
  expect(await calls(nobody)).toEqual([401, 401, 401]);
  expect(await calls(ask)).toEqual([200, 200, 200]);
  await expectOk(ask("POST", `/w/acme/apps/update/${path}`, { value: {} }));
  expect(await calls(nobody)).toEqual([200, 200, 200]);
});
