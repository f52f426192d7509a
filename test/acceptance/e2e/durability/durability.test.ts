import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { MAX_ATTEMPTS } from "../../../../src/platform/queue/states.ts";
import { createInstallation, processesOf, setUp, until } from "../executable.ts";

const place = createInstallation();
afterAll(() => place.remove());

const ROUNDS = 4;

/** Whether one more loss of its worker gives a job up. */
function hasJobToBeGivenUp(data_dir: string): boolean {
  const database = new Database(join(data_dir, "svc.db"), { readonly: true });
  try {
    const query = "SELECT 1 FROM jobs WHERE state <> 'completed' AND max(attempts, losses) >= ?";
    return database.query(query).get(MAX_ATTEMPTS - 1) !== null;
  } finally {
    database.close();
  }
}

test("after kill -9 under load and a restart, every acknowledged job completes and every returned result is stored", async () => {
  const accepted = new Map<string, number>();
  const answered = new Map<string, number>();
  let token = "";
  let n = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const server = await place.serve();
    if (round === 0) {
      token = await setUp(server);
      const content =
        "export async function main(n: number) { await Bun.sleep(n % 7); console.log('n', n); return n * 2 }";
      await server.operator("/w/acme/scripts/create", { path: "u/ann/double", language: "bun", content });
    }
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    let up = true;
    const post = async (path: string, body: unknown) => {
      const response = await fetch(`${server.url}/api/w/acme/jobs/${path}/p/u/ann/double`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      if (response.status >= 300) throw new Error(`${response.status} ${await response.text()}`);
      return response.text();
    };
    const clients = Array.from({ length: 12 }, async (_, client) => {
      while (up) {
        const value = n++;
        try {
          if (client % 2 === 0) accepted.set(await post("run", { n: value }), value);
          else answered.set(await post("run_wait_result", { n: value }), value);
        } catch (cause) {
          // If the server was killed during the call, nothing was acknowledged. While it runs, this is a
          // failure.
          if (up) throw cause;
        }
      }
    });
    // The server is killed during calls, however fast the machine is.
    const wanted = accepted.size + 20 + Math.floor(Math.random() * 200);
    await until(() => (accepted.size >= wanted ? true : undefined), "calls");
    await until(() => !hasJobToBeGivenUp(place.data_dir), "jobs that lost their worker twice to complete");
    up = false;
    process.kill(server.pid, "SIGKILL");
    await server.process.exited;
    await Promise.all(clients);
    await until(
      async () => ((await processesOf(place.data_dir)).length === 0 ? true : undefined),
      "the children's end",
      5_000,
    );
  }
  for (const [result, value] of answered) expect(result).toBe(String(value * 2));
  expect(accepted.size).toBeGreaterThan(50);

  const server = await place.serve();
  const headers = { authorization: `Bearer ${token}` };
  for (const [id, value] of accepted) {
    const job = await until(async () => {
      const response = await fetch(`${server.url}/api/w/acme/jobs_u/completed/get/${id}`, { headers });
      return response.status === 200
        ? ((await response.json()) as { success: boolean; result: unknown })
        : undefined;
    }, `job ${id}`);
    expect([id, job.success, job.result]).toEqual([id, true, value * 2]);
  }
  process.kill(server.pid, "SIGTERM");
  expect(await server.process.exited).toBe(0);
}, 180_000);

test("a server that is killed soon after each start does not fail jobs that it had only claimed", async () => {
  const place = createInstallation();
  try {
    let server = await place.serve();
    const token = await setUp(server);
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const content = "export async function main(n: number) { await Bun.sleep(1); return n }";
    await server.operator("/w/acme/scripts/create", { path: "u/ann/short", language: "bun", content });
    const count = 1_920;
    const ids: string[] = [];
    for (let at = 0; at < count; at += 64) {
      const posted = Array.from({ length: 64 }, async (_, n) => {
        const url = `${server.url}/api/w/acme/jobs/run/p/u/ann/short?scheduled_in_secs=8`;
        const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ n: at + n }) });
        if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
        return response.text();
      });
      ids.push(...(await Promise.all(posted)));
    }
    const crash = async () => {
      process.kill(server.pid, "SIGKILL");
      await server.process.exited;
    };
    /** Lists the jobs that the server has claimed and not started, according to its database. */
    const listClaimed = () => {
      const database = new Database(join(place.data_dir, "svc.db"), { readonly: true });
      try {
        const query = "SELECT id FROM jobs WHERE state = 'running' AND NOT begun";
        return (database.query(query).all() as { id: string }[]).map(({ id }) => id);
      } finally {
        database.close();
      }
    };
    await crash();
    await Bun.sleep(8_000);
    const losses = new Map<string, number>();
    for (let kill = 0; kill < 5; kill++) {
      server = await place.serve();
      await until(() => listClaimed().length > 0, "jobs to be claimed");
      await crash();
      const claimed = listClaimed();
      expect(claimed).not.toBeEmpty();
      for (const id of claimed) losses.set(id, (losses.get(id) ?? 0) + 1);
    }
    // If each had been started, they would have failed after so many losses.
    expect([...losses.values()].filter((count) => count > MAX_ATTEMPTS)).not.toBeEmpty();
    server = await place.serve();
    for (const [n, id] of ids.entries()) {
      const job = await until(async () => {
        const response = await fetch(`${server.url}/api/w/acme/jobs_u/completed/get/${id}`, { headers });
        return response.status === 200
          ? ((await response.json()) as { success: boolean; result: unknown })
          : undefined;
      }, `job ${id}`);
      expect([id, job.success, job.result]).toEqual([id, true, n]);
    }
  } finally {
    place.remove();
  }
}, 180_000);
