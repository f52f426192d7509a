/**
 * Jobs and groups: a job of an item in a group's path runs as its caller, and a job that runs as a group is
 * visible to its members.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
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

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  for (const name of ["ann", "bob", "cid"]) as[name] = (await server.member("acme", name)).ask;
  for (const group of ["ops", "error_handler"]) {
    await expectOk(as.admin("POST", "/w/acme/groups/create", { name: group }));
    for (const username of ["ann", "bob"]) {
      await expectOk(as.admin("POST", `/w/acme/groups/adduser/${group}`, { username }));
    }
  }
}, 60_000);
afterAll(() => server.stop());

const WHOAMI = "export const main = () => process.env.WM_PERMISSIONED_AS";
const jobs = "/w/acme/jobs";
const run = (who: string, path: string) => as[who]!("POST", `${jobs}/run/p/${path}`, {});
const seen = async (who: string, id: string) => (await as[who]!("GET", `/w/acme/jobs_u/get/${id}`)).status;
const listed = async (who: string, query: string): Promise<any[]> =>
  (await expectOk(as[who]!("GET", `${jobs}/list?${query}`))).json();
const ended = (who: string, query: string) =>
  until(async () => {
    const [job] = await listed(who, `${query}&success=true`);
    return job && (await expectOk(as[who]!("GET", `/w/acme/jobs_u/completed/get/${job.id}`))).json();
  }, `a job with ${query}`);

test("a script at a group's path runs as the member who starts it, and all members see the job", async () => {
  await deploy(as.ann!, "acme", "g/ops/who", WHOAMI);
  expect((await run("cid", "g/ops/who")).status).toBe(404);
  const id = (await expectOk(run("bob", "g/ops/who"))).text;
  const job = await ended("bob", "script_path_exact=g/ops/who");
  expect(job).toMatchObject({ id, permissioned_as: "u/bob", created_by: "bob", result: "u/bob" });
  expect([await seen("ann", id), await seen("cid", id)]).toEqual([200, 404]);
});

test("a schedule at a group's path runs as the member who edited it last", async () => {
  await deploy(as.ann!, "acme", "g/ops/tick", WHOAMI);
  const body = { schedule: "* * * * * *", timezone: "UTC", args: {} };
  const schedule = { ...body, path: "g/ops/tick", script_path: "g/ops/tick", enabled: false };
  expect((await as.cid!("POST", "/w/acme/schedules/create", schedule)).status).toBe(403);
  await expectOk(as.ann!("POST", "/w/acme/schedules/create", schedule));
  await expectOk(as.bob!("POST", "/w/acme/schedules/setenabled/g/ops/tick", { enabled: true }));
  const job = await ended("ann", "schedule_path=g/ops/tick");
  expect(job).toMatchObject({ permissioned_as: "u/bob", created_by: "schedule-g/ops/tick", result: "u/bob" });
  expect(await seen("cid", job.id)).toBe(404);
  await expectOk(as.ann!("DELETE", "/w/acme/schedules/delete/g/ops/tick"));
});

test("a job that runs as a group is seen by its members, one by one and in lists, and by no others", async () => {
  await deploy(as.admin!, "acme", "u/admin/boom", "export const main = () => { throw new Error('no luck') }");
  await deploy(as.admin!, "acme", "u/admin/handler", WHOAMI);
  const handler = { error_handler: "script/u/admin/handler" };
  await expectOk(as.admin!("POST", "/w/acme/workspaces/edit_error_handler", handler));
  await expectOk(run("admin", "u/admin/boom"));
  const job = await ended("admin", "created_by=error_handler");
  expect(job).toMatchObject({ permissioned_as: "g/error_handler", result: "g/error_handler" });
  const query = "created_by=error_handler";
  for (const [who, status] of [
    ["ann", 200],
    ["cid", 404],
  ] as const) {
    expect([who, await seen(who, job.id)]).toEqual([who, status]);
    const ids = (await listed(who, query)).map(({ id }) => id);
    expect([who, ids]).toEqual([who, status === 200 ? [job.id] : []]);
  }
  // The job is visible, and the failed one is not.
  expect(await seen("ann", job.parent_job)).toBe(404);
});

test.each(["error_handler", "chat"])("the group %s is created by admins only", async (name) => {
  const workspace = `made-${name}`;
  const made = { id: workspace, name, owner: "admin_acme@example.org", username: "admin" };
  await expectOk(server.operator("POST", "/workspaces/create", made));
  const author = (await server.member(workspace, `author_${name}`)).ask;
  const answer = await author("POST", `/w/${workspace}/groups/create`, { name });
  expect([answer.status, answer.text]).toEqual([
    403,
    expect.stringContaining("an admin must create the group"),
  ]);
  await expectOk(as.admin!("POST", `/w/${workspace}/groups/create`, { name }));
});
