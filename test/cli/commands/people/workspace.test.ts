/** `svc workspace …` and `svc audit …` as a person uses them. */
import { expect, test } from "bun:test";
import { expectOk, startTestServer } from "../../../support/harness.ts";
import { createCliEnvironment } from "../../program.ts";
import { ENTER, startSession } from "../../session.ts";

const OWNER = "ann@example.org";

/** Command lines (spaces of a value are `_`), and what they print. */
const STEPS: { args: string; out?: string | RegExp; err?: string | RegExp; code?: number }[] = [
  { args: `workspace create acme --name Acme --owner ${OWNER}`, err: "created workspace acme\n" },
  { args: "workspace rename acme --name Acme_Ltd", err: "workspace acme is called Acme Ltd\n" },
  { args: "workspace invite acme bob@example.org --operator", err: /invited to workspace acme/ },
  { args: "workspace invites acme", out: "bob@example.org\toperator\n" },
  { args: "workspace uninvite acme bob@example.org", err: /invite of bob@example.org .* deleted/ },
  { args: "workspace invites acme", out: "" },
  {
    args: "workspace add-user acme bob@example.org --username bobby",
    err: "bob@example.org added to workspace acme as bobby\n",
  },
  {
    args: "workspace add-user acme bob@example.org",
    err: /bob@example.org is a member of workspace acme already, as bobby/,
    code: 1,
  },
  {
    args: "workspace invite acme eve@example.org --admin --operator",
    err: /--admin and --operator exclude each other/,
    code: 2,
  },
  { args: "workspace settings set acme webhook https://example.org/x", err: /webhook .* set/ },
  { args: "workspace settings get acme webhook", out: "webhook\thttps://example.org/x\n" },
  { args: "workspace settings set acme webhook ", err: /webhook .* removed/ },
  { args: "workspace settings get acme webhook", out: "webhook\t\n" },
  {
    args: 'workspace settings set acme large_file_storage {"type":"FilesystemStorage"}',
    err: /object storage of workspace acme set/,
  },
  { args: "workspace settings set acme error_handler_muted_on_cancel true", err: /error handler/ },
  {
    args: 'workspace settings set acme error_handler_extra_args {"a":1}',
    err: /error handler/,
  },
  {
    args: "workspace settings get acme error_handler_muted_on_cancel",
    out: "error_handler_muted_on_cancel\ttrue\n",
  },
  { args: "workspace settings set acme env.REGION eu-1", err: /environment variable REGION .* set/ },
  {
    args: "workspace settings set acme auto_add maybe",
    err: /auto_add maybe: must be true or false/,
    code: 2,
  },
  { args: "workspace settings set acme git_sync {", err: /git_sync: must be JSON/, code: 2 },
  {
    args: "workspace settings set acme colour blue",
    err: /colour is not a setting\nhint: use one of name/,
    code: 2,
  },
  { args: "workspace settings get acme colour", err: /colour is not a setting/, code: 2 },
  { args: "workspace settings set acme deploy_to acme", err: /`deploy_to`: must be another/, code: 1 },
  { args: "workspace get acme", out: /^id +acme\nname +Acme Ltd\npremium +no\nexecutions this month +0\n/ },
  { args: "workspace archive acme", err: /--yes is missing\nhint: there is no terminal/, code: 2 },
  { args: "workspace archive acme --yes", err: "archived workspace acme\n" },
  { args: "workspace list", out: "" },
  { args: "workspace list --all", out: `acme\tarchived\tAcme Ltd\t${OWNER}\n` },
  { args: "workspace get acme", err: /workspace acme is archived/, code: 1 },
  { args: "workspace unarchive acme", err: "unarchived workspace acme\n" },
  { args: "workspace rename acme --id acme-corp", err: /--yes is missing/, code: 2 },
  { args: "workspace rename acme --id acme-corp --yes", err: "workspace acme has the id acme-corp now\n" },
  { args: "workspace rename acme-corp", err: /one of --name and --id is missing/, code: 2 },
  {
    args: "audit list --workspace acme-corp --operation workspaces.change --limit 1",
    out: /^\S.*\tlocal-admin@localhost\tworkspaces.change_workspace_id\tacme-corp\n$/,
  },
  { args: "audit list --workspace acme-corp --kind Execute", out: "" },
  { args: "audit list --workspace acme-corp --kind Read", err: /`action_kind`: must be Create/, code: 1 },
  { args: "audit list --workspace acme-corp --since yesterday", err: /is not a time/, code: 2 },
  { args: "workspace delete acme-corp", err: /--yes is missing/, code: 2 },
  { args: "workspace delete acme-corp --yes", err: "deleted workspace acme-corp\n" },
  { args: "workspace list --all", out: "" },
  { args: "workspace delete acme-corp --yes", err: /there is no workspace acme-corp/, code: 1 },
];

