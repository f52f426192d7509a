/** Probes and metrics: what they return, and to whom. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type Sample, toExposition } from "../../../../src/lib/logging/prometheus.ts";
import { eventsOf } from "../../../support/event-stream.ts";
import { deploy, startTestServer, type TestServer, until } from "../../../support/harness.ts";

// A health response is reused for all requests within a second.
setDefaultTimeout(60_000);

let server: TestServer;
let root: Awaited<ReturnType<TestServer["user"]>>;
let admin: Awaited<ReturnType<TestServer["workspace"]>>;

beforeAll(async () => {
  server = await startTestServer({ metrics_token: "scrape-me-with-this-token", anonymous_rate: 20 });
  root = await server.user("root", { super_admin: true });
  admin = await server.workspace();
});
afterAll(() => server.stop());

const anyone = (path: string, token?: string) => server.as(token)("GET", path);
const change = (text: string) =>
  server.server.app.db.write(async (tx) => void (await tx.rows(sql.raw(text))));
const once = (status: number) =>
  until(async () => {
    const answer = await anyone("/health");
    return answer.status === status ? answer : undefined;
  }, `health to answer ${status}`);

describe("/api/health", () => {
  test("returns little to anybody, and more to devops users and super admins", async () => {
    expect((await anyone("/health")).json()).toEqual({ status: "ready", failing: [] });
    expect((await anyone("/health", admin.token)).json()).toEqual({ status: "ready", failing: [] });
    for (const ask of [root.ask, server.operator]) {
      const { checks, details } = (await ask("GET", "/health")).json();
      expect(checks.map((check: { name: string }) => check.name)).toEqual([
        "database",
        "migrations",
        "storage",
        "processes",
        "accepting",
      ]);
      expect(details).toMatchObject({
        database: server.server.app.db.dialect,
        disk_low: expect.any(Boolean),
      });
    }
    const truth = server.server.app.db.dialect === "sqlite" ? "1" : "true";
    await change(`UPDATE users SET devops = ${truth} WHERE email = 'admin_acme@example.org'`);
    const { text } = await server.operator("POST", "/users/tokens/impersonate", {
      impersonate_email: "admin_acme@example.org",
    });
    expect((await anyone("/health", text)).json().details).toBeObject();
    const bound = await root.ask("POST", "/users/tokens/create", { workspace_id: "acme" });
    expect((await anyone("/health", bound.text)).json()).toEqual({ status: "ready", failing: [] });
  });

  test("is not ready while the schema is not this executable's, with the reason", async () => {
    await change("INSERT INTO svc_migrations (name, applied_at) VALUES ('9999_adds', 0)");
    await until(async () => {
      const { status, checks: now } = (await server.operator("GET", "/health")).json();
      return (status === "ready" && now[1].detail.includes("9999_adds")) || undefined;
    });
    await change("UPDATE svc_migrations SET name = '9999_breaking' WHERE name = '9999_adds'");
    expect((await once(503)).json()).toEqual({ status: "unready", failing: ["migrations"] });
    const { checks } = (await server.operator("GET", "/health")).json();
    expect(checks[1].detail).toContain("newer than this executable: it has 9999_breaking");
    await change("UPDATE svc_migrations SET name = '0000_initial' WHERE name = '0000_init'");
    await change("DELETE FROM svc_migrations WHERE name = '9999_breaking' OR name = '0000_initial'");
    await until(async () => {
      const { checks: now } = (await server.operator("GET", "/health")).json();
      return now[1].detail.includes("lacks 0000_init") || undefined;
    });
    await change("INSERT INTO svc_migrations (name, applied_at) VALUES ('0000_init', 0)");
    expect((await once(200)).json().status).toBe("ready");
  });

  test("is not ready while the database does not respond; the process is still alive", async () => {
    await change("ALTER TABLE svc_migrations RENAME TO gone");
    expect((await once(503)).json()).toEqual({ status: "unready", failing: ["database"] });
    expect((await server.operator("GET", "/health")).json().checks[0].detail).toContain("does not answer");
    expect((await anyone("/health/live")).json()).toEqual({ status: "live" });
    await change("ALTER TABLE gone RENAME TO svc_migrations");
    await once(200);
  });

  test("accepts a token that cannot be looked up while the database does not respond", async () => {
    const { token } = await server.user("late");
    await change("ALTER TABLE tokens RENAME TO tokens_gone");
    await change("ALTER TABLE svc_migrations RENAME TO gone");
    for (const unknown of [token, "nobody's"]) {
      const answer = await until(async () => {
        const found = await anyone("/health", unknown);
        return found.status === 200 ? undefined : found;
      });
      expect([answer.status, answer.json()]).toEqual([503, { status: "unready", failing: ["database"] }]);
      expect((await anyone("/health/live", unknown)).status).toBe(200);
    }
    await change("ALTER TABLE gone RENAME TO svc_migrations");
    await change("ALTER TABLE tokens_gone RENAME TO tokens");
    await once(200);
  });

  test("is not ready while the server drains", async () => {
    server.server.app.acceptsJobs = false;
    expect((await once(503)).json().failing).toEqual(["accepting"]);
    server.server.app.acceptsJobs = true;
    await once(200);
  });

  test("is not rate limited", async () => {
    for (let n = 0; n < 30; n++) expect((await anyone("/health/live")).status).toBe(200);
  });
});

/** Reads the metrics, independent of the order of labels. */
async function figures(): Promise<Map<string, number>> {
  const { text, headers } = await server.operator("GET", "/metrics");
  expect(headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const at = line.lastIndexOf(" ");
    expect([line, Number.isFinite(Number(line.slice(at)))]).toEqual([line, true]);
    found.set(line.slice(0, at), Number(line.slice(at)));
  }
  return found;
}

