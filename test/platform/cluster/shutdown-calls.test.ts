/** Responses to callers while a server shuts down. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { createDatabase, deploy, startTestServer, until } from "../../support/harness.ts";

const SLOW = `export async function main(n: number, desk: string) {
  await fetch(desk, { method: "POST" });
  await Bun.sleep(60_000);
  return n;
}`;

/** Starts a server to which running scripts report. */
function openDesk() {
  let came = 0;
  const desk = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(++came)) });
  return { url: desk.url.href, came: () => came, [Symbol.dispose]: () => void desk.stop(true) };
}

test("a call whose job outlasts the drain returns the id of the job, which continues", async () => {
  const server = await startTestServer({ drain_s: 0 });
  using desk = openDesk();
  const { ask } = await server.workspace();
  await deploy(ask, "acme", "u/admin/slow", SLOW);
  const answer = ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/slow", { n: 1, desk: desk.url });
  await until(() => desk.came() || undefined, "the job");
  const [job] = (await ask("GET", "/w/acme/jobs/list?running=true")).json();
  await server.stop();
  const { status, text, headers } = await answer;
  expect(status).toBe(503);
  expect(text).toContain(`the server is shutting down before job ${job.id} has ended`);
  expect(text).toContain(`/api/w/acme/jobs_u/completed/get_result_maybe/${job.id}`);
  expect(headers.get("svc-job-id")).toBe(job.id);
  expect(headers.get("connection")).toBe("close");
}, 60_000);

const TELLING = `export async function* main(desk: string) {
  console.log("the newest line");
  yield "a piece";
  await fetch(desk, { method: "POST" });
  await Bun.sleep(60_000);
}`;

test("a stream whose job outlasts the drain ends with the newest state, and is not cut off", async () => {
  const server = await startTestServer({ drain_s: 0 });
  using desk = openDesk();
  const { ask, token } = await server.workspace();
  await deploy(ask, "acme", "u/admin/telling", TELLING);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const base = `${server.url}/api/w/acme`;
  const started = await fetch(`${base}/jobs/run_and_stream/p/u/admin/telling`, {
    method: "POST",
    headers,
    body: JSON.stringify({ desk: desk.url }),
  });
  await until(() => desk.came() || undefined, "the job");
  const id = started.headers.get("svc-job-id");
  const followed = await fetch(`${base}/jobs_u/getupdate_sse/${id}?log_offset=0`, { headers });
  // A body that is cut off rejects.
  const texts = Promise.all([started.text(), followed.text()]);
  await server.stop();
  const [own, others] = await texts;
  expect(own).toContain('"new_result_stream":"a piece"');
  expect(others).toContain("the newest line");
  for (const text of [own, others]) expect(text).toEndWith(": the server stops\n\n");
}, 60_000);

test("no accepted call is cut off by a normal stop", async () => {
  const server = await startTestServer({ workers: 4 });
  const { ask, token } = await server.workspace();
  await deploy(ask, "acme", "u/admin/short", "export const main = (n: number) => n");
  const url = `${server.url}/api/w/acme/jobs/run_wait_result/p/u/admin/short`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answers = new Map<number | string, number>();
  let isStopping = false;
  let done = 0;
  const client = async () => {
    for (;;) {
      let outcome: number | string;
      try {
        const response = await fetch(url, { method: "POST", headers, body: '{"n":1}' });
        outcome = response.status;
        await response.text();
      } catch (cause) {
        outcome = (cause as { code?: string }).code ?? String(cause);
      }
      answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
      done++;
      if (typeof outcome === "string" || (outcome !== 200 && isStopping)) return;
    }
  };
  const clients = Array.from({ length: 16 }, client);
  await until(() => (done > 300 ? true : undefined), "calls");
  isStopping = true;
  await server.stop();
  await Promise.all(clients);
  const { 200: ok, 503: refused, ConnectionRefused: late, ...others } = Object.fromEntries(answers);
  expect(others).toEqual({});
  expect(ok).toBeGreaterThan(300);
  expect((refused ?? 0) + (late ?? 0)).toBe(16);
}, 60_000);

