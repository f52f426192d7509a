/** Output of commands: one JSON value with --json, help that fits a terminal, lists that fit a pipe. */
import { expect, test } from "bun:test";
import metadata from "../../../package.json" with { type: "json" };
import { PROCESS_SETTINGS } from "../../../src/platform/config/config.ts";
import { startTestServer } from "../../support/harness.ts";
import { createCliEnvironment, createServedEnvironment } from "../program.ts";

const HASH = expect.stringMatching(/^[0-9a-f]{16}$/);

/** The arguments after which `--json` is added, and the value on stdout. */
const VALUES: [args: string[], value: unknown][] = [
  [
    ["user", "create", "--email", "ann@example.org", "--password", "correct-horse", "--super-admin"],
    { email: "ann@example.org", super_admin: true },
  ],
  [
    ["workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org"],
    { id: "acme", name: "Acme", owner: "ann@example.org" },
  ],
  [["workspace", "list"], [expect.objectContaining({ id: "acme", name: "Acme", owner: "ann@example.org" })]],
  [["token", "create", "--email", "ann@example.org"], { token: expect.stringMatching(/^\w{32}$/) }],
  [["variable", "set", "u/ann/region", "eu"], { path: "u/ann/region", created: true }],
  [["variable", "set", "u/ann/region", "us", "--secret"], { path: "u/ann/region", created: false }],
  [["variable", "get", "u/ann/region"], expect.objectContaining({ value: "us", is_secret: true })],
  [["variable", "list"], [expect.objectContaining({ path: "u/ann/region", is_secret: true })]],
  [["script", "push", "twice.ts", "u/ann/twice"], { path: "u/ann/twice", hash: HASH }],
  [["script", "list"], [expect.objectContaining({ path: "u/ann/twice", hash: HASH, language: "bun" })]],
  [["script", "show", "u/ann/twice"], expect.objectContaining({ content: expect.stringContaining("main") })],
  [["run", "u/ann/twice", "-d", '{"n":21}'], 42],
  [["run", "nothing.ts"], null],
];

test("--json prints one JSON value and nothing else", async () => {
  using place = createCliEnvironment();
  await using _ = await startTestServer({ data_dir: place.data_dir });
  await place.file("twice.ts", "export function main(n: number) { return 2 * n; }");
  await place.file("nothing.ts", "export function main() {}");
  await place.file("fails.ts", `export function main() { throw new Error("no tea"); }`);
  for (const [args, value] of VALUES) {
    const { code, out, err } = await place.svc([...args, "--json"]);
    expect({ args, code, err, value: JSON.parse(out) }).toEqual({ args, code: 0, err: "", value });
  }
  const failed = await place.svc(["run", "fails.ts", "--json"]);
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.out).error).toMatchObject({ name: "Error", message: "no tea" });
  expect(JSON.parse(failed.err).error).toMatchObject({ name: "Error", message: "no tea" });
}, 60_000);

test("a failed script is shown with its location in the code", async () => {
  await using place = await createServedEnvironment();
  const content = `type Cups = number;\n\nexport function main(cups: Cups) {\n  throw new TypeError("no tea");\n}`;
  const { code, out, err } = await place.svc(["run", await place.file("tea.ts", content), "cups=2"]);
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(
    /^error: TypeError: no tea\n {4}at main \(tea\.ts:4:\d+\)\nhint: svc job show [0-9a-f-]{36} --workspace local\n$/,
  );
}, 60_000);

const COMMANDS = [
  ["serve"],
  ["demo"],
  ["run"],
  ["routes"],
  ...["list", "show", "logs", "result", "cancel"].map((verb) => ["job", verb]),
  ...["push", "list", "show"].map((verb) => ["script", verb]),
  ...["push", "list", "show", "archive", "graph"].map((verb) => ["flow", verb]),
  ...["set", "show", "list", "delete", "rename", "import"].map((verb) => ["variable", verb]),
  ...["set", "show", "list", "delete"].map((verb) => ["resource", verb]),
  ...["list", "show", "push", "delete"].map((verb) => ["resource-type", verb]),
  ...["create", "list"].map((verb) => ["workspace", verb]),
  ...["create", "list"].map((verb) => ["token", verb]),
  ...["create", "list", "show", "update", "set-password", "set-login-type", "rename", "delete"].map(
    (verb) => ["user", verb],
  ),
  ["login"],
  ["logout"],
  ["whoami"],
];

