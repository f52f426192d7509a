/** Accepted new usernames, the right to rename, and texts that stay unchanged. */
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createRewriters } from "../../../../src/features/accounts/renaming/rewrite-json.ts";
import { type Ask, expectOk } from "../../../support/harness.ts";
import { admin, renameUser, root, server, setUpRenaming } from "./renaming-setup.ts";

setUpRenaming();

let made: Promise<{ carl: Ask }> | undefined;
/**
 * Members whose names cannot be given to others: some only in the workspace, one removed, one who left items.
 */
function others(): Promise<{ carl: Ask }> {
  made ??= (async () => {
    const carl = await server.member("acme", "carl");
    for (const name of ["dan", "eve"]) await server.member("acme", name);
    const { users } = await import("../../../../src/features/tenancy/people/user-tables.ts");
    await server.server.app.db.write(async (tx) => {
      // Usernames that exist only in the workspace.
      await tx.update(users).set({ username: null }).where(eq(users.email, "dan@example.org"));
      await tx.update(users).set({ username: null }).where(eq(users.email, "eve@example.org"));
    });
    await expectOk(admin("DELETE", "/w/acme/users/delete/eve"));
    const variable = { value: "1", is_secret: false, description: "" };
    await expectOk(admin("POST", "/w/acme/variables/create", { ...variable, path: "u/fred/thing" }));
    await expectOk(carl.ask("POST", "/w/acme/variables/create", { ...variable, path: "u/carl/own" }));
    return { carl: carl.ask };
  })();
  return made;
}

test.each([
  ["what is not a name", "a b", "cannot be a username"],
  ["the name of somebody on the instance", "root", "is that of root@example.org"],
  ["the name of another member", "dan", "the username dan is that of dan@example.org in workspace acme"],
  ["a name that another had", "eve", "the username eve was that of eve@example.org in workspace acme"],
  [
    "a name at which something stands",
    "fred",
    "u/fred/thing already exists where u/carl/… of workspace acme would be moved",
  ],
  ["no name", undefined, "`new_username`"],
])("renaming to %s is refused and changes nothing", async (_, to, message) => {
  const people = await others();
  const answer = await root("POST", "/users/rename/carl@example.org", { new_username: to });
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
  expect((await people.carl("GET", "/w/acme/users/whoami")).json().username).toBe("carl");
  expect((await people.carl("GET", "/w/acme/variables/get_value/u/carl/own")).json()).toBe("1");
});

test("a user can be renamed back", async () => {
  await server.member("acme", "gil");
  await expectOk(renameUser("gil", "gilbert"));
  await server.member("acme", "hal");
  expect((await renameUser("hal", "gil")).text).toContain("gil was that of");
  await expectOk(renameUser("gil", "gil"));
});

test("an unknown user is reported; only super admins rename", async () => {
  expect((await renameUser("nobody", "somebody")).status).toBe(404);
  expect((await admin("POST", "/users/rename/bob@example.org", { new_username: "rob" })).status).toBe(403);
});

test.each([
  [`{"a":"$var:u/ann/x"}`, `{"a":"$var:u/lee/x"}`],
  [`["$res:u/ann/x/y","$jsonvar:u/ann/z"]`, `["$res:u/lee/x/y","$jsonvar:u/lee/z"]`],
  [String.raw`{"a":"$var:u\/ann\/x"}`, `{"a":"$var:u/lee/x"}`],
  [`{"n":12345678901234567890,"a":"$var:u/ann/x"}`, `{"n":12345678901234567890,"a":"$var:u/lee/x"}`],
  [
    String.raw`{"a":"$\u0076ar:u/a\u006en/x","b":12345678901234567890}`,
    `{"a":"$var:u/lee/x","b":12345678901234567890}`,
  ],
  [String.raw`{"a":"say \"$var:u/ann/x\""}`, undefined],
  [`{"a":"see $var:u/ann/x"}`, undefined],
  [`{"a":"$var:u/anna/x","b":"$var:f/ann/x","c":"u/ann/x"}`, undefined],
])("references in %s follow: %p", (json, after) => {
  expect(createRewriters("ann", "lee").references(json)).toBe(after ?? json);
});

test.each([
  [`{"path":"u/ann/x","content":"u/ann/y"}`, `{"path":"u/lee/x","content":"u/ann/y"}`],
  [`{"expr":"variable('u/ann/x') + 'u/anna/y'"}`, `{"expr":"variable('u/lee/x') + 'u/anna/y'"}`],
  [String.raw`{"expr":"resource(\"$res:u/ann/x\")"}`, String.raw`{"expr":"resource(\"$res:u/lee/x\")"}`],
  [`{"summary":"variable('u/ann/x')"}`, undefined],
  [
    `{"x":{"type":"static","value":{"path":"u/ann/x","expr":"'u/ann/x'","a":["$var:u/ann/x"],"n":1.0}}}`,
    `{"x":{"type":"static","value":{"path":"u/ann/x","expr":"'u/ann/x'","a":["$var:u/lee/x"],"n":1.0}}}`,
  ],
  [`{"flow_env":{"path":"u/ann/x"},"path":"u/ann/x"}`, `{"flow_env":{"path":"u/ann/x"},"path":"u/lee/x"}`],
])("a flow's %s follows: %p", (json, after) => {
  expect(createRewriters("ann", "lee").flow(json)).toBe(after ?? json);
});

test("data in settings and policies that looks like a path stays unchanged", () => {
  const { names, policy } = createRewriters("ann", "lee");
  expect(
    names(`{"error_handler":{"path":"script/u/ann/x","extra_args":{"a":"u/ann/x","b":"$res:u/ann/x"}}}`),
  ).toBe(`{"error_handler":{"path":"script/u/lee/x","extra_args":{"a":"u/ann/x","b":"$res:u/lee/x"}}}`);
  const triggerables = (name: string) =>
    `{"triggerables_v2":{"a:script/u/${name}/x":{"static_inputs":{"s":"script/u/ann/x","r":"$res:u/${name}/y"}}},"on_behalf_of":"u/${name}"}`;
  expect(policy(triggerables("ann"))).toBe(triggerables("lee"));
});