describe("a caller who disconnects", () => {
  test("is counted as such, and not as a server error", async () => {
    await using server = await startTestServer();
    using desk = openDesk();
    const { ask, token } = await server.workspace();
    await deploy(ask, "acme", "u/admin/slow", SLOW);
    const [host, port] = server.url.slice("http://".length).split(":");
    const path = "/api/w/acme/jobs/run_wait_result/p/u/admin/slow";
    const head = `POST ${path} HTTP/1.1\r\nhost: svc\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\n`;
    const body = JSON.stringify({ n: 1, desk: desk.url });
    const send = (text: string, then: () => Promise<unknown>) =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(Number(port), host, () => {
          socket.write(text);
          void then().then(() => {
            socket.destroy();
            resolve();
          }, reject);
        });
      });
    await send(`${head}content-length: ${body.length}\r\n\r\n${body}`, () =>
      until(() => desk.came() || undefined, "the job"),
    );
    await send(`${head}content-length: 1000\r\n\r\n{`, () => Bun.sleep(100));
    const counted = async () => {
      const { text } = await server.operator("GET", "/metrics");
      const of = (status: number) =>
        new RegExp(`^svc_http_requests_total.*run_wait_result.*status="${status}"\\} (\\d+)$`, "m").exec(
          text,
        )?.[1];
      return { gone: of(499), failed: of(500) };
    };
    await until(async () => ((await counted()).gone === "2" ? true : undefined), "the count");
    expect(await counted()).toEqual({ gone: "2", failed: undefined });
  }, 60_000);
});

describe.skipIf(!process.env.DATABASE_URL)("two servers behind a balancer", () => {
  test("are restarted one after the other, and no client sees an error", async () => {
    const database = await createDatabase(process.env.DATABASE_URL!, "migrated");
    const settings = {
      database_url: database.url,
      secret_key: "0123456789abcdef0123456789abcdef",
      drain_delay_s: 0.5,
      workers: 2,
    };
    const servers = [await startTestServer(settings), await startTestServer(settings)];
    const { ask, token } = await servers[0]!.workspace();
    const content = "export const main = async (n: number) => { await Bun.sleep(n % 20); return n }";
    await deploy(ask, "acme", "u/admin/short", content);
    using balancer = startBalancer(() => servers.map(({ url }) => url));
    await until(() => (balancer.healthy() === 2 ? true : undefined), "health");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const wrong: string[] = [];
    let isOver = false;
    let done = 0;
    const client = async (first: number) => {
      for (let n = first; !isOver; n += 8) {
        const path =
          n % 3 === 0 ? "/api/w/acme/scripts/list" : "/api/w/acme/jobs/run_wait_result/p/u/admin/short";
        const call = n % 3 === 0 ? { headers } : { method: "POST", headers, body: JSON.stringify({ n }) };
        const said = await fetch(balancer.url + path, call).then(
          async (answer) => (answer.status === 200 ? undefined : `${answer.status} ${await answer.text()}`),
          String,
        );
        if (said !== undefined) wrong.push(said);
        done++;
      }
    };
    const clients = Array.from({ length: 8 }, (_, n) => client(n));
    for (const at of [0, 1]) {
      const before = done;
      await until(() => (done > before + 50 ? true : undefined), "calls");
      await servers[at]!.stop();
      await until(() => (done > before + 100 ? true : undefined), "calls to the other");
      servers[at] = await startTestServer(settings);
      await until(() => (balancer.healthy() === 2 ? true : undefined), "health");
    }
    isOver = true;
    await Promise.all(clients);
    expect(wrong).toEqual([]);
    for (const server of servers) await server.stop();
    await database.drop();
  }, 120_000);
});

/** Forwards each call to the next server that was healthy at the last check; retries none. */
function startBalancer(urls: () => string[]) {
  let healthy: string[] = [];
  let turn = 0;
  const look = setInterval(async () => {
    const found = await Promise.all(
      urls().map(async (url) => {
        const isWell = await fetch(`${url}/api/health`).then(
          ({ ok }) => ok,
          () => false,
        );
        return isWell ? [url] : [];
      }),
    );
    healthy = found.flat();
  }, 50);
  const listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const to = healthy[turn++ % healthy.length];
      if (!to) return new Response("nobody is there", { status: 502 });
      const { pathname, search } = new URL(request.url);
      const body = request.method === "GET" ? null : await request.text();
      try {
        const { method, headers } = request;
        return await fetch(to + pathname + search, { method, headers, body });
      } catch (cause) {
        return new Response(`${to}: ${cause}`, { status: 502 });
      }
    },
  });
  return {
    url: listener.url.href.replace(/\/$/, ""),
    healthy: () => healthy.length,
    [Symbol.dispose]() {
      clearInterval(look);
      void listener.stop(true);
    },
  };
}
