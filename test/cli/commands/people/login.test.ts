/** Logging in: where the login is stored, which commands use it, and how it ends. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { tokens } from "../../../../src/features/tenancy/tokens/tables.ts";
import { startTestServer, type TestServer } from "../../../support/harness.ts";
import {
  type CliEnvironment,
  createCliEnvironment,
  createServedEnvironment,
  formatError,
} from "../../program.ts";
import { ENTER, startSession } from "../../session.ts";

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  await server.user("root", { super_admin: true });
  await server.user("ann");
});
afterAll(() => server.stop());

/** A user's own machine: no data directory is set, so that a login is used. */
function newMachine(): CliEnvironment & { file: CliEnvironment["file"]; kept: string } {
  const place = createCliEnvironment();
  delete place.environment.SVC_DATA_DIR;
  return {
    ...place,
    kept: join(place.folder, ".config/svc/login.json"),
    [Symbol.dispose]: place[Symbol.dispose],
  };
}

const logIn = (place: CliEnvironment, name: string, password = `${name}-password`) =>
  place.svc(["login", server.url, "--email", `${name}@example.org`, "--password-stdin"], {
    stdin: `${password}\n`,
  });

const sessionsOf = async (name: string) =>
  (
    await server.server.app.db.read
      .select()
      .from(tokens)
      .where(eq(tokens.email, `${name}@example.org`))
  ).filter(({ kind }) => kind === "session").length;

test("a login is readable by its owner only, and serves later commands until the logout", async () => {
  using machine = newMachine();
  const done = await logIn(machine, "root");
  expect(done).toEqual({ code: 0, out: "", err: `logged in to ${server.url} as root@example.org\n` });
  expect(statSync(machine.kept).mode & 0o777).toBe(0o600);
  expect(statSync(join(machine.kept, "..")).mode & 0o777).toBe(0o700);
  const who = await machine.svc(["whoami"]);
  expect(who.out).toBe(`root@example.org\tsuper admin\tpassword\t${server.url}\n`);
  expect(JSON.parse((await machine.svc(["whoami", "--json"])).out)).toMatchObject({
    email: "root@example.org",
    server: server.url,
  });
  expect((await machine.svc(["user", "list"])).out).toContain("ann@example.org\tann\t\tuser\tpassword\n");

  expect((await machine.svc(["workspace", "create", "mine"])).err).toBe("created workspace mine\n");
  expect((await machine.svc(["workspace", "list"])).out).toContain("mine\tmine\troot@example.org\n");

  // Logging in again revokes the previous session.
  const before = await sessionsOf("root");
  await logIn(machine, "root");
  expect(await sessionsOf("root")).toBe(before);

  const changed = await machine.svc(["user", "set-password", "--password-stdin"], { stdin: "root-password" });
  expect(changed.err).toBe("password of root@example.org changed\n");
  expect((await machine.svc(["whoami"])).code).toBe(0);

  expect((await machine.svc(["logout"])).err).toBe(`logged out of ${server.url}\n`);
  expect(await sessionsOf("root")).toBe(0);
  expect(await Bun.file(machine.kept).exists()).toBe(false);
  expect((await machine.svc(["logout"])).err).toBe("not logged in\n");
}, 60_000);

test("options and the environment take precedence, and its token goes to no other server", async () => {
  using machine = newMachine();
  await logIn(machine, "ann");
  const who = async (args: string[], env: Record<string, string> = {}) =>
    (await machine.svc(["whoami", ...args], { env })).out.split("\t")[0];
  const { token } = await server.user("bea");
  expect(await who(["--url", server.url, "--token", token])).toBe("bea@example.org");
  expect(await who(["--token", token])).toBe("bea@example.org");
  expect(await who([], { SVC_TOKEN: token })).toBe("bea@example.org");
  expect(await who(["--url", `${server.url}/`])).toBe("ann@example.org");
  expect(await who(["--data-dir", "data"])).toBe("local-admin@localhost");
  expect(await who([], { SVC_DATA_DIR: "data" })).toBe("local-admin@localhost");
  const seen: (string | null)[] = [];
  const other = Bun.serve({
    port: 0,
    fetch(request) {
      seen.push(request.headers.get("authorization"));
      return new Response("no", { status: 401, headers: { "svc-error": "Unauthorized" } });
    },
  });
  try {
    expect((await machine.svc(["whoami", "--url", other.url.href])).code).toBe(3);
    expect(seen).toEqual([null]);
  } finally {
    await other.stop(true);
  }
}, 60_000);

