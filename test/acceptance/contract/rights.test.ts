/** Rights while they change, and where they reach: running jobs' tokens, flows' steps, lists of jobs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { groupMembers } from "../../../src/features/tenancy/people/group-tables.ts";
import { listWorkspaceMembers, resolveMember } from "../../../src/features/tenancy/people/members.ts";
import { describeRights } from "../../../src/platform/access/permissions.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  for (const name of ["ann", "bob", "cid"]) as[name] = (await server.member("acme", name)).ask;
});
afterAll(() => server.stop());

const admin = (path: string, body: object = {}) => expectOk(as.admin!("POST", `/w/acme/${path}`, body));
const newVariable = (path: string) =>
  admin("variables/create", { path, value: "1", is_secret: false, description: "" });

/** What the holder of a token sees and may do at a path, at this moment. */
async function rightOf(ask: Ask, path: string): Promise<"nothing" | "read" | "write"> {
  if ((await ask("GET", `/w/acme/variables/get/${path}`)).status !== 200) return "nothing";
  const changed = await ask("POST", `/w/acme/variables/update/${path}`, { description: "seen" });
  return changed.status === 200 ? "write" : "read";
}

test("a change takes effect at once for a token in use", async () => {
  const bob = as.bob!;
  const path = "f/live/x";
  await admin("folders/create", { name: "live" });
  await newVariable(path);
  const remove = (what: string) => expectOk(as.admin!("DELETE", `/w/acme/${what}`));
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
    const answer = await as.bob!("POST", "/w/acme/scripts/create", script);
    expect([path, answer.status, answer.text]).toEqual([path, 403, expect.stringContaining(says!)]);
    expect((await as.bob!("POST", "/w/acme/variables/create", { ...body, path })).status).toBe(403);
  }
});

test("rights changed by another program take effect within a minute", async () => {
  const { app } = server.server;
  await admin("groups/create", { name: "far" });
  await newVariable("g/far/x");
  expect(await rightOf(as.bob!, "g/far/x")).toBe("nothing");
  const row = { workspace_id: "acme", name: "far", email: "bob@example.org" };
  await app.db.write((tx) => tx.insert(groupMembers).values(row));
  expect(await rightOf(as.bob!, "g/far/x")).toBe("nothing");
  const { clock } = app;
  try {
    Object.assign(app, { clock: () => new Date(Date.now() + 61_000) });
    expect(await rightOf(as.bob!, "g/far/x")).toBe("write");
  } finally {
    Object.assign(app, { clock });
  }
});

