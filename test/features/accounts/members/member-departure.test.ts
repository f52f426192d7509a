/** Handling of a member's runs and items when the member is disabled or removed. */
import { expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { cancelUserRuns } from "../../../../src/features/runs/api/change/access-revoked.ts";
import { formerUsernames } from "../../../../src/features/tenancy/people/user-tables.ts";
import { workspaceInvites } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { deploy, expectOk, until } from "../../../support/harness.ts";
import { addMember, admin, server, setUpMembers } from "./members-setup.ts";

setUpMembers();

const audit = async (workspace: string, resource: string) =>
  (await server.operator("GET", `/w/${workspace}/audit/list?operations=users.delete&resource=${resource}`))
    .json<{ resource: string; username: string; parameters: Record<string, string> }[]>()
    .find((row) => row.resource === resource);

/** A script that runs until it is ended, one scheduled much later, and a flow that waits. */
async function busyMember(name: string) {
  const made = await server.member("acme", name);
  const { ask } = made;
  await deploy(ask, "acme", `u/${name}/busy`, "export async function main() { await Bun.sleep(600_000); }");
  const run = async (query = "") =>
    (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/${name}/busy${query}`, {}))).text;
  const running = await run();
  await until(async () =>
    (await ask("GET", `/w/acme/jobs_u/get/${running}`)).json().running ? true : undefined,
  );
  const later = await run("?scheduled_in_secs=3600");
  const value = {
    modules: [{ id: "a", value: { type: "script", path: `u/${name}/busy`, input_transforms: {} } }],
  };
  const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value, args: {} }))).text;
  return { ...made, runs: [running, later, flow] };
}

const isCanceled = (id: string) =>
  until(async () => {
    const [job] = await server.server.app.db.read.select().from(jobs).where(eq(jobs.id, id));
    return job?.status === "canceled" ? true : undefined;
  }, `the end of ${id}`);

const unfinishedOf = async (name: string) =>
  (
    await server.server.app.db.read
      .select({ id: jobs.id, state: jobs.state })
      .from(jobs)
      .where(and(eq(jobs.workspace_id, "acme"), eq(jobs.permissioned_as, `u/${name}`)))
  ).filter(({ state }) => state !== "completed").length;

test("runs of a disabled member are canceled, and none starts", async () => {
  const { runs, ask } = await busyMember("dora");
  await expectOk(admin("POST", "/w/acme/users/update/dora", { disabled: true }));
  for (const id of runs) await isCanceled(id);
  await until(async () => ((await unfinishedOf("dora")) === 0 ? true : undefined));
  expect((await ask("POST", "/w/acme/jobs/run/p/u/dora/busy", {})).status).toBe(401);
}, 60_000);

test("a job marked as canceled does not start, although no server is left to complete it", async () => {
  const { ask } = await server.member("acme", "mia");
  const { app } = server.server;
  await deploy(ask, "acme", "u/mia/hello", "export function main() { return 1; }");
  const later = await expectOk(ask("POST", "/w/acme/jobs/run/p/u/mia/hello?scheduled_in_secs=3600", {}));
  const person = { workspace_id: "acme", username: "mia", email: "mia@example.org" };
  const marked = await app.db.write((tx) => cancelUserRuns(app, tx, person, { by: "admin", reason: "gone" }));
  expect(marked.canceled_runs).toBe(1);
  await app.db.write(async (tx) => {
    await tx.update(jobs).set({ scheduled_for: new Date() }).where(eq(jobs.id, later.text));
  });
  app.queue.wake();
  await isCanceled(later.text);
}, 60_000);

test("items of a removed member go to the admins; runs, grants and workspace tokens end, and the name stays reserved", async () => {
  const { runs, ask } = await busyMember("dean");
  const eva = await addMember("eva");
  const secret = { path: "u/dean/key", value: "k", is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", secret));
  const shared = { path: "u/eva/shared", value: "1", is_secret: false, description: "" };
  await expectOk(eva("POST", "/w/acme/variables/create", shared));
  const { variables } = await import("../../../../src/features/assets/variable-tables.ts");
  const { db } = server.server.app;
  await db.write(async (tx) => {
    const extra_perms = { "u/dean": true, "u/deanna": false };
    await tx.update(variables).set({ extra_perms }).where(eq(variables.path, "u/eva/shared"));
  });
  const busy = "runnable_type=ScriptPath&runnable_id=u/dean/busy";
  await expectOk(ask("POST", "/w/acme/favorites/star", { path: "u/dean/busy", favorite_kind: "script" }));
  for (const [name, is_public] of [
    ["mine", false],
    ["ours", true],
  ] as const) {
    const saved = await expectOk(ask("POST", `/w/acme/inputs/create?${busy}`, { name, args: {} }));
    await expectOk(ask("POST", "/w/acme/inputs/update", { id: saved.text, name, is_public }));
  }
  const bound = (await expectOk(ask("POST", "/users/tokens/create", { workspace_id: "acme" }))).text;
  await expectOk(admin("DELETE", "/w/acme/users/delete/dean"));

  for (const id of runs) await isCanceled(id);
  await until(async () => ((await unfinishedOf("dean")) === 0 ? true : undefined));
  expect((await ask("GET", "/w/acme/users/whoami")).status).toBe(401);
  expect((await ask("GET", "/users/whoami")).status).toBe(200);
  expect((await server.as(bound)("GET", "/users/whoami")).status).toBe(401);
  expect((await admin("GET", "/w/acme/variables/get_value/u/dean/key")).json()).toBe("k");
  const left = (await admin("GET", "/w/acme/variables/get/u/eva/shared")).json();
  expect(left.extra_perms).toEqual({ "u/deanna": false });
  expect((await audit("acme", "dean"))?.parameters).toEqual({
    email: "dean@example.org",
    kept_for_admins: "u/dean/",
    canceled_runs: "4",
    deleted_tokens: "1",
  });
  const kept = await db.read.select().from(formerUsernames).where(eq(formerUsernames.username, "dean"));
  expect(kept).toEqual([{ workspace_id: "acme", username: "dean", email: "dean@example.org" }]);
  expect((await admin("DELETE", "/w/acme/users/delete/dean")).status).toBe(404);

  // A new user of the same name gets no access to what dean left; dean does after coming back.
  const invited = async (email: string) =>
    db.write(async (tx) => {
      const invite = {
        workspace_id: "acme",
        email,
        is_admin: false,
        operator: false,
        created_at: new Date(),
      };
      await tx.insert(workspaceInvites).values(invite);
    });
  const namesake = await server.user("namesake");
  await invited("namesake@example.org");
  const taken = await namesake.ask("POST", "/users/accept_invite", {
    workspace_id: "acme",
    username: "dean",
  });
  expect([taken.status, taken.text]).toEqual([
    400,
    expect.stringContaining("dean is taken in workspace acme"),
  ]);
  await invited("dean@example.org");
  await expectOk(ask("POST", "/users/accept_invite", { workspace_id: "acme" }));
  expect((await ask("GET", "/w/acme/variables/get_value/u/dean/key")).json()).toBe("k");
  const stillSaved = (await ask("GET", `/w/acme/inputs/list?${busy}`)).json();
  expect(stillSaved.map((input: { name: string }) => input.name)).toEqual(["ours"]);
  expect((await ask("GET", "/w/acme/scripts/list?starred_only=true")).json()).toEqual([]);
}, 60_000);
