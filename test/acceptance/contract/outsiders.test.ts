/** Users who are not members learn neither usernames nor whether an account exists. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { jobs } from "../../../src/platform/queue/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let ann: Ask;
let stranger: Ask;
let root: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: admin } = await server.workspace());
  ({ ask: ann } = await server.member("acme", "ann"));
  ({ ask: stranger } = await server.user("stranger"));
  ({ ask: root } = await server.user("root", { super_admin: true }));
});
afterAll(() => server.stop());

describe("whether a user exists", () => {
  const exists = async (by: Ask, email: string) => (await by("GET", `/users/exists/${email}`)).json();

  test("is returned for users of a shared workspace, and to super admins and devops", async () => {
    for (const email of ["ann@example.org", "admin_acme@example.org"]) {
      expect(await exists(stranger, email)).toBe(false);
      expect(await exists(ann, email)).toBe(true);
      expect(await exists(root, email.toUpperCase())).toBe(true);
    }
    expect(await exists(stranger, "stranger@example.org")).toBe(true);
    expect(await exists(root, "no@example.org")).toBe(false);
    // An invited address has no account.
    await expectOk(
      admin("POST", "/w/acme/workspaces/add_user", {
        email: "soon@example.org",
        is_admin: false,
        operator: false,
      }),
    );
    expect(await exists(ann, "soon@example.org")).toBe(false);
  });

  test("and their names, to members, invited users, and super admins", async () => {
    const taken = async (by: Ask, username = "ann") =>
      (await by("POST", "/workspaces/exists_username", { id: "acme", username })).json();
    expect([await taken(stranger), await taken(ann), await taken(root)]).toEqual([false, true, true]);
    const invite = { email: "stranger@example.org", is_admin: false, operator: false };
    await expectOk(admin("POST", "/w/acme/workspaces/invite_user", invite));
    expect([await taken(stranger), await taken(stranger, "nobody")]).toEqual([true, false]);
    const refused = await stranger("POST", "/users/accept_invite", { workspace_id: "acme", username: "ann" });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("ann is taken")]);
    expect(refused.text).not.toContain("@");
    await expectOk(stranger("POST", "/users/decline_invite", { workspace_id: "acme" }));
  });

  test("is not revealed by the text, status or headers of a failed login", async () => {
    const nobody = server.as(undefined);
    const answers = [];
    for (const email of ["ann@example.org", "no@example.org", "soon@example.org", "not an address"]) {
      const { status, text, headers } = await nobody("POST", "/auth/login", { email, password: "wrong" });
      answers.push([status, text, headers.get("svc-error"), headers.get("set-cookie")]);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  });
});

test("a job that was started anonymously reveals no account to strangers", async () => {
  await deploy(admin, "acme", "u/admin/open", "export const main = () => 'open'");
  const id = (await expectOk(admin("POST", "/w/acme/jobs/run/p/u/admin/open", {}))).text;
  await until(async () =>
    (await admin("GET", `/w/acme/jobs_u/get/${id}`)).json().success ? true : undefined,
  );
  await server.server.app.db.write(async (tx) => {
    await tx.update(jobs).set({ created_by: "anonymous" }).where(eq(jobs.id, id));
  });
  for (const path of [`get/${id}`, `completed/get/${id}`]) {
    for (const by of [server.as(undefined)]) {
      const { status, text } = await by("GET", `/w/acme/jobs_u/${path}`);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toContain("admin_acme@example.org");
      expect(JSON.parse(text)).toMatchObject({ email: "", permissioned_as: "", result: "open" });
    }
    expect((await admin("GET", `/w/acme/jobs_u/${path}`)).json().email).toBe("admin_acme@example.org");
  }
});