test("every help fits 80 columns, and mentions --json with examples", async () => {
  using place = createCliEnvironment();
  const all = [
    [],
    ...COMMANDS,
    ["job"],
    ["script"],
    ["flow"],
    ["variable"],
    ["resource"],
    ["resource-type"],
    ["workspace"],
    ["token"],
    ["user"],
  ];
  const helps = await Promise.all(all.map((words) => place.svc([...words, "--help"])));
  for (const [index, { code, out, err }] of helps.entries()) {
    expect({ of: all[index], code, err }).toEqual({ of: all[index]!, code: 0, err: "" });
    expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(out).toStartWith(`Usage: ${["svc", ...all[index]!].join(" ")}`);
  }
  for (const { out } of helps.slice(1, 1 + COMMANDS.length)) {
    expect(out).toContain("--json ");
    expect(out).toMatch(/\nExamples:\n {2}\$ .*svc /);
  }
  const [program, serve] = helps;
  for (const [name] of COMMANDS) expect(program!.out).toContain(`\n  ${name} `);
  expect(serve!.out).toContain("svc config --all");
  for (const variable of serve!.out.match(/(?<=\n {2})(SVC_|DATABASE_)\w+/g)!)
    expect(Object.values(PROCESS_SETTINGS).map((setting) => setting.variable as string)).toContain(variable);
}, 60_000);

test("the version, the routes, and the help without a command", async () => {
  using place = createCliEnvironment();
  const [version, short, nothing, noVerb, routes, json, byUrl] = await Promise.all([
    place.svc(["--version"]),
    place.svc(["-V"]),
    place.svc([]),
    place.svc(["token"]),
    place.svc(["routes", "Scripts/LIST"]),
    place.svc(["routes", "listScripts", "--json"]),
    place.svc(["routes", "https://svc.example.org/api/w/acme/scripts/get/p/f/shop/order?a=b", "--json"]),
  ]);
  expect(version).toEqual({ code: 0, out: `${metadata.version}\ninterface 1.423.2\n`, err: "" });
  expect(short).toEqual(version);
  expect(nothing).toMatchObject({ code: 0, out: expect.stringContaining("\nStart:\n"), err: "" });
  expect(noVerb).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Commands:") });
  expect(routes.out.split("\n")).toContain(
    ["GET", "/api/w/{workspace}/scripts/list", "member", "src/features/code/scripts/operations.ts"].join(
      "\t",
    ),
  );
  expect(JSON.parse(json.out)[0]).toMatchObject({ method: "GET", name: "listScripts" });
  expect(JSON.parse(byUrl.out)).toMatchObject([
    { method: "GET", path: "/api/w/{workspace}/scripts/get/p/{path}" },
  ]);
}, 60_000);

test("a slow pipe gets all output", async () => {
  using place = createCliEnvironment();
  await place.file("long.ts", 'export const main = () => "x".repeat(3_000_000)');
  const slow = "import sys, time; time.sleep(1); print(len(sys.stdin.read()))";
  const command = `${place.program.join(" ")} run long.ts --json | python3 -c '${slow}'`;
  const child = Bun.spawn(["sh", "-c", command], {
    cwd: place.folder,
    env: place.environment,
    stdout: "pipe",
  });
  expect((await child.stdout.text()).trim()).toBe(String(3_000_000 + '""\n'.length));
});

test("a script run without a server can call the service", async () => {
  using place = createCliEnvironment();
  await place.file(
    "back.ts",
    "export const main = async () => (await fetch(process.env.BASE_INTERNAL_URL + '/api/version')).text()",
  );
  expect((await place.svc(["run", "back.ts"])).out).toContain("CE v1.423.2");
});