test("a workspace is created, changed and deleted", async () => {
  using place = createCliEnvironment();
  await using _ = await startTestServer({ data_dir: place.data_dir });
  await place.svc(["user", "create", "--email", OWNER, "--password", "correct-horse"]);
  for (const { args, out = "", err = "", code = 0 } of STEPS) {
    const words = args.split(" ").map((word) => (word === "Acme_Ltd" ? "Acme Ltd" : word));
    const ended = await place.svc(words);
    const is = (text: string | RegExp) => (typeof text === "string" ? text : expect.stringMatching(text));
    expect({ args, ...ended }).toEqual({ args, code, out: is(out), err: is(err) } as never);
  }
}, 60_000);

test("an invited user sees the invite, and accepts or declines", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const guest = await server.user("guest");
  const asGuest = ["--url", server.url, "--token", guest.token];
  for (const id of ["one", "two"]) {
    const { ask } = await server.workspace(id);
    const invite = { email: guest.email, is_admin: false, operator: id === "two" };
    await expectOk(ask("POST", `/w/${id}/workspaces/invite_user`, invite));
  }
  for (const [args, out, err, code] of [
    ["invites", "one\tdeveloper\ntwo\toperator\n", "", 0],
    ["accept one --username gus", "", "member of workspace one as gus\n", 0],
    ["decline two --json", '{\n  "workspace_id": "two"\n}\n', "", 0],
    ["invites", "", "", 0],
    ["accept two", "", "error: there is no invite of guest@example.org to workspace two\n", 1],
  ] as const) {
    const ended = await place.svc(["workspace", ...args.split(" "), ...asGuest]);
    expect({ args, ...ended }).toEqual({ args, out, err, code } as never);
  }
}, 60_000);

test("the audit log is exported as filtered JSON lines, including rows of deleted workspaces", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  await server.workspace("acme");
  await place.svc(["workspace", "settings", "set", "acme", "env.A", "1"]);
  const lines = async (...args: string[]) => {
    const ended = await place.svc(["audit", "export", ...args]);
    expect([ended.code, ended.err]).toEqual([0, ""]);
    return ended.out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  expect((await lines("--workspace", "acme")).map((row) => row.operation)).toEqual([
    "workspaces.set_environment_variable",
  ]);
  expect(await lines("--workspace", "acme", "--operation", "users.")).toEqual([]);
  await place.svc(["workspace", "delete", "acme", "--yes"]);
  const all = await lines("--all", "--prefix", "acme");
  expect(all.map((row) => `${row.workspace_id} ${row.operation}`)).toEqual([
    "global workspaces.create",
    "deleted/acme workspaces.set_environment_variable",
    "global workspaces.delete",
  ]);
}, 60_000);

test("deleting asks on a terminal, and does nothing without confirmation; tables fit the terminal", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  await server.workspace("acme");
  using declined = startSession(place, ["workspace", "delete", "acme"]);
  await declined.sees("Delete workspace acme in /");
  // The path before it may be so long that the terminal breaks the sentence anywhere.
  await declined.sees("with e");
  declined.types(`acm${ENTER}`);
  await declined.sees("nothing was done");
  expect((await declined.ended()).code).toBe(130);
  using table = startSession(place, ["audit", "list", "--all"]);
  await table.sees("WORKSPACE");
  const { shown } = await table.ended();
  expect(shown.split(/\r?\n/).filter((line) => line.trimEnd().length > 80)).toEqual([]);
  using accepted = startSession(place, ["workspace", "delete", "acme"]);
  await accepted.sees("with e");
  accepted.types(`acme${ENTER}`);
  await accepted.sees("deleted workspace acme");
  expect((await accepted.ended()).code).toBe(0);
}, 60_000);

test("every command of both nouns shows an example", async () => {
  using place = createCliEnvironment();
  for (const noun of [["workspace"], ["workspace", "settings"], ["audit"]]) {
    const { out } = await place.svc([...noun, "--help"]);
    const verbs = [...out.split("Commands:")[1]!.matchAll(/^ {2}([\w-]+)/gm)].map((match) => match[1]!);
    expect(verbs.length).toBeGreaterThan(1);
    for (const verb of verbs.filter((name) => name !== "settings" && name !== "help")) {
      const help = (await place.svc([...noun, verb, "--help"])).out;
      expect([verb, help]).toEqual([verb, expect.stringContaining(`$ svc ${[...noun, verb].join(" ")}`)]);
      expect(help.split("\n").filter((line) => line.length > 80)).toEqual([]);
    }
  }
}, 60_000);
