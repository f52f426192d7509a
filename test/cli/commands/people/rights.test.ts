/**
 * `svc folder` and `svc group`: as the local admin of a data directory, through its server, and over HTTP as a
 * user.
 */
import { expect, test } from "bun:test";
import { expectOk, startTestServer } from "../../../support/harness.ts";
import { createCliEnvironment, formatError } from "../../program.ts";
import { ENTER, startSession } from "../../session.ts";

const NO_TERMINAL = "there is no terminal to prompt on";

test("folders and groups are created, shared and deleted", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  await server.workspace("acme");
  const ann = await server.member("acme", "ann");
  await server.member("acme", "bob");
  const env = { SVC_URL: server.url, SVC_TOKEN: ann.token, SVC_WORKSPACE: "acme" };
  const svc = (line: string) => place.svc(line.split(" "), { env });
  const steps: [line: string, out: string, err: string][] = [
    ["group create team --summary Us", "", "created group team: rights are given to it as g/team\n"],
    ["group add-user team bob", "", "added bob to group team\n"],
    ["group get team", "Us\nann\tyes\nbob\t\n", ""],
    ["group list", "all\t\teverybody in the workspace\nteam\tu/ann\tUs\n", ""],
    [
      "folder create data --owner g/team",
      "",
      "created folder data: what is in it has paths such as f/data/…\n",
    ],
    ["folder set-perm data g/all read", "", "g/all may read in folder data\n"],
    ["folder add-owner data u/admin", "", "u/admin owns folder data\n"],
    ["folder remove-owner data u/admin --keep write", "", "u/admin no longer owns folder data\n"],
    ["folder get data", "u/ann\towner\ng/team\towner\ng/all\tread\nu/admin\twrite\n", ""],
    ["folder set-perm data u/admin none", "", "u/admin has no right in folder data\n"],
    [
      "folder list",
      [
        ...["app_custom", "app_groups", "app_themes"].map((name) => `${name}\t\tg/all (read)\t\n`),
        "data\tu/ann, g/team\tg/all (read)\t\n",
      ].join(""),
      "",
    ],
    ["folder delete data", "", "deleted folder data\n"],
    ["group remove-user team bob", "", "removed bob from group team\n"],
    ["group delete team", "", "deleted group team\n"],
  ];
  for (const [line, out, err] of steps) {
    expect([line, await svc(line)]).toEqual([line, { code: 0, out, err }]);
  }
  const refused = await svc("group add-user all bob");
  expect(refused).toEqual({ code: 1, out: "", err: formatError("group all has everybody in it") });
}, 60_000);

test("with --json they print one value, and work on a data directory without a server", async () => {
  using place = createCliEnvironment();
  const server = await startTestServer({ data_dir: place.data_dir });
  await server.workspace("acme");
  await expectOk(server.operator("POST", "/w/acme/groups/create", { name: "team" }));
  await server.stop();
  const json = async (line: string) => JSON.parse((await place.svc([...line.split(" "), "--json"])).out);
  expect(await json("folder create data --owner u/admin")).toEqual({ name: "data", created: true });
  expect(await json("folder add-owner data g/team")).toEqual({ name: "data", owner: "g/team", owns: true });
  expect(await json("folder set-perm data g/all write")).toEqual({
    name: "data",
    who: "g/all",
    right: "write",
  });
  expect(await json("folder get data")).toMatchObject({ name: "data", owners: ["u/admin", "g/team"] });
  expect(await json("group add-user team admin")).toEqual({ name: "team", username: "admin", member: true });
  expect(await json("group get team")).toMatchObject({ members: ["admin"] });
  expect(await json("group list")).toHaveLength(2);
  expect(await json("group remove-user team admin")).toEqual({
    name: "team",
    username: "admin",
    member: false,
  });
  expect(await json("folder remove-owner data g/team")).toEqual({
    name: "data",
    owner: "g/team",
    owns: false,
  });
  expect(await json("folder list")).toHaveLength(4);
  expect(await json("folder delete data")).toEqual({ name: "data", deleted: true });
  expect(await json("group delete team")).toEqual({ name: "team", deleted: true });
}, 60_000);

test("a missing name is asked for on a terminal", async () => {
  using place = createCliEnvironment();
  const server = await startTestServer({ data_dir: place.data_dir });
  await server.workspace("acme");
  for (const noun of ["folder", "group"]) {
    using session = startSession(place, [noun, "create", "--workspace", "acme"]);
    await session.sees(`Name of the ${noun}`);
    session.types(`asked${ENTER}`);
    expect((await session.ended()).shown).toContain(`created ${noun} asked`);
    const alone = await place.svc([noun, "create", "--workspace", "acme"]);
    expect(alone).toEqual({ code: 2, out: "", err: formatError("<name> is missing", NO_TERMINAL) });
  }
  await server.stop();
}, 60_000);

test.each([
  [["folder", "set-perm", "data", "u/ann", "much"], "<right> much: must be read, write or none"],
  [["folder", "remove-owner", "data", "u/ann", "--keep", "much"], "--keep much: must be read, write or none"],
])("%p is a usage error", async (args, error) => {
  using place = createCliEnvironment();
  expect(await place.svc(args)).toEqual({ code: 2, out: "", err: formatError(error) });
});

test("every verb shows an example", async () => {
  using place = createCliEnvironment();
  const verbs = ["list", "create", "show", "delete"];
  const lines = [
    ...[...verbs, "add-owner", "remove-owner", "set-perm"].map((verb) => ["folder", verb]),
    ...[...verbs, "add-user", "remove-user"].map((verb) => ["group", verb]),
  ];
  await Promise.all(
    lines.map(async (line) => {
      const { out } = await place.svc([...line, "--help"]);
      expect(out).toContain(`$ svc ${line.join(" ")}`);
    }),
  );
}, 60_000);