describe("/api/metrics", () => {
  test("are for super admins, devops, the local admin and the metrics token", async () => {
    for (const [token, status] of [
      [undefined, 401],
      ["unknown", 401],
      ["scrape-me-with-this-toke", 401],
      [(await server.user("bob")).token, 403],
      [root.token, 200],
      ["scrape-me-with-this-token", 200],
    ] as const) {
      expect([token, (await anyone("/metrics", token)).status]).toEqual([token, status]);
    }
    expect((await server.operator("GET", "/metrics")).status).toBe(200);
    expect((await anyone("/users/whoami", "scrape-me-with-this-token")).status).toBe(401);
    const scoped = await root.ask("POST", "/users/tokens/create", { scopes: ["jobs:read"] });
    expect((await anyone("/metrics", scoped.text)).status).toBe(403);
  });

  test("count events", async () => {
    await deploy(admin.ask, "acme", "u/admin/one", "export const main = () => 1");
    await deploy(admin.ask, "acme", "u/admin/bad", "export const main = () => { throw new Error('no') }");
    const before = await figures();
    const call = (name: string) => admin.ask("POST", `/w/acme/jobs/run_wait_result/p/u/admin/${name}`, {});
    for (let n = 0; n < 3; n++) expect((await call("one")).status).toBe(200);
    await call("bad");
    await admin.ask("GET", "/w/acme/scripts/get/p/u/admin/none");
    await admin.ask("POST", "/w/acme/jobs/run/p/u/admin/one?scheduled_in_secs=3600", {});
    const after = await figures();
    const grew = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    const route = (method: string, path: string, status: number) =>
      `svc_http_requests_total{method="${method}",route="/api/w/{workspace}/${path}",status="${status}"}`;
    expect(grew(route("POST", "jobs/run_wait_result/p/{path}", 200))).toBe(4);
    expect(grew(route("GET", "scripts/get/p/{path}", 404))).toBe(1);
    expect(grew('svc_jobs_finished_total{status="success"}')).toBe(3);
    expect(grew('svc_jobs_finished_total{status="failure"}')).toBe(1);
    expect(grew("svc_job_run_seconds_count")).toBe(4);
    expect(grew('svc_job_run_seconds_bucket{le="+Inf"}')).toBe(4);
    expect(grew("svc_job_queue_wait_seconds_count")).toBe(4);
    expect(grew('svc_jobs{state="scheduled"}')).toBe(1);
    expect(after.get('svc_jobs{state="running"}')).toBe(0);
    expect(grew("svc_database_writes_total")).toBeGreaterThanOrEqual(9);
    expect(grew("svc_database_commit_seconds_count")).toBe(grew("svc_database_commits_total"));
    expect(grew("svc_database_commit_batch_size_sum")).toBe(grew("svc_database_writes_total"));
    expect(after.get('svc_pool_processes{state="warm"}')).toBeGreaterThanOrEqual(1);
    expect(after.get("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  });

  test("show waiting callers", async () => {
    const slow = "export async function* main() { yield 'a'; await new Promise(() => {}); }";
    await deploy(admin.ask, "acme", "u/admin/slow", slow);
    const authorization = `Bearer ${admin.token}`;
    const stop = new AbortController();
    const base = `${server.url}/api/w/acme/jobs`;
    const post = { method: "POST", headers: { authorization }, body: "{}", signal: stop.signal };
    const stream = await fetch(`${base}/run_and_stream/p/u/admin/slow`, post);
    expect((await eventsOf(stream).next()).done).toBe(false);
    const waiting = fetch(`${base}/run_wait_result/p/u/admin/slow`, post).catch(() => {});
    const waits = [
      'svc_waiting{kind="call"}',
      'svc_waiting{kind="stream"}',
      'svc_pool_processes{state="busy"}',
    ];
    await until(async () => {
      const now = await figures();
      return waits.map((name) => now.get(name)).join() === "1,1,2" || undefined;
    }, "both to wait");
    stop.abort();
    await waiting;
    await admin.ask("POST", `/w/acme/jobs_u/queue/cancel/${stream.headers.get("svc-job-id")}`, {});
  });

  test("can be switched off", async () => {
    const expose = (value: boolean | null) =>
      server.operator("POST", "/settings/global/expose_metrics", { value });
    await expose(false);
    expect(await server.operator("GET", "/metrics")).toMatchObject({
      status: 404,
      text: expect.stringContaining("setting expose_metrics"),
    });
    await expose(null);
    expect((await server.operator("GET", "/metrics")).status).toBe(200);
    await using without = await startTestServer({ metrics: "off", metrics_token: "x" });
    expect((await without.operator("GET", "/metrics")).status).toBe(404);
    expect((await without.as("x")("GET", "/metrics")).status).toBe(404);
  });
});

test("figures have the format of Prometheus", () => {
  const figures: Sample[] = [
    { value: 1, labels: { path: 'a"b\\c\nd', status: 200 } },
    { value: Number.POSITIVE_INFINITY },
    { value: Number.NaN, metricName: "svc_x_sum" },
    { value: 1e-7, labels: { le: "+Inf" } },
  ];
  expect(toExposition([{ name: "svc_x", type: "gauge", help: "One\nline \\", samples: figures }])).toBe(
    [
      "# HELP svc_x One\\nline \\\\",
      "# TYPE svc_x gauge",
      'svc_x{path="a\\"b\\\\c\\nd",status="200"} 1',
      "svc_x +Inf",
      "svc_x_sum NaN",
      'svc_x{le="+Inf"} 1e-7',
      "",
    ].join("\n"),
  );
});
