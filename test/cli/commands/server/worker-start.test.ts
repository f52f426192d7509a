/** `svc worker` with a wrong setting reports it and exits, before it takes jobs that it could not run. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createDatabase } from "../../../support/harness.ts";
import { type PostgresServer, startPostgres } from "../../../support/peers/postgres-server.ts";
import { type CliEnvironment, createCliEnvironment, start } from "../../program.ts";

setDefaultTimeout(60_000);

const KEY = "0123456789abcdef0123456789abcdef";
let postgres: PostgresServer;
let servers: CliEnvironment;
let workers: CliEnvironment;
let url: string;

beforeAll(async () => {
  postgres = await startPostgres();
  servers = createCliEnvironment();
  workers = createCliEnvironment();
  ({ url } = await createDatabase(postgres.url));
  const env = { DATABASE_URL: url, SVC_SECRET_KEY: KEY };
  const user = ["user", "create", "--email", "ann@example.org", "--password", "secret-word", "--super-admin"];
  for (const args of [
    user,
    ["workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org"],
  ]) {
    expect((await servers.svc(args, { env })).code).toBe(0);
  }
});
afterAll(async () => {
  servers[Symbol.dispose]();
  workers[Symbol.dispose]();
  await postgres.stop();
});

const withUser = (user: string) => {
  const changed = new URL(url);
  changed.username = user;
  changed.password = "hidden-word";
  return changed.href;
};

test.each([
  ["no key", () => ({ SVC_SECRET_KEY: "" }), [], 1, "a worker needs the instance key of the servers"],
  ["another key", () => ({ SVC_SECRET_KEY: "another" }), [], 1, "the instance key is another one"],
  [
    "a URL that is none",
    () => ({ DATABASE_URL: "nonsense" }),
    [],
    1,
    "DATABASE_URL is not the URL of a PostgreSQL",
  ],
  [
    "a URL of something else",
    () => ({ DATABASE_URL: "mysql://root@localhost/x" }),
    [],
    1,
    "is not the URL of a Postg",
  ],
  [
    "a database server that is not there",
    () => ({ DATABASE_URL: "postgres://svc:hidden-word@127.0.0.1:1/x" }),
    [],
    1,
    "the database 127.0.0.1:1/x cannot be used: ",
  ],
  ["a user that may not", () => ({ DATABASE_URL: withUser("nobody") }), [], 1, "cannot be used: "],
  ["tags that are none", () => ({}), ["--tags", " ,"], 2, "--tags names no tag"],
  ["a group that is none", () => ({}), ["--group", ""], 2, "--group names no group"],
  ["a lease of no time", () => ({ SVC_LEASE_S: "0" }), [], 1, "SVC_LEASE_S=0: must be a number, 1 or more"],
] as [string, () => Record<string, string>, string[], number, string][])(
  "%s",
  async (_, wrong, args, exit, message) => {
    const env = { DATABASE_URL: url, SVC_SECRET_KEY: KEY, ...wrong() };
    const { code, err, out } = await workers.svc(["worker", ...args], { env });
    expect([code, err, out]).toEqual([exit, expect.stringContaining(message), ""]);
    expect(err).not.toContain("hidden-word");
  },
);

test("a server with another key reports it and starts: everything without secrets works", async () => {
  using server = start(workers, ["serve", "--port", "0"], { DATABASE_URL: url, SVC_SECRET_KEY: "another" });
  await server.says("has another instance key");
  server.child.kill("SIGTERM");
  await server.ended();
});

test("a correctly configured worker runs jobs", async () => {
  using worker = start(workers, ["worker", "--tags", "gpu, large"], {
    DATABASE_URL: url,
    SVC_SECRET_KEY: KEY,
  });
  await worker.says("takes jobs tagged gpu, large");
  worker.child.kill("SIGTERM");
  expect((await worker.ended()).code).toBe(0);
});
