/** `svc migrate-to`: an embedded instance continues in a real PostgreSQL completely, or nothing has changed. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { createDatabase } from "../../../support/harness.ts";
import { type PostgresServer, startPostgres } from "../../../support/peers/postgres-server.ts";
import { type CliEnvironment, createCliEnvironment, start } from "../../program.ts";

setDefaultTimeout(60_000);

let postgres: PostgresServer;
let place: CliEnvironment;
const WORKSPACE = ["--workspace", "acme"];

async function run(args: string[], env: Record<string, string> = {}): Promise<string> {
  const { code, out, err } = await place.svc(args, { env });
  expect([args.join(" "), code, code === 0 ? "" : err]).toEqual([args.join(" "), 0, ""]);
  return out;
}
const target = async () => (await createDatabase(postgres.url)).url;
const tablesIn = async (url: string) => {
  const client = new SQL({ url, max: 1 });
  const rows = await client`SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`;
  await client.close();
  return rows.length;
};

beforeAll(async () => {
  postgres = await startPostgres();
  place = createCliEnvironment();
  await run(["user", "create", "--email", "ann@example.org", "--password", "secret-word", "--super-admin"]);
  await run(["workspace", "create", "acme", "--name", "Ä", "--owner", "ann@example.org"]);
  await place.file("hello.ts", "export const main = (name: string) => ({ hello: name + ' ä😀' })");
  await run(["script", "push", "hello.ts", "--path", "u/ann/hello", ...WORKSPACE]);
  await run(["variable", "set", "u/ann/key", "the-value", "--secret", ...WORKSPACE]);
  await run(["run", "u/ann/hello", "-d", '{"name":"Bob"}', ...WORKSPACE]);
});
afterAll(async () => {
  await postgres.stop();
  place[Symbol.dispose]();
});

test("a dry run reports size and duration while the server runs, and stores nothing", async () => {
  const url = await target();
  using going = start(place, ["serve", "--port", "0", "--json"]);
  await going.says('"url"');
  const told = await run(["migrate-to", url, "--dry-run"]);
  expect(told).toMatch(
    /^[\d,]+ rows of \d+ tables fit into postgres:\/\/svc@127\.0\.0\.1:\d+\/\w+: copied and compared in [\d.]+ s, nothing kept\n$/,
  );
  const refused = await place.svc(["migrate-to", url]);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("is in use by process")]);
  expect(await tablesIn(url)).toBe(0);
  going.child.kill("SIGTERM");
  await going.ended();
});

test.each([
  ["a URL of something else", "mysql://root@localhost/x", "is not the URL of a PostgreSQL database"],
  ["a URL without a database", "postgres://svc@localhost", "is not the URL of a PostgreSQL database"],
  ["a server that is not there", "postgres://svc:hidden-word@127.0.0.1:1/x", "onnect"],
])("%s is rejected", async (_, url, message) => {
  const { code, err } = await place.svc(["migrate-to", url]);
  expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  expect(err).not.toContain("hidden-word");
});

test("the embedded database cannot be partitioned", async () => {
  const { code, err } = await place.svc(["partition-jobs"]);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^error: the embedded database has no partitions\nhint: set DATABASE_URL/),
  ]);
});

test("without a URL it says what is missing", async () => {
  const { code, err } = await place.svc(["migrate-to"]);
  expect([code, err]).toEqual([2, expect.stringContaining("set DATABASE_URL")]);
});

test("nothing is committed if the target stores different values", async () => {
  const url = await target();
  const client = new SQL({ url, max: 1 });
  await client.unsafe(`
    CREATE SCHEMA spoil;
    CREATE FUNCTION spoil.change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := NEW.name || '!'; RETURN NEW; END $$;
    CREATE FUNCTION spoil.watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
      IF to_regclass('public.workspaces') IS NOT NULL THEN
        CREATE OR REPLACE TRIGGER change BEFORE INSERT ON public.workspaces FOR EACH ROW EXECUTE FUNCTION spoil.change();
      END IF; END $$;
    CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION spoil.watch()`);
  await client.close();
  const { code, err } = await place.svc(["migrate-to", url]);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^error: workspaces is not the same there \(1 rows here, 1 there\)/),
  ]);
  expect(await tablesIn(url)).toBe(0);
  expect(await run(["variable", "get", "u/ann/key", ...WORKSPACE])).toBe("the-value\n");
});

test("all work continues on the target and stops here", async () => {
  const url = await target();
  const there = { DATABASE_URL: url };
  const before = JSON.parse(await run(["job", "list", "--json", ...WORKSPACE]));
  const moved = await place.svc(["migrate-to", "--json"], { env: there });
  expect([moved.code, JSON.parse(moved.out)]).toEqual([
    0,
    expect.objectContaining({ dry_run: false, to: url.replace(":svc@", "@"), rows: expect.any(Number) }),
  ]);
  expect(moved.err).toContain("instance.key");

  expect(await run(["variable", "get", "u/ann/key", ...WORKSPACE], there)).toBe("the-value\n");
  expect(JSON.parse(await run(["job", "list", "--json", ...WORKSPACE], there))).toEqual(before);
  expect(JSON.parse(await run(["run", "u/ann/hello", "-d", '{"name":"Eve"}', ...WORKSPACE], there))).toEqual({
    hello: "Eve ä😀",
  });

  const stale = await place.svc(["variable", "get", "u/ann/key", ...WORKSPACE]);
  expect([stale.code, stale.err]).toEqual([
    1,
    expect.stringMatching(/this instance moved to postgres:.*\nhint: set DATABASE_URL/),
  ]);
  expect(await run(["partition-jobs"], there)).toMatch(
    /^[\d,]+ rows of 8 tables are in partitions of \d months now, after [\d.]+ s\n$/,
  );
  expect(await run(["partition-jobs"], there)).toContain("already: nothing was changed");
  expect(JSON.parse(await run(["run", "u/ann/hello", "-d", '{"name":"Eve"}', ...WORKSPACE], there))).toEqual({
    hello: "Eve ä😀",
  });

  const again = await place.svc(["migrate-to", url]);
  expect([again.code, again.err]).toEqual([1, expect.stringContaining("--force")]);
  await run(["migrate-to", url, "--force"]);
  expect(existsSync(join(place.data_dir, "svc.db"))).toBe(true);
});
