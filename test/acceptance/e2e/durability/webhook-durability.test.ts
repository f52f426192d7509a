import { afterAll, expect, test } from "bun:test";
import { createInstallation, setUp, until } from "../executable.ts";

const place = createInstallation();
afterAll(() => place.remove());

const ROUNDS = 3;

test("after kill -9 while receivers fail, are slow or down, every committed change is delivered, and no rejected one", async () => {
  const told = new Map<string, number>();
  let isWell = false;
  let isDown = false;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { path } = (await request.json()) as { path: string };
      if (isDown) return new Response("", { status: 503 });
      if (!isWell && Math.random() < 0.5) return new Response("", { status: 500 });
      if (!isWell && Math.random() < 0.2) await Bun.sleep(200);
      told.set(path, (told.get(path) ?? 0) + 1);
      return new Response("");
    },
  });
  const env = { SVC_ALLOWED_TARGETS: "127.0.0.1" };
  const made = new Set<string>();
  let token = "";
  let n = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const server = await place.serve({ env });
    if (round === 0) {
      token = await setUp(server);
      await server.operator("/w/acme/webhooks/create", { url: `http://127.0.0.1:${receiver.port}/` });
    }
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    isDown = round === 1;
    let up = true;
    const clients = Array.from({ length: 4 }, async () => {
      while (up) {
        const path = `u/ann/v${n++}`;
        const body = { path, value: "", is_secret: false, description: "" };
        try {
          const answer = await fetch(`${server.url}/api/w/acme/variables/create`, {
            method: "POST",
            headers,
            body: JSON.stringify(body),
          });
          if (answer.status === 201) made.add(path);
        } catch (cause) {
          // If the server was killed during the call, nothing was acknowledged. While it runs, this is a
          // failure.
          if (up) throw cause;
        }
      }
    });
    await Bun.sleep(300 + Math.random() * 300);
    up = false;
    process.kill(server.pid, "SIGKILL");
    await server.process.exited;
    await Promise.all(clients);
  }
  expect(made.size).toBeGreaterThan(50);
  isDown = false;
  isWell = true;
  const server = await place.serve({ env });
  const headers = { authorization: `Bearer ${token}` };
  const missing = await until(
    async () => {
      const left = [...made].filter((path) => !told.has(path));
      return left.length === 0 ? left : undefined;
    },
    "all events",
    60_000,
  );
  expect(missing).toEqual([]);
  // Events of committed changes are sent even if the call was not answered; those of others are not.
  const listed = (await (
    await fetch(`${server.url}/api/w/acme/variables/list?per_page=10000`, { headers })
  ).json()) as {
    path: string;
  }[];
  const there = new Set(listed.map(({ path }) => path));
  expect([...told.keys()].filter((path) => !there.has(path))).toEqual([]);
  process.kill(server.pid, "SIGTERM");
  expect(await server.process.exited).toBe(0);
  await receiver.stop(true);
}, 90_000);
