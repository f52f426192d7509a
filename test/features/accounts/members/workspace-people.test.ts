/** Membership of a workspace: invited, added, joined by e-mail domain, removed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { workspaceInvites } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let dev: Ask;

beforeAll(async () => {
  server = await startTestServer();
  admin = (await server.workspace()).ask;
  dev = (await server.member("acme", "dev")).ask;
}, 60_000);
afterAll(() => server.stop());

const w = "/w/acme/workspaces";
const invite = (email: string, more = {}) => ({ email, is_admin: false, operator: false, ...more });
const whoami = async (ask: Ask, workspace = "acme") => ask("GET", `/w/${workspace}/users/whoami`);
const account = (email: string) =>
  expectOk(server.operator("POST", "/users/create", { email, password: "password", super_admin: false }));
async function login(email: string): Promise<Ask> {
  const body = { email, password: "password" };
  return server.as((await expectOk(server.as(undefined)("POST", "/auth/login", body))).text);
}

describe("invites", () => {
  test("are listed until revoked, and created once per person", async () => {
    const list = async () => (await expectOk(admin("GET", `${w}/list_pending_invites`))).json();
    expect(await list()).toEqual([]);
    await expectOk(admin("POST", `${w}/invite_user`, invite("Guest@Example.org", { operator: true })));
    const row = { workspace_id: "acme", email: "guest@example.org", is_admin: false, operator: true };
    expect(await list()).toEqual([row]);
    const again = await admin("POST", `${w}/invite_user`, invite("guest@example.org"));
    expect([again.status, again.text]).toEqual([
      400,
      "Bad request: guest@example.org is invited to workspace acme already",
    ]);
    await expectOk(admin("POST", `${w}/delete_invite`, invite("guest@example.org", { operator: true })));
    expect(await list()).toEqual([]);
    const gone = await admin("POST", `${w}/delete_invite`, invite("guest@example.org"));
    expect(gone.status).toBe(404);
    const rows = (await admin("GET", "/w/acme/audit/list?resource=guest@")).json();
    expect(rows.map((one: any) => one.operation)).toEqual(["users.delete_invite", "users.invite"]);
  });

  test.each([
    ["invite_user", invite("dev@example.org"), 400, "is a member of workspace acme already, as dev"],
    ["invite_user", invite("nobody"), 400, '"nobody" is not an e-mail address'],
    ["invite_user", invite("a@b.c", { is_admin: true, operator: true }), 400, "`is_admin` and `operator`"],
    ["invite_user", { email: "a@b.c", is_admin: true }, 400, "`operator`"],
    ["add_user", invite("dev@example.org"), 400, "is a member of workspace acme already, as dev"],
    ["add_user", invite("a@b.c", { username: "dev" }), 400, "the username dev is that of dev@example.org"],
    ["add_user", invite("a@b.c", { username: "1" }), 400, '"1" cannot be a username'],
  ] as const)("%s %j is refused", async (name, body, status, says) => {
    const answer = await admin("POST", `${w}/${name}`, body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says)]);
  });

  test("are for admins only", async () => {
    for (const name of ["invite_user", "add_user", "delete_invite"]) {
      expect([name, (await dev("POST", `${w}/${name}`, invite("x@y.z"))).status]).toEqual([name, 403]);
    }
    expect((await dev("GET", `${w}/list_pending_invites`)).status).toBe(403);
  });
});

describe("a member who is added", () => {
  test("needs no account yet, and belongs to the workspace once one exists", async () => {
    await expectOk(admin("POST", `${w}/invite_user`, invite("late@example.org")));
    const added = await expectOk(
      admin("POST", `${w}/add_user`, invite("late@example.org", { operator: true })),
    );
    expect(added.text).toBe("late@example.org added to workspace acme as late");
    expect((await admin("GET", `${w}/list_pending_invites`)).json()).toEqual([]);
    await account("late@example.org");
    const ask = await login("late@example.org");
    expect((await whoami(ask)).json()).toMatchObject({ username: "late", operator: true, is_admin: false });
  });

  test("gets the requested username, or the next free one", async () => {
    const add = async (email: string, more = {}) =>
      (await expectOk(admin("POST", `${w}/add_user`, invite(email, more)))).text.split(" ").at(-1);
    expect(await add("dev@elsewhere.org")).toBe("dev2");
    expect(await add("dev@third.org")).toBe("dev3");
    expect(await add("chief@third.org", { username: "boss", is_admin: true })).toBe("boss");
    const taken = async (username: string, id = "acme") =>
      (await dev("POST", "/workspaces/exists_username", { id, username })).json();
    expect([await taken("boss"), await taken("bos"), await taken("boss", "nowhere")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("can leave, which ends their workspace tokens; the last admin cannot", async () => {
    const { ask } = await server.member("acme", "leaver");
    const workspace_id = "acme";
    const bound = server.as((await expectOk(ask("POST", "/users/tokens/create", { workspace_id }))).text);
    expect((await whoami(bound)).status).toBe(200);
    await expectOk(ask("POST", `${w}/leave`));
    expect([(await whoami(ask)).status, (await whoami(bound)).status]).toEqual([401, 401]);
    expect((await bound("GET", "/users/whoami")).status).toBe(401);
    // Items below u/leaver/ are still theirs, so nobody else can have this username.
    const taken = await admin("POST", `${w}/add_user`, invite("new@example.org", { username: "leaver" }));
    expect([taken.status, taken.text]).toEqual([
      400,
      expect.stringContaining("the username leaver was that of leaver@example.org"),
    ]);
    const next = await expectOk(admin("POST", `${w}/add_user`, invite("leaver@example.com")));
    expect(next.text).toContain("as leaver2");
    const alone = (await server.workspace("alone")).ask;
    const refused = await alone("POST", "/w/alone/workspaces/leave");
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("is the last admin")]);
    const body = invite("second@example.org", { is_admin: true });
    await expectOk(alone("POST", "/w/alone/workspaces/add_user", body));
    await expectOk(alone("POST", "/w/alone/workspaces/leave"));
    expect((await whoami(alone, "alone")).status).toBe(401);
    const above = await server.operator("POST", "/w/alone/workspaces/leave");
    expect([above.status, above.text]).toEqual([404, expect.stringContaining("in workspace alone")]);
  });
});

describe("users of a domain", () => {
  /** A workspace whose admin has an address of the given domain. */
  async function of(id: string, domain: string): Promise<Ask> {
    const email = `chief@${domain}`;
    await account(email);
    await expectOk(server.operator("POST", "/workspaces/create", { id, name: id, owner: email }));
    return login(email);
  }
  const edit = (ask: Ask, id: string, body: object) =>
    ask("POST", `/w/${id}/workspaces/edit_auto_invite`, body);
  const invitedTo = async (id: string, email: string) =>
    (
      await server.server.app.db.read
        .select()
        .from(workspaceInvites)
        .where(and(eq(workspaceInvites.workspace_id, id), eq(workspaceInvites.email, email)))
    ).length;

  test("join at sign-up and login with a free username; others do not", async () => {
    const ask = await of("joined", "joined.org");
    await account("early@joined.org");
    await expectOk(edit(ask, "joined", { operator: true, auto_add: true }));
    const early = await login("early@joined.org");
    expect((await whoami(early, "joined")).json()).toMatchObject({ username: "early", operator: true });
    await account("chief@sub.joined.org");
    expect((await whoami(await login("chief@sub.joined.org"), "joined")).status).toBe(401);
    await account("Fresh@Joined.org");
    const rows = (await ask("GET", "/w/joined/audit/list?operation=users.add_to_workspace")).json();
    expect(rows.map((row: any) => [row.username, row.resource, row.parameters.by])).toEqual([
      ["fresh", "fresh@joined.org", "auto_add"],
      ["early", "early@joined.org", "auto_add"],
    ]);
    const settings = (await ask("GET", "/w/joined/workspaces/get_settings")).json();
    expect(settings).toMatchObject({
      auto_invite_domain: "joined.org",
      auto_invite_operator: true,
      auto_add: true,
    });
    await expectOk(edit(ask, "joined", {}));
    expect((await ask("GET", "/w/joined/workspaces/get_settings")).json().auto_invite_domain).toBeNull();
    await account("later@joined.org");
    expect((await whoami(await login("later@joined.org"), "joined")).status).toBe(401);
  });

  test("are invited if auto-add is off, and for all domains if configured", async () => {
    const ask = await of("invited", "invited.org");
    await expectOk(edit(ask, "invited", { operator: false }));
    await account("one@invited.org");
    await login("one@invited.org");
    await account("one@outside.org");
    expect(await invitedTo("invited", "one@invited.org")).toBe(1);
    expect(await invitedTo("invited", "one@outside.org")).toBe(0);
    await expectOk(edit(ask, "invited", { operator: false, invite_all: true }));
    await login("one@outside.org");
    expect(await invitedTo("invited", "one@outside.org")).toBe(1);
    await expectOk(ask("POST", "/w/invited/workspaces/archive"));
    await account("two@outside.org");
    expect(await invitedTo("invited", "two@outside.org")).toBe(0);
  });

  test("of a free-mail provider are refused, which clients can check before", async () => {
    const ask = await of("free", "gmail.com");
    const answer = await edit(ask, "free", { operator: false, auto_add: true });
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining("everybody may have an address at gmail.com"),
    ]);
    const allowed = async (who: Ask) =>
      (await expectOk(who("GET", "/workspaces/allowed_domain_auto_invite"))).json();
    expect([await allowed(ask), await allowed(dev)]).toEqual([false, true]);
    await expectOk(edit(ask, "free", { operator: false, invite_all: true }));
    await expectOk(edit(ask, "free", {}));
  });
});
