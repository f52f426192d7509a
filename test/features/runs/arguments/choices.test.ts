/** Options of a form field that exported code defines. */
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
const as: Record<string, Ask> = {};

const CODE = `
export const cities = (country: string, filterText = "") =>
  [process.env.WM_PERMISSIONED_AS, country, filterText];
export const main = () => { throw new Error("main ran"); };
`;
const DEPLOYED = { source: "deployed", path: "u/admin/form", runnable_kind: "script" };
const FLOW = { source: "deployed", path: "u/admin/flow", runnable_kind: "flow" };
const INLINE = { source: "inline", code: CODE, lang: "bun" };

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  as.operator = (await server.member("acme", "olga", "operator")).ask;
  as.stranger = (await server.member("acme", "stranger")).ask;
  const owner = { on_behalf_of_email: "admin_acme@example.org" };
  await deploy(as.admin, "acme", "u/admin/form", CODE, owner);
  const schema = { "x-windmill-dyn-select-code": CODE, "x-windmill-dyn-select-lang": "bun" };
  for (const flow of [
    { path: "u/admin/flow", schema, ...owner },
    { path: "u/admin/plain", schema: {} },
  ]) {
    const value = { modules: [] };
    await expectOk(as.admin("POST", "/w/acme/flows/create", { summary: "", value, ...flow }));
  }
  for (const item of ["script/u/admin/form", "flow/u/admin/flow"]) {
    const owned = { owner: "u/olga", write: false };
    await expectOk(as.admin("POST", `/w/acme/acls/add/${item}`, owned));
  }
}, 60_000);
afterAll(() => server.stop());

const choose = (who: string, runnable_ref: object, more: object = {}) =>
  as[who]!("POST", "/w/acme/jobs/run/dynamic_select", {
    entrypoint_function: "cities",
    args: { _ENTRYPOINT_OVERRIDE: "main", filterText: "b", country: "fr" },
    runnable_ref,
    ...more,
  });

describe("the named function returns choices", () => {
  test.each([
    ["operator", "of a script", DEPLOYED, "u/olga", "script"],
    ["operator", "of a flow", FLOW, "u/olga", "preview"],
    ["admin", "of code that is not deployed", INLINE, "u/admin", "preview"],
  ])("to the %s, %s, with the rights of the caller", async (who, _, ref, permissioned_as, job_kind) => {
    const answer = await choose(who, ref);
    expect(answer.status).toBe(201);
    const job = await until(async () => {
      const found = await as[who]!("GET", `/w/acme/jobs_u/completed/get/${answer.text}`);
      return found.status === 200 ? found.json() : undefined;
    });
    expect(job).toMatchObject({
      job_kind,
      permissioned_as,
      success: true,
      result: [permissioned_as, "fr", "b"],
      args: { country: "fr", filterText: "b", _ENTRYPOINT_OVERRIDE: "cities" },
    });
  });
});

describe("the call is rejected", () => {
  test.each([
    ["operator", INLINE, {}, 403, "only run deployed scripts and flows"],
    ["stranger", DEPLOYED, {}, 404, "u/admin/form"],
    ["admin", DEPLOYED, { entrypoint_function: "nothing" }, 400, "exports no function `nothing`"],
    ["admin", INLINE, { entrypoint_function: "nothing" }, 400, "exports no function `nothing`"],
    ["admin", { ...FLOW, path: "u/admin/plain" }, {}, 400, "has no code"],
    ["admin", { source: "elsewhere" }, {}, 400, "runnable_ref"],
  ])("to the %s: %p %p", async (who, ref, more, status, message) => {
    const answer = await choose(who, ref, more);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
  });

  test("to a token that may only run one script or flow", async () => {
    for (const [scope, status] of [
      ["jobs:run:scripts:u/admin/form", 403],
      ["jobs:run", 201],
    ] as const) {
      const made = await expectOk(as.admin!("POST", "/users/tokens/create", { scopes: [scope] }));
      as.token = server.as(made.text);
      for (const ref of [DEPLOYED, FLOW, INLINE]) expect((await choose("token", ref)).status).toBe(status);
    }
  });
});
