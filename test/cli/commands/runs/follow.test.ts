/** Following a job to its end, across lost connections and server restarts. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { startTestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, start } from "../../program.ts";

/** Logs a step, streams it, and continues once there is a file for it. */
const STEPS = `import { existsSync } from "node:fs";
export async function* main(folder: string, steps: number) {
  for (let step = 1; step <= steps; step++) {
    console.log("step " + step);
    yield "<" + step + ">";
    while (!existsSync(folder + "/go" + step)) await Bun.sleep(10);
  }
}`;

const go = (place: CliEnvironment, step: number) => place.file(`go${step}`, "");
const startSteps = async (place: CliEnvironment, steps: number, ...common: string[]) => {
  await place.file("steps.ts", STEPS);
  const data = JSON.stringify({ folder: place.folder, steps });
  return (await place.svc(["run", "steps.ts", "-d", data, "--async", ...common])).out.trim();
};

test("a broken connection is resumed, and one that fails for a while is retried", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer();
  const { token } = await server.workspace("acme");
  await using road = await openRoad(Number(new URL(server.url).port));
  const common = ["--url", `http://127.0.0.1:${road.port}`, "--token", token, "--workspace", "acme"];
  const id = await startSteps(place, 3, ...common);
  using following = start(place, ["job", "logs", id, "--follow", ...common]);
  await following.says("step 1\n");
  road.cut();
  await go(place, 1);
  await following.says("step 2\n");
  await road.close();
  await go(place, 2);
  await road.open();
  await following.says("step 3\n");
  road.cut();
  await go(place, 3);
  expect(await following.ended()).toEqual({ code: 0, out: "step 1\nstep 2\nstep 3\n", err: "" });
}, 60_000);

test("continues from its offsets after the server's timeout event", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer();
  const { token } = await server.workspace("acme");
  await using impatient = timeoutProxy(server.url);
  const common = ["--url", impatient.url, "--token", token, "--workspace", "acme"];
  await place.file("steps.ts", STEPS);
  const data = JSON.stringify({ folder: place.folder, steps: 3 });
  using running = start(place, ["run", "steps.ts", "-d", data, "--stream", ...common]);
  for (const step of [1, 2, 3]) {
    await running.says(`step ${step}\n`);
    await running.says(`<${step}>`);
    await go(place, step);
  }
  expect(await running.ended()).toEqual({ code: 0, out: "<1><2><3>", err: "step 1\nstep 2\nstep 3\n" });
  expect(impatient.timeouts()).toBeGreaterThan(2);
}, 60_000);

test("a job that loses its worker is followed again, and the exit code shows its outcome", async () => {
  using place = createCliEnvironment();
  using first = start(place, ["serve", "--port", "0", "--json"]);
  await first.says("\n}\n");
  const id = await startSteps(place, 2);
  using following = start(place, ["job", "logs", id, "--follow"]);
  await following.says("step 1\n");
  await go(place, 1);
  await following.says("step 2\n");
  first.child.kill("SIGKILL");
  await first.ended();
  rmSync(join(place.folder, "go1"));
  using second = start(place, ["serve", "--port", "0", "--json"]);
  await following.says("starts again");
  await go(place, 1);
  await go(place, 2);
  const { code, out, err } = await following.ended();
  expect({ code, err }).toEqual({ code: 0, err: "the job lost its worker, and starts again\n" });
  expect(out).toBe("step 1\nstep 2\nstep 1\nstep 2\n");
  second.child.kill("SIGTERM");
  await second.ended();
}, 60_000);

test("Ctrl-C stops following, not the job", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const id = await startSteps(place, 1);
  using following = start(place, ["job", "logs", id, "--follow"]);
  await following.says("step 1\n");
  following.child.kill("SIGINT");
  const err = `no longer following: job ${id} is still running\n`;
  expect(await following.ended()).toEqual({ code: 130, out: "step 1\n", err });
  expect((await server.operator("GET", `/w/local/jobs_u/get/${id}`)).json().running).toBe(true);
  await go(place, 1);
  expect((await place.svc(["job", "result", id, "--wait"])).out).toBe('"<1>"\n');
}, 60_000);

/** A proxy to a port that can be interrupted and closed. */
async function openRoad(to: number) {
  const sockets = new Set<Socket>();
  const listener = createServer((near) => {
    const far = connect(to, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = listener.address() as { port: number };
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const close = () => {
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
    cut();
    return closed;
  };
  return { port, cut, close, open: () => listen(port), [Symbol.asyncDispose]: close };
}

/** Forwards everything; after each chunk, a stream of events gets the server's comment `timeout`. */
function timeoutProxy(to: string) {
  let timeouts = 0;
  const server = Bun.serve({
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.method === "GET" ? null : await request.arrayBuffer();
      const url = `${to}${pathname}${search}`;
      const response = await fetch(url, { method: request.method, headers: request.headers, body });
      if (!pathname.includes("getupdate_sse")) return response;
      const reader = response.body!.getReader();
      const { value } = await reader.read();
      await reader.cancel();
      timeouts++;
      return new Response(`${new TextDecoder().decode(value)}: timeout\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  return {
    url: `http://localhost:${server.port}`,
    timeouts: () => timeouts,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