test("a webhook runs no query for rights once the caller is cached", async () => {
  await admin("folders/create", { name: "hot", extra_perms: { "u/bob": false } });
  await deploy(as.admin!, "acme", "f/hot/x", "export const main = () => 1");
  const run = () => expectOk(as.bob!("POST", "/w/acme/jobs/run_wait_result/p/f/hot/x", {}));
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

describe("jobs", () => {
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    await admin("groups/create", { name: "leads" });
    await admin("groups/adduser/leads", { username: "cid" });
    await admin("folders/create", {
      name: "jobs",
      owners: ["u/ann", "g/leads"],
      extra_perms: { "u/bob": true },
    });
    for (const name of ["dee", "eve", "fay"]) as[name] = (await server.member("acme", name)).ask;
    await admin("folders/update/jobs", {
      owners: ["u/ann", "g/leads"],
      extra_perms: { "u/bob": true, "u/dee": false, "u/fay": false },
    });
    await deploy(as.ann!, "acme", "f/jobs/x", "export const main = () => 1");
    const run = async (who: string, query = "") =>
      (await expectOk(as[who]!("POST", `/w/acme/jobs/run/p/f/jobs/x?${query}`, {}))).text;
    ids.open = await run("dee");
    ids.hidden = await run("dee", "invisible_to_owner=true");
    for (const id of Object.values(ids)) {
      await until(async () => {
        const { type } = (await as.dee!("GET", `/w/acme/jobs_u/get/${id}`)).json();
        return type === "CompletedJob" ? true : undefined;
      });
    }
  });

  test.each([
    ["who ran it", "dee", ["open", "hidden"]],
    ["an owner of its folder", "ann", ["open"]],
    ["a group that owns its folder", "cid", ["open"]],
    ["who may write in its folder", "bob", ["open"]],
    ["who may read its folder", "fay", ["open"]],
    ["a stranger", "eve", []],
    ["an admin", "admin", ["open", "hidden"]],
  ])("are seen by %s, unless it was made invisible to owners", async (_, who, names) => {
    const list = await as[who]!("GET", "/w/acme/jobs/list?script_path_exact=f/jobs/x");
    const listed = (list.json() as { id: string }[]).map(({ id }) => id);
    const count = Object.keys(ids).filter((name) => listed.includes(ids[name]!));
    expect(count).toEqual(names);
    for (const [name, id] of Object.entries(ids)) {
      const status = (names as string[]).includes(name) ? 200 : 404;
      for (const url of ["get", "completed/get_result", "get_args", "get_logs"]) {
        expect((await as[who]!("GET", `/w/acme/jobs_u/${url}/${id}`)).status).toBe(status);
      }
    }
  });

  test("can only be viewed by users who may read their folder: changing them is for their runner, owners and admins", async () => {
    const later = (await expectOk(as.dee!("POST", "/w/acme/jobs/run/p/f/jobs/x?scheduled_in_secs=3600", {})))
      .text;
    const listed = await as.fay!("GET", "/w/acme/jobs/queue/list?script_path_exact=f/jobs/x");
    expect(listed.json().map(({ id }: { id: string }) => id)).toEqual([later]);
    const counted = await as.fay!("GET", "/w/acme/jobs/list?script_path_exact=f/jobs/x&per_page=1");
    expect(counted.json()).toHaveLength(1);
    const cancel = (who: string) => as[who]!("POST", `/w/acme/jobs_u/queue/cancel/${later}`, {});
    for (const who of ["fay", "bob"]) {
      const refused = await cancel(who);
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("but not change it")]);
      expect((await as[who]!("POST", "/w/acme/jobs/queue/cancel_selection", [later])).json()).toEqual([]);
      const link = await as[who]!("GET", `/w/acme/jobs/job_signature/${later}/1`);
      expect(link.status).toBe(403);
      const progress = await as[who]!("POST", `/w/acme/job_metrics/set_progress/${later}`, { percent: 1 });
      expect(progress.status).toBe(403);
    }
    await expectOk(as.fay!("POST", "/w/acme/jobs_u/queue/cancel_persistent/f/jobs/x", {}));
    expect((await as.dee!("GET", `/w/acme/jobs_u/get/${later}`)).json().type).toBe("QueuedJob");
    expect((await cancel("ann")).status).toBe(200);
  });

  test("act with the current rights of their runner", async () => {
    await newVariable("f/jobs/v");
    await deploy(
      as.ann!,
      "acme",
      "f/jobs/reads",
      `export async function main(path: string) {
        const { BASE_INTERNAL_URL, WM_WORKSPACE, WM_TOKEN } = process.env;
        const url = \`\${BASE_INTERNAL_URL}/api/w/\${WM_WORKSPACE}/variables/get_value/\${path}\`;
        return (await fetch(url, { headers: { authorization: \`Bearer \${WM_TOKEN}\` } })).status;
      }`,
    );
    const reads = async (who: string) =>
      (await as[who]!("POST", "/w/acme/jobs/run_wait_result/p/f/jobs/reads", { path: "u/ann/own" })).json();
    await expectOk(
      as.ann!("POST", "/w/acme/variables/create", {
        path: "u/ann/own",
        value: "1",
        is_secret: false,
        description: "",
      }),
    );
    expect(await reads("ann")).toBe(200);
    expect(await reads("dee")).toBe(404);
    await expectOk(as.ann!("POST", "/w/acme/acls/add/variable/u/ann/own", { owner: "u/dee" }));
    expect(await reads("dee")).toBe(200);
  });
});

