/** Two servers on one PostgreSQL: due tasks are done by one of them, once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { type RunningServer, startServer } from "../../../../src/server/server.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const only = process.env.DATABASE_URL ? test : test.skip;

let server: TestServer;
let ask: Ask;
let second: RunningServer;
let data_dir: string;

beforeAll(async () => {
  if (!process.env.DATABASE_URL) return;
  server = await startTestServer({ allowed_targets: "127.0.0.1" });
  ({ ask } = await server.workspace());
  data_dir = mkdtempSync(join(tmpdir(), "svc-second-"));
  cpSync(join(server.data_dir, "instance.key"), join(data_dir, "instance.key"));
  second = await startServer({ ...server.server.app.config, data_dir });
}, 60_000);
afterAll(async () => {
  if (!process.env.DATABASE_URL) return;
  await second.stop();
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
});

only(
  "a schedule runs once at each of its times",
  async () => {
    await deploy(ask, "acme", "u/admin/tick", "export const main = () => 1");
    const path = "u/admin/every_second";
    const rule = { schedule: "* * * * * *", timezone: "UTC", script_path: "u/admin/tick", is_flow: false };
    await expectOk(ask("POST", "/w/acme/schedules/create", { ...rule, path, args: {}, enabled: true }));
    const ticks = async () => {
      const rows = await server.server.app.db.read
        .select({ time: jobs.scheduled_for })
        .from(jobs)
        .where(eq(jobs.schedule_path, path));
      return rows.map(({ time }) => time!.toISOString());
    };
    await until(async () => ((await ticks()).length >= 6 ? true : undefined), "six runs");
    await expectOk(ask("POST", `/w/acme/schedules/setenabled/${path}`, { enabled: false }));
    const times = await ticks();
    expect(new Set(times).size).toBe(times.length);
    for (const time of times) expect(time).toEndWith(".000Z");
  },
  60_000,
);

only(
  "an event is sent by one of them, whoever stored it, and what one leaves the other sends",
  async () => {
    const seen: string[] = [];
    const receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        await request.text();
        seen.push(request.headers.get("webhook-id")!);
        return new Response("");
      },
    });
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { id } = (await expectOk(ask("POST", "/w/acme/webhooks/create", { url }))).json();
    const token = (
      await expectOk(
        server.operator("POST", "/users/tokens/impersonate", {
          impersonate_email: "admin_acme@example.org",
        }),
      )
    ).text;
    const changes = Array.from({ length: 60 }, (_, at) =>
      fetch(`${at % 2 === 0 ? server.url : second.url}/api/w/acme/variables/create`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ path: `u/admin/v${at}`, value: "", is_secret: false, description: "" }),
      }),
    );
    for (const answer of await Promise.all(changes)) expect(answer.status).toBe(201);
    const delivered = await until(async () => {
      const listed = await ask("GET", `/w/acme/webhooks/deliveries/${id}?state=delivered&per_page=1000`);
      return listed.json().length === 60 ? (listed.json() as { attempts: number }[]) : undefined;
    }, "all deliveries");
    expect(delivered.map(({ attempts }) => attempts)).toEqual(Array(60).fill(1));
    expect(seen).toHaveLength(60);
    expect(new Set(seen).size).toBe(60);
    await receiver.stop(true);
  },
  60_000,
);
