/**
 * Messages if the service rejects a request or is unreachable: cause, place and remedy, never a stack trace.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../../support/harness.ts";
import { type CliEnvironment, type CommandResult, createCliEnvironment, formatError } from "../program.ts";

describe("of a server", () => {
  let server: TestServer;
  let place: CliEnvironment;
  let outsider: string;
  beforeAll(async () => {
    server = await startTestServer();
    place = createCliEnvironment();
    await server.workspace("acme");
    await server.workspace("shop");
    outsider = (await server.user("outsider")).token;
  });
  afterAll(async () => {
    await server.stop();
    place[Symbol.dispose]();
  });

  const here = (args: string[]) => place.svc(args, { env: { SVC_DATA_DIR: server.data_dir } });
  const refused = (error: string, hint?: string): CommandResult => ({
    code: 1,
    out: "",
    err: formatError(error, hint),
  });

  test("rejections exit with 1", async () => {
    const [workspace, owner, id, email, none] = await Promise.all([
      here(["variable", "list", "--workspace", "nope"]),
      here(["workspace", "create", "new", "--name", "New", "--owner", "nobody@example.org"]),
      here(["workspace", "create", "acme", "--name", "Acme", "--owner", "outsider@example.org"]),
      here(["user", "create", "--email", "outsider@example.org", "--password", "correct-horse"]),
      here(["run", "u/ann/none", "--workspace", "acme"]),
    ]);
    expect(workspace).toEqual(refused("there is no workspace nope"));
    expect(owner).toEqual(
      refused(
        "there is no user nobody@example.org",
        "name an existing user as the owner: svc user create --email …",
      ),
    );
    expect(id).toEqual(refused("there is a workspace with id acme already"));
    expect(email).toEqual(refused("there is a user with e-mail outsider@example.org already"));
    const hint = "svc script list --workspace acme and svc flow list show what there is";
    expect(none).toEqual(refused("there is no script u/ann/none in workspace acme", hint));
  }, 60_000);

  test("an excess argument is named", async () => {
    const error = formatError(
      'svc script show takes no argument "u/ann/other"',
      "write svc script show <path>; quote a value that has spaces, or see svc script show --help",
    );
    expect(await here(["script", "show", "u/ann/a", "u/ann/other"])).toEqual({
      code: 2,
      out: "",
      err: error,
    });
  });

  test("a workspace is required if there are several", async () => {
    const error = formatError(
      "there are 2 workspaces: acme, shop",
      "svc workspace use <id> chooses one; --workspace or SVC_WORKSPACE names another",
    );
    expect(await here(["script", "list"])).toEqual({ code: 2, out: "", err: error });
  }, 60_000);

  test("its data directory is found", async () => {
    const ended = await here(["serve", "--port", "0"]);
    expect(ended.code).toBe(1);
    expect(ended.err).toStartWith(
      `error: the data directory ${server.data_dir} is in use by process ${process.pid} (`,
    );
    expect(ended.err).toEndWith("\nhint: stop that process, or choose another directory with --data-dir\n");
  }, 60_000);

  test("missing, wrong and foreign tokens exit with 3", async () => {
    const list = ["variable", "list", "--workspace", "acme", "--url", server.url];
    const [without, wrong, foreign] = await Promise.all([
      place.svc(list),
      place.svc([...list, "--token", "wrong"]),
      place.svc(list, { env: { SVC_TOKEN: outsider } }),
    ]);
    const give = "log in with svc login, or give a token with --token or SVC_TOKEN";
    const check = "check the token (--token or SVC_TOKEN), and whether it is meant for this workspace";
    expect(without).toEqual({ code: 3, out: "", err: formatError("a valid token is needed", give) });
    expect(wrong).toEqual({ code: 3, out: "", err: formatError("a valid token is needed", check) });
    expect(foreign).toEqual({
      code: 3,
      out: "",
      err: formatError("not a member of workspace acme", check),
    });
  }, 60_000);
});

test("an unreachable or other server exits with 3", async () => {
  using place = createCliEnvironment();
  const page = () => new Response("<html>Welcome</html>", { headers: { "content-type": "text/html" } });
  await using website = Bun.serve({ port: 0, fetch: page });
  const gone = Bun.serve({ port: 0, fetch: page });
  const nowhere = `http://localhost:${gone.port}`;
  await gone.stop(true);
  const elsewhere = `http://localhost:${website.port}`;
  const create = ["token", "create", "--label", "x"];
  const [unreachable, other] = await Promise.all([
    place.svc([...create, "--url", nowhere]),
    place.svc([...create, "--url", elsewhere]),
  ]);
  const up = "check the address, and that the server is up";
  expect(unreachable).toEqual({
    code: 3,
    out: "",
    err: expect.stringMatching(new RegExp(`^error: ${nowhere} cannot be reached: .*\\nhint: ${up}\\n$`)),
  });
  const address = "check --url: it is the server's address, without a path";
  expect(other).toEqual({
    code: 3,
    out: "",
    err: formatError(`the server at ${elsewhere} is not svc: it answered with status 200`, address),
  });
}, 60_000);

test("a data directory that cannot be created is named", async () => {
  using place = createCliEnvironment();
  const file = await place.file("file", "");
  const ended = await place.svc(["serve", "--port", "0", "--data-dir", `${file}/data`]);
  expect(ended).toEqual({ code: 1, out: "", err: expect.stringMatching(/^error: .*file\/data.*\n$/) });
}, 60_000);
