/** Joining workspaces by the domain of an address at a login with a provider. */
import { expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { startOAuthTest } from "../../../support/peers/identity-provider.ts";
import { followLogin, userOf } from "./oauth-login-setup.ts";

test("users join by domain only with an address that is known to be theirs", async () => {
  await using t = await startOAuthTest();
  const { server, idp } = t;
  const { ask } = await server.workspace();
  const { ask: root } = await server.user("root", { super_admin: true });
  await expectOk(ask("POST", "/w/acme/workspaces/edit_auto_invite", { auto_add: true, operator: false }));
  const isMember = async (person: string) => {
    const { post } = await followLogin(t, person);
    expect((await post()).status).toBe(200);
    const members = (await expectOk(ask("GET", "/w/acme/users/list"))).json<{ email: string }[]>();
    const invited = (await expectOk(ask("GET", "/w/acme/workspaces/list_pending_invites"))).json<
      { email: string }[]
    >();
    return [...members, ...invited].some(({ email }) => email === `${person}@example.org`);
  };
  expect(await isMember("ann")).toBe(true);

  // The provider does not say whether it has verified these.
  for (const person of ["eve", "bob", "cleo"]) idp.people.set(person, { email: `${person}@example.org` });
  expect(await isMember("eve")).toBe(false);

  // It says so later.
  idp.people.set("eve", { email: "eve@example.org", email_verified: true });
  expect(await isMember("eve")).toBe(true);
  expect((await userOf(t, "eve@example.org"))?.verified).toBe(true);

  // A super admin vouches for the domain, or everybody may join.
  await t.clients({ house: { ...t.client, allowed_domains: ["Example.org"] } });
  expect(await isMember("bob")).toBe(true);
  await t.clients({ house: t.client });
  const everybody = { auto_add: true, invite_all: true, operator: false };
  await expectOk(root("POST", "/w/acme/workspaces/edit_auto_invite", everybody));
  expect(await isMember("cleo")).toBe(true);
}, 60_000);