test("invalid logins are reported, and nothing is stored", async () => {
  using machine = newMachine();
  const wrong = await logIn(machine, "ann", "guess");
  expect({ ...wrong }).toEqual({
    code: 1,
    out: "",
    err: formatError(`wrong e-mail or password for ${server.url}`),
  });
  const nobody = await machine.svc(["login", server.url]);
  expect(nobody.err).toBe(formatError("--email is missing", "there is no terminal to prompt on"));
  const gone = await machine.svc(["login", "127.0.0.1:9"]);
  expect([gone.code, gone.err]).toEqual([3, expect.stringContaining("http://127.0.0.1:9 cannot be reached")]);
  const silent = await machine.svc(["login", server.url, "--email", "ann@example.org"]);
  expect([silent.code, silent.err]).toEqual([
    2,
    formatError("--password-stdin is missing", "there is no terminal to prompt on"),
  ]);
  expect((await machine.svc(["login", "ftp://x", "--email", "a@b.c", "--password-stdin"])).code).toBe(2);
  expect(await Bun.file(machine.kept).exists()).toBe(false);

  await logIn(machine, "ann");
  await Bun.write(machine.kept, "{");
  const damaged = await machine.svc(["whoami"]);
  expect(damaged.err).toBe(formatError(`${machine.kept} is damaged`, "svc login writes it again"));
  expect((await logIn(machine, "ann")).code).toBe(0);
  await server.server.app.db.write(async (tx) => void (await tx.delete(tokens)));
  const { invalidateTokens } = await import("../../../../src/features/tenancy/tokens/cache.ts");
  const { sha256 } = await import("../../../../src/lib/text/ids.ts");
  invalidateTokens(server.server.app, [sha256((await Bun.file(machine.kept).json()).token)]);
  const ended = await machine.svc(["whoami"]);
  expect([ended.code, ended.err]).toEqual([3, expect.stringContaining("svc login")]);
}, 60_000);

test("on a terminal it asks, and hides the password", async () => {
  using machine = newMachine();
  using session = startSession(machine, ["login", server.url]);
  await session.sees("E-mail");
  session.types(`Ann@example.org${ENTER}`);
  await session.sees("Password");
  session.types(`ann-password${ENTER}`);
  await session.sees("logged in to");
  const { code, shown } = await session.ended();
  expect([code, shown.includes("ann-password")]).toEqual([0, false]);
}, 60_000);

test("users are listed, shown, changed, renamed and deleted", async () => {
  await using place = await createServedEnvironment();
  const svc = async (line: string, stdin?: string) => {
    const { code, out, err } = await place.svc(line.split(" "), stdin === undefined ? {} : { stdin });
    return code === 0 ? out || err : `${code}: ${err}`;
  };
  const create = (name: string, more = "") =>
    svc(
      `user create --email ${name}@example.org --username ${name} --password-stdin${more}`,
      "secret-word\n",
    );
  await create("root", " --super-admin");
  expect(await create("cy")).toBe("created user cy@example.org\n");
  await svc("workspace create acme --name Acme --owner root@example.org");
  expect(await svc("user get root@example.org")).toBe(
    "e-mail\troot@example.org\nusername\troot\nname\t\ncompany\t\nrole\tsuper admin\nlogin\tpassword\nin acme\tu/root\n",
  );
  expect(JSON.parse(await svc("user get cy@example.org --json"))).toMatchObject({
    email: "cy@example.org",
    workspace_usernames: [],
  });
  expect(await svc("user update cy@example.org --super-admin --name Cy")).toBe("changed cy@example.org\n");
  expect(await svc("user list")).toContain("cy@example.org\tcy\tCy\tsuper admin\tpassword\n");
  await svc("user update cy@example.org --no-super-admin");
  expect(await svc("user list")).toContain("cy@example.org\tcy\tCy\tuser\tpassword\n");
  expect(await svc("user update cy@example.org")).toContain(
    "2: error: nothing to change: give --super-admin",
  );
  expect(await svc("user rename cy@example.org cyrus")).toBe("cy@example.org is called cyrus\n");
  expect(await svc("user set-password cy@example.org --password-stdin", "next-word")).toBe(
    "password of cy@example.org changed\n",
  );
  expect(await svc("user set-login-type cy@example.org github")).toBe("cy@example.org logs in with github\n");
  expect(await svc("user delete cy@example.org")).toBe(
    `2: ${formatError("--yes is missing", "there is no terminal to prompt on")}`,
  );
  expect(await svc("user delete cy@example.org --yes")).toBe("deleted cy@example.org\n");
  expect(await svc("user get cy@example.org")).toContain("1: error: there is no user cy@example.org");
  for (const verb of [
    "create",
    "list",
    "get",
    "update",
    "set-password",
    "set-login-type",
    "rename",
    "delete",
  ]) {
    expect(await svc(`user ${verb} --help`)).toContain("$ svc user");
  }
}, 60_000);

test("on a terminal deletions ask for confirmation", async () => {
  await using place = await createServedEnvironment();
  for (const name of ["dee", "root"]) {
    const args = ["user", "create", "--email", `${name}@example.org`, "--password", "correct-horse"];
    await place.svc(name === "root" ? [...args, "--super-admin"] : args);
  }
  for (const [keys, seen, code] of [
    [`dan@example.org${ENTER}`, "is not dee@example.org: nothing was done", 130],
    [`dee@example.org${ENTER}`, "deleted dee@example.org", 0],
  ] as const) {
    using session = startSession(place, ["user", "delete", "dee@example.org"]);
    await session.sees("Delete user dee@example.org from the whole instance in /");
    await session.sees("Type");
    session.types(keys);
    await session.sees(seen);
    expect((await session.ended()).code).toBe(code);
  }
}, 60_000);
