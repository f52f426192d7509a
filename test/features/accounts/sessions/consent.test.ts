/** Nobody becomes a member without accepting, and nothing runs as a user who has not accepted. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { workspaceMembers } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let root: Ask;

beforeAll(async () => {
  server = await startTestServer();
  admin = (await server.workspace()).ask;
  root = (await server.user("root", { super_admin: true })).ask;
});
afterAll(() => server.stop());

const w = "/w/acme/workspaces";
const role = (email: string, more = {}) => ({ email, is_admin: false, operator: false, ...more });
const memberOf = async (email: string, workspace = "acme") =>
  (
    await server.server.app.db.read
      .select()
      .from(workspaceMembers)
      .where(and(eq(workspaceMembers.workspace_id, workspace), eq(workspaceMembers.email, email)))
  )[0];
const runAs = async (email: string, name: string) => {
  const code = `export const main = () => [process.env.WM_EMAIL, "${name}"]`;
  await deploy(admin, "acme", `u/admin/${name}`, code, { on_behalf_of_email: email });
  return admin("POST", `/w/acme/jobs/run_wait_result/p/u/admin/${name}`, {});
};

describe("an admin of a workspace who adds a user", () => {
  test.each([
    ["an account", false],
    ["a super admin", true],
  ] as const)(
    "that is %s invites them, and does not run as them before they have accepted",
    async (_, super_admin) => {
      const name = super_admin ? "boss" : "victim";
      const { email, ask } = await server.user(name, { super_admin });
      const added = await expectOk(admin("POST", `${w}/add_user`, role(email)));
      expect(added.text).toBe(`${email} invited to workspace acme: they join by accepting`);
      // Clients repeat the request; the last role counts.
      await expectOk(admin("POST", `${w}/add_user`, role(email, { operator: true })));
      const invites = (await ask("GET", "/users/list_invites")).json();
      expect(invites).toEqual([{ workspace_id: "acme", email, is_admin: false, operator: true }]);
      expect(await memberOf(email)).toBeUndefined();
      const refused = await runAs(email, `as_${name}`);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("not an active member")]);
      await expectOk(ask("POST", "/users/accept_invite", { workspace_id: "acme" }));
      expect((await runAs(email, `as_${name}`)).json()[0]).toBe(email);
    },
  );

  test("without an account adds a member in whose name nothing runs before their first login", async () => {
    const email = "early@example.org";
    const added = await expectOk(admin("POST", `${w}/add_user`, role(email)));
    expect(added.text).toBe(`${email} added to workspace acme as early`);
    expect((await runAs(email, "as_early")).text).toContain("has not joined workspace acme yet");
    const { ask } = await server.user("early");
    expect((await runAs(email, "as_early")).status).toBe(400);
    expect((await ask("GET", "/w/acme/users/whoami")).json()).toMatchObject({ username: "early" });
    expect((await runAs(email, "as_early")).json()[0]).toBe(email);
  });
});

test("a super admin can add anybody", async () => {
  const { email } = await server.user("placed");
  expect((await expectOk(root("POST", `${w}/add_user`, role(email)))).text).toContain("as placed");
  expect((await memberOf(email))?.unasked).toBe(false);
  const { email: second } = await server.user("placed_too");
  await expectOk(server.operator("POST", `${w}/add_user`, role(second)));
  expect((await memberOf(second))?.unasked).toBe(false);
});

test("users of a domain join by rule; super admins must accept, and a rule for all domains needs a super admin", async () => {
  const everybody = { operator: false, invite_all: true, auto_add: true };
  const edit = (by: Ask, body: object) => by("POST", `${w}/edit_auto_invite`, body);
  const refused = await edit(admin, everybody);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("super admin")]);
  await expectOk(edit(root, everybody));
  const { email: plain } = await server.user("joins");
  const { email: above } = await server.user("asked", { super_admin: true });
  expect(await memberOf(plain)).toBeDefined();
  expect(await memberOf(above)).toBeUndefined();
  await expectOk(edit(root, {}));
});

test("a job on behalf of a super admin has their rights in the workspace, none on the instance", async () => {
  const { email, ask } = await server.user("chief", { super_admin: true });
  await expectOk(admin("POST", `${w}/invite_user`, role(email)));
  await expectOk(ask("POST", "/users/accept_invite", { workspace_id: "acme" }));
  const code = `export const main = async () => {
    const get = async (path: string) => (await fetch(process.env.BASE_INTERNAL_URL + "/api" + path,
      { headers: { authorization: "Bearer " + process.env.WM_TOKEN } })).status;
    return [await get("/w/acme/users/get/admin"), await get("/users/list_as_super_admin"), await get("/w/other/users/whoami")];
  }`;
  await server.workspace("other");
  await deploy(admin, "acme", "u/admin/chief", code, { on_behalf_of_email: email });
  const ran = await expectOk(admin("POST", "/w/acme/jobs/run_wait_result/p/u/admin/chief", {}));
  expect(ran.json()).toEqual([403, 403, 401]);
});
