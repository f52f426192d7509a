/** A server and a worker in separate network namespaces, one of which loses its link and gets it back. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import {
  createNamespace,
  type Namespace,
  whyNoNamespaces,
} from "../../../support/peers/network-namespace.ts";
import { type PostgresServer, startPostgres } from "../../../support/peers/postgres-server.ts";
import { createInstallation, type Serving, setUp, until } from "../executable.ts";

const why = whyNoNamespaces();
if (why !== undefined) console.warn(`tests with networks of their own are left out: ${why}`);

describe.skipIf(why !== undefined)("machines with networks of their own", () => {
  const place = createInstallation();
  const started: Subprocess[] = [];
  let networks: Namespace[] = [];
  let postgres: PostgresServer;
  let server: Serving;
  let token: string;

  const environment = (address: string) => {
    const url = new URL(postgres.url);
    url.hostname = address;
    return { DATABASE_URL: url.href, SVC_SECRET_KEY: "0123456789abcdef0123456789abcdef", SVC_LEASE_S: "3" };
  };

  beforeAll(async () => {
    networks = [createNamespace(), createNamespace()];
    postgres = await startPostgres({ reachable: networks });
    const [first] = networks;
    // The command stays in the foreground there; the data about it is the same.
    server = await place.serve({
      under: first!.under,
      env: { ...environment(first!.address), SVC_HOST: first!.own, SVC_WORKER_TAGS: "dependency" },
    });
    token = await setUp(server);
    const content = `export async function main(file: string, ms: number) {
      require("node:fs").appendFileSync(file, "x");
      await Bun.sleep(ms);
      return process.env.WM_JOB_ID;
    }`;
    await server.operator("/w/acme/scripts/create", { path: "u/ann/slow", language: "bun", content });
  }, 60_000);
  afterAll(async () => {
    for (const each of started) if (each.exitCode === null && each.signalCode === null) each.kill("SIGKILL");
    place.remove();
    await postgres?.stop();
    for (const network of networks) network[Symbol.dispose]();
  });

  function startWorker(name: string, address: string, under: string[] = []) {
    const env = { ...place.environment, ...environment(address), SVC_DATA_DIR: join(place.folder, name) };
    const child = Bun.spawn([...under, join(place.folder, "svc"), "worker", "--json"], {
      cwd: place.folder,
      // Counts runs by files outside of the job's own folder.
      env: { ...env, SVC_LOG_LEVEL: "warn", SVC_SANDBOX: "off" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    started.push(child);
    let said = "";
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const piece of stream) said += new TextDecoder().decode(piece);
    };
    void Promise.all([read(child.stdout), read(child.stderr)]);
    return {
      process: child,
      says: (text: string) => until(() => (said.includes(text) ? true : undefined), `"${text}"`, 60_000),
    };
  }

  async function call(path: string, body?: unknown) {
    const response = await fetch(`${server.url}/api/w/acme/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }
  const ended = (id: string) =>
    until(async () => {
      const { status, text } = await call(`jobs_u/completed/get/${id}`);
      return status === 200 ? JSON.parse(text) : undefined;
    }, "the end of the job");

  test("a worker that loses its network loses its job to another, cannot complete it later, and continues working", async () => {
    const [, second] = networks;
    const far = startWorker("far", second!.address, second!.under);
    await far.says('"worker"');
    const file = join(place.folder, "began");
    const answer = await call("jobs/run_wait_result/p/u/ann/slow", { file, ms: 0 });
    expect(answer.status).toBe(200);

    const began = () => (existsSync(file) ? readFileSync(file, "utf8").length : 0);
    const { text: id } = await call("jobs/run/p/u/ann/slow", { file, ms: 4_000 });
    await until(() => (began() === 2 ? true : undefined), "the job at work");
    second!.cut();
    const near = startWorker("near", "127.0.0.1");
    await near.says('"worker"');
    const end = await ended(id);
    expect(end).toMatchObject({ success: true, result: id });
    expect(began()).toBe(3);
    second!.mend();
    await far.says("another worker holds it by now");
    expect(await ended(id)).toEqual(end);

    near.process.kill("SIGTERM");
    expect(await near.process.exited).toBe(0);
    expect((await call("jobs/run_wait_result/p/u/ann/slow", { file, ms: 0 })).status).toBe(200);
    far.process.kill("SIGTERM");
    expect(await far.process.exited).toBe(0);
  }, 180_000);
});