describe("a flow runs with the caller's rights, not its author's", () => {
  beforeAll(async () => {
    await admin("folders/create", { name: "lent", owners: ["u/ann"], extra_perms: { "u/bob": false } });
    await deploy(as.ann!, "acme", "u/ann/own", "export const main = () => 'of ann'");
    const flow = (path: string, value: object) =>
      expectOk(
        as.ann!("POST", "/w/acme/flows/create", {
          path,
          summary: "",
          value: { modules: [{ id: "a", value }] },
        }),
      );
    await flow("f/lent/script", { type: "script", path: "u/ann/own", input_transforms: {} });
    const { hash } = (await as.ann!("GET", "/w/acme/scripts/get/p/u/ann/own")).json();
    await flow("f/lent/hash", { type: "script", path: "u/ann/own", hash, input_transforms: {} });
    await flow("u/ann/inner", { type: "identity" });
    await flow("f/lent/flow", { type: "flow", path: "u/ann/inner", input_transforms: {} });
  });

  test.each([
    ["script", "u/ann/own", "script"],
    ["hash", "u/ann/own", "script"],
    ["flow", "u/ann/inner", "flow"],
  ])("to a %s it names", async (name, path, kind) => {
    const run = (who: string) => as[who]!("POST", `/w/acme/jobs/run_wait_result/f/f/lent/${name}`, {});
    expect((await run("ann")).text).toBe(kind === "flow" ? "{}" : '"of ann"');
    const refused = (await run("bob")).json();
    expect(refused.error.name).toBe("NotFound");
    expect(refused.error.message).toContain("u/bob");
    await expectOk(as.ann!("POST", `/w/acme/acls/add/${kind}/${path}`, { owner: "u/bob" }));
    expect((await run("bob")).text).toBe(kind === "flow" ? "{}" : '"of ann"');
    await expectOk(as.ann!("POST", `/w/acme/acls/remove/${kind}/${path}`, { owner: "u/bob" }));
    expect((await run("bob")).json().error.name).toBe("NotFound");
  });

  test("and does not reveal an unrunnable item to users who may not read it", async () => {
    await deploy(as.ann!, "acme", "u/ann/archived", "export const main = () => 1");
    const { hash } = (await as.ann!("GET", "/w/acme/scripts/get/p/u/ann/archived")).json();
    await expectOk(as.ann!("POST", "/w/acme/scripts/archive/p/u/ann/archived"));
    for (const target of ["p/u/ann/archived", `h/${hash}`]) {
      expect((await as.ann!("POST", `/w/acme/jobs/run/${target}`, {})).status).toBe(400);
      expect((await as.bob!("POST", `/w/acme/jobs/run/${target}`, {})).status).toBe(404);
    }
    await expectOk(as.ann!("POST", "/w/acme/flows/archive/u/ann/inner", {}));
    expect((await as.ann!("POST", "/w/acme/jobs/run/f/u/ann/inner", {})).status).toBe(400);
    expect((await as.bob!("POST", "/w/acme/jobs/run/f/u/ann/inner", {})).status).toBe(404);
  });
});

test("a webhook's token runs its script as long as its creator may", async () => {
  await admin("folders/create", { name: "hooks", extra_perms: { "u/bob": false } });
  await deploy(as.admin!, "acme", "f/hooks/x", "export const main = () => 'ran'");
  const body = { label: "webhook-x", scopes: ["jobs:run:scripts:f/hooks/x"], workspace_id: "acme" };
  const hook = server.as((await expectOk(as.bob!("POST", "/users/tokens/create", body))).text);
  const run = () => hook("POST", "/w/acme/jobs/run_wait_result/p/f/hooks/x", {});
  expect((await run()).text).toBe('"ran"');
  await admin("acls/remove/folder/hooks", { owner: "u/bob" });
  expect((await run()).status).toBe(404);
});

describe("a username", () => {
  const { workspace_id, name, email } = groupMembers;
  const at = (group: string) => and(eq(workspace_id, "acme"), eq(name, group), eq(email, "zoe@example.org"));

  beforeAll(async () => {
    as.zoe = (await server.member("acme", "zoe")).ask;
    await admin("groups/create", { name: "zoes" });
    await admin("groups/adduser/zoes", { username: "zoe" });
    await admin("acls/add/group_/zoes", { owner: "u/zoe", write: true });
    await admin("folders/create", { name: "zoes", owners: ["u/zoe"] });
    await newVariable("u/admin/zoes");
    await admin("acls/add/variable/u/admin/zoes", { owner: "u/zoe", write: true });
  });
  const told = async () => ({
    variable: (await as.admin!("GET", "/w/acme/acls/get/variable/u/admin/zoes")).json(),
    folder: (await as.admin!("GET", "/w/acme/folders/get/zoes")).json().owners,
    group: (await as.admin!("GET", "/w/acme/groups/get/zoes")).json().extra_perms,
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
    await expectOk(as.admin!("DELETE", "/w/acme/users/delete/zoey"));
    expect(await app.db.read.select().from(groupMembers).where(at("zoes"))).toEqual([]);
    expect(await told()).toEqual({ variable: {}, folder: [], group: { "u/admin": true } });
  });
});
