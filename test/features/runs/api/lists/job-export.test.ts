/** Jobs that move from one instance to another, through export and import. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { stripLogHeader } from "../../../../../src/features/runs/job/log-header.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

const CODE =
  "export const main = (n: number) => { console.log('ran', n); return { n, wm_labels: ['moved'] } }";

beforeAll(async () => {
  server = await startTestServer({ workers: 1 });
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/moves", CODE);
});
afterAll(() => server.stop());

const start = async (args: unknown, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/moves${query}`, args))).text;
const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);
const exported = (half: string, query = "") => expectOk(ask("GET", `/w/acme/jobs/${half}/export${query}`));
const imported = (half: string, body: unknown, by: Ask = ask) =>
  by("POST", `/w/acme/jobs/${half}/import`, body);

test("completed jobs are imported byte for byte", async () => {
  const args = '{"n": 1, "big": 12345678901234567890, "text": "nul \\u0000"}';
  const ids = [await start(args), await start({ n: 2 })];
  const before = [await completed(ids[0]!), await completed(ids[1]!)];
  const file = (await exported("completed")).text;
  expect(
    JSON.parse(file)
      .filter((job: any) => ids.includes(job.id))
      .map((job: any) => stripLogHeader(job.logs)),
  ).toEqual(["ran 1\n", "ran 2\n"]);
  expect((await imported("completed", file)).text).toMatch(/^imported 0 jobs; \d+ were known already/);
  await expectOk(ask("POST", "/w/acme/jobs/delete", ids));
  expect((await imported("completed", file)).text).toMatch(/^imported 2 jobs/);
  expect([await completed(ids[0]!), await completed(ids[1]!)]).toEqual(before);
  expect((await ask("GET", `/w/acme/jobs_u/get_args/${ids[0]}`)).text).toBe(
    args.replaceAll(": ", ":").replaceAll(", ", ","),
  );
  expect((await ask("GET", "/w/acme/jobs/list?label=moved")).json()).toHaveLength(2);
  expect((await exported("completed")).text).toBe(
    file.replace(args, (found) => found.replaceAll(": ", ":").replaceAll(", ", ",")),
  );
});

test("pages are ordered by age and end with a short one", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await completed(await start({ n }))).id);
  const all = (await exported("completed")).json<any[]>().map((job) => job.id);
  expect(all.slice(-3)).toEqual(ids);
  expect((await exported("completed", "?page=1&per_page=2")).json()).toHaveLength(2);
  const last = await exported("completed", `?page=${Math.ceil(all.length / 2) + 1}&per_page=2`);
  expect(last.json()).toEqual([]);
});

test("queued jobs run where they are imported; running ones are not exported", async () => {
  const sleeper = { content: "export const main = () => Bun.sleep(60_000)", language: "bun" };
  const running = (await expectOk(ask("POST", "/w/acme/jobs/run/preview", sleeper))).text;
  const later = await start({ n: 3 }, "?scheduled_in_secs=3600");
  const queued = (await exported("queue")).json<any[]>();
  expect(queued.map((job) => job.id)).toEqual([later]);
  await expectOk(ask("POST", "/w/acme/jobs/delete", [later]));
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${running}`, {}));
  const due = queued.map((job) => ({ ...job, scheduled_for: new Date().toISOString() }));
  expect((await expectOk(imported("queue", due))).text).toBe("imported 1 jobs");
  expect(await completed(later)).toMatchObject({
    success: true,
    result: { n: 3 },
    permissioned_as: "u/admin",
  });
  const audit = (await ask("GET", "/w/acme/audit/list?operation=jobs.import&per_page=1")).json();
  expect(audit[0].resource).toBe("1 jobs");
});

test("an import does not start jobs as other users", async () => {
  const { ask: member } = await server.member("acme", "member");
  const later = await start({ n: 4 }, "?scheduled_in_secs=3600");
  const [job] = (await exported("queue")).json<any[]>().filter(({ id }) => id === later);
  await expectOk(ask("POST", "/w/acme/jobs/delete", [later]));
  const boss = await server.user("boss", { super_admin: true });
  const foreign = { ...job, permissioned_as: "u/boss", email: boss.email };
  const borrowed = { ...job, permissioned_as: "u/member", email: boss.email };
  for (const body of [foreign, borrowed]) {
    const answer = await imported("queue", [body]);
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining(boss.email)]);
  }
  expect((await ask("GET", `/w/acme/jobs_u/get/${later}`)).status).toBe(404);
  const members = { ...job, permissioned_as: "u/member", email: "member@example.org" };
  expect((await imported("queue", [members])).text).toBe("imported 1 jobs");
  await expectOk(ask("POST", "/w/acme/jobs/delete", [later]));
  expect((await imported("queue", [foreign], server.operator)).text).toBe("imported 1 jobs");
  for (const call of [
    member("GET", "/w/acme/jobs/queue/export"),
    member("GET", "/w/acme/jobs/completed/export"),
    imported("queue", [job], member),
    imported("completed", [], member),
  ]) {
    expect((await call).status).toBe(403);
  }
});

const ENDED = {
  id: "01900000-0000-7000-8000-00000000feed",
  job_kind: "script",
  created_by: "admin",
  created_at: "2026-01-01T00:00:00Z",
  permissioned_as: "u/admin",
  email: "admin_acme@example.org",
  tag: "bun",
  status: "success",
  completed_at: "2026-01-01T00:00:01Z",
};

test("a job that is in the list twice is stored once", async () => {
  const twice = [
    { ...ENDED, logs: "first" },
    { ...ENDED, logs: "second" },
  ];
  const answer = await imported("completed", twice);
  expect(answer.text).toBe("imported 1 jobs; 1 were known already and left as they are");
  expect((await ask("GET", `/w/acme/jobs_u/get_logs/${ENDED.id}`)).text).toBe("first");
});

test.each<[what: string, half: string, body: unknown, says: string]>([
  ["no JSON", "completed", "{bad", "not JSON"],
  ["no array", "queue", {}, "must be an array, not an object"],
  ["no id", "queue", [{ id: "one" }], "`0.id`"],
  ["a job without its end", "completed", [{ id: crypto.randomUUID() }], "`0.completed_at`"],
  ["a text that cannot be stored", "completed", [{ ...ENDED, created_by: "a\0b" }], "`0.created_by`"],
  ["a log that cannot be stored", "completed", [{ ...ENDED, logs: "a\0b" }], "`0.logs`"],
  ["a part of a second", "completed", [{ ...ENDED, timeout: 1.5 }], "`0.timeout`"],
  ["a number beyond all", "completed", [{ ...ENDED, priority: 1e300 }], "`0.priority`"],
  ["a limit below one", "queue", [{ ...ENDED, concurrent_limit: -1 }], "`0.concurrent_limit`"],
  ["a day before all", "queue", [{ ...ENDED, created_at: "0000-01-01T00:00:00Z" }], "`0.created_at`"],
])("%s is rejected", async (_what, half, body, says) => {
  const answer = await imported(half, body);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
});

test("a kind of job that does not run here is not queued", async () => {
  const later = await start({ n: 5 }, "?scheduled_in_secs=3600");
  const [job] = (await exported("queue")).json<any[]>().filter(({ id }) => id === later);
  const answer = await imported("queue", [{ ...job, id: crypto.randomUUID(), job_kind: "appscript" }]);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("appscript")]);
});
