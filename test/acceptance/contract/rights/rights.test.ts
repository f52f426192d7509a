/** Changes of rights take effect everywhere: tokens of running jobs, steps of flows, lists of jobs. */
import { beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { groupMembers } from "../../../../src/features/tenancy/people/group-tables.ts";
import { listWorkspaceMembers, resolveMember } from "../../../../src/features/tenancy/people/members.ts";
import { describeRights } from "../../../../src/platform/access/permissions.ts";
import { type Ask, deploy, expectOk } from "../../../support/harness.ts";
import { admin, askAs, createVariable, server, setUpRights } from "./rights-setup.ts";

setUpRights();

/** Returns the rights that the owner of a token has at a path now. */
async function rightOf(ask: Ask, path: string): Promise<"nothing" | "read" | "write"> {
  if ((await ask("GET", `/w/acme/variables/get/${path}`)).status !== 200) return "nothing";
  const changed = await ask("POST", `/w/acme/variables/update/${path}`, { description: "seen" });
  return changed.status === 200 ? "write" : "read";
}

test("a change takes effect at once for a token in use", async () => {
  const bob = askAs.bob!;
  const path = "f/live/x";
  await admin("folders/create", { name: "live" });
  await createVariable(path);
  const remove = (what: string) => expectOk(askAs.admin!("DELETE", `/w/acme/${what}`));
  const steps: [what: string, change: () => Promise<unknown>, right: string][] = [
    ["nothing was given", async () => {}, "nothing"],
    ["an entry of the item", () => admin(`acls/add/variable/${path}`, { owner: "u/bob" }), "read"],
    ["… to write", () => admin(`acls/add/variable/${path}`, { owner: "u/bob", write: true }), "write"],
    ["… taken", () => admin(`acls/remove/variable/${path}`, { owner: "u/bob" }), "nothing"],
    ["an entry of the folder", () => admin("acls/add/folder/live", { owner: "u/bob" }), "read"],
    ["… to write", () => admin("acls/add/folder/live", { owner: "u/bob", write: true }), "write"],
    ["… taken", () => admin("acls/remove/folder/live", { owner: "u/bob" }), "nothing"],
    ["the folder given to a group", () => admin("groups/create", { name: "live" }), "nothing"],
    ["… as an owner", () => admin("folders/addowner/live", { owner: "g/live" }), "nothing"],
    ["in the group", () => admin("groups/adduser/live", { username: "bob" }), "write"],
    ["out of the group", () => admin("groups/removeuser/live", { username: "bob" }), "nothing"],
    ["in it again", () => admin("groups/adduser/live", { username: "bob" }), "write"],
    ["the group reads", () => admin("folders/removeowner/live", { owner: "g/live", write: false }), "read"],
    ["the group is no more", () => remove("groups/delete/live"), "nothing"],
    ["an owner", () => admin("folders/addowner/live", { owner: "u/bob" }), "write"],
    ["the folder is no more", () => remove("folders/delete/live"), "nothing"],
  ];
  for (const [what, change, right] of steps) {
    await change();
    expect([what, await rightOf(bob, path)]).toEqual([what, right]);
  }
});

test("users who may not write in a folder are told who can change that", async () => {
  await admin("folders/create", { name: "told", extra_perms: { "u/bob": false } });
  const body = { value: "1", is_secret: false, description: "" };
  for (const [path, says] of [
    ["f/told/x", "bob may only read folder told: its owners and admins give the right to write"],
    ["f/nowhere/x", "bob sees no folder nowhere: its owners and admins give the right to write"],
    ["u/ann/x", "bob may not write to u/ann/x"],
  ]) {
    const script = { path, content: "export const main = () => 1", language: "bun" };
    const answer = await askAs.bob!("POST", "/w/acme/scripts/create", script);
    expect([path, answer.status, answer.text]).toEqual([path, 403, expect.stringContaining(says!)]);
    expect((await askAs.bob!("POST", "/w/acme/variables/create", { ...body, path })).status).toBe(403);
  }
});

test("rights changed by another program take effect within a minute", async () => {
  const { app } = server.server;
  await admin("groups/create", { name: "far" });
  await createVariable("g/far/x");
  expect(await rightOf(askAs.bob!, "g/far/x")).toBe("nothing");
  const row = { workspace_id: "acme", name: "far", email: "bob@example.org" };
  await app.db.write((tx) => tx.insert(groupMembers).values(row));
  expect(await rightOf(askAs.bob!, "g/far/x")).toBe("nothing");
  const { clock } = app;
  try {
    Object.assign(app, { clock: () => new Date(Date.now() + 61_000) });
    expect(await rightOf(askAs.bob!, "g/far/x")).toBe("write");
  } finally {
    Object.assign(app, { clock });
  }
});

test("a webhook runs no query for rights once the caller is cached", async () => {
  await admin("folders/create", { name: "hot", extra_perms: { "u/bob": false } });
  await deploy(askAs.admin!, "acme", "f/hot/x", "export const main = () => 1");
  const run = () => expectOk(askAs.bob!("POST", "/w/acme/jobs/run_wait_result/p/f/hot/x", {}));
  await run();
  const { read } = server.server.app.db;
  const { select } = read;
  let queries = 0;
  try {
    Object.assign(read, {
      select: (...columns: Parameters<typeof select>) => {
        queries++;
        return select.apply(read, columns);
      },
    });
    await run();
    expect(queries).toBe(0);
    await admin("acls/add/folder/hot", { owner: "u/ann" });
    queries = 0;
    await run();
    expect(queries).toBeGreaterThan(0);
  } finally {
    Object.assign(read, { select });
  }
});

test("the user record lists groups and folders", async () => {
  await admin("groups/create", { name: "record" });
  await admin("groups/adduser/record", { username: "cid" });
  await admin("folders/create", { name: "r1", extra_perms: { "g/record": false } });
  await admin("folders/create", { name: "r2", extra_perms: { "u/cid": true } });
  await admin("folders/create", { name: "r3", owners: ["g/record"] });
  const identity = { email: "cid@example.org", super_admin: false, devops: false, token: undefined };
  const member = await resolveMember(server.server.app, identity, "acme");
  const rights = {
    groups: ["all", "record"],
    folders: ["r2", "r3"],
    folders_read: ["app_custom", "app_groups", "app_themes", "r1", "r2", "r3"],
    folders_owners: ["r3"],
  };
  expect(describeRights(member!)).toEqual(rights);
  const all = await listWorkspaceMembers(server.server.app, "acme");
  expect(all.map(({ username }) => username).slice(0, 4)).toEqual(["admin", "ann", "bob", "cid"]);
  expect(describeRights(all.find(({ username }) => username === "cid")!)).toEqual(rights);
});

describe("a username", () => {
  const { workspace_id, name, email } = groupMembers;
  const at = (group: string) => and(eq(workspace_id, "acme"), eq(name, group), eq(email, "zoe@example.org"));

  beforeAll(async () => {
    askAs.zoe = (await server.member("acme", "zoe")).ask;
    await admin("groups/create", { name: "zoes" });
    await admin("groups/adduser/zoes", { username: "zoe" });
    await admin("acls/add/group_/zoes", { owner: "u/zoe", write: true });
    await admin("folders/create", { name: "zoes", owners: ["u/zoe"] });
    await createVariable("u/admin/zoes");
    await admin("acls/add/variable/u/admin/zoes", { owner: "u/zoe", write: true });
  });
  const told = async () => ({
    variable: (await askAs.admin!("GET", "/w/acme/acls/get/variable/u/admin/zoes")).json(),
    folder: (await askAs.admin!("GET", "/w/acme/folders/get/zoes")).json().owners,
    group: (await askAs.admin!("GET", "/w/acme/groups/get/zoes")).json().extra_perms,
  });

  test("keeps its rights when it is changed", async () => {
    await expectOk(server.operator("POST", "/users/rename/zoe@example.org", { new_username: "zoey" }));
    expect(await told()).toEqual({
      variable: { "u/zoey": true },
      folder: ["u/zoey"],
      group: { "u/admin": true, "u/zoey": true },
    });
  });

  test("leaves no rights behind when its user leaves", async () => {
    const { app } = server.server;
    expect(await app.db.read.select().from(groupMembers).where(at("zoes"))).toHaveLength(1);
    await expectOk(askAs.admin!("DELETE", "/w/acme/users/delete/zoey"));
    expect(await app.db.read.select().from(groupMembers).where(at("zoes"))).toEqual([]);
    expect(await told()).toEqual({ variable: {}, folder: [], group: { "u/admin": true } });
  });
});
