/** The same commands give the same output in all three ways to reach the service. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { startTestServer } from "../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, type RunOptions } from "../program.ts";

interface Line extends RunOptions {
  args: string;
  out?: string | RegExp;
  err?: string;
  code?: number;
}

const HELLO = `export function main(name: string) {
  console.log("greeting " + name);
  return { hello: name };
}`;
const FAILS = `export function main() { console.log("so far"); throw new TypeError("no tea left"); }`;

const HASH = /^[0-9a-f]{16}\n$/;
const TOKEN = /^[0-9A-Za-z]{32}\n$/;
const bob = { out: '{\n  "hello": "Bob"\n}\n', err: "greeting Bob\n" };

/** Words are separated by spaces; `_` is a space inside a word. */
const LINES: Line[] = [
  {
    args: "user create --email ann@example.org --password correct-horse --name Ann_Lee",
    err: "created user ann@example.org\n",
  },
  {
    args: "user create --email root@example.org --password correct-horse --super-admin --username boss",
    err: "created super admin root@example.org\n",
  },
  { args: "workspace create acme --name Acme_Ltd --owner ann@example.org", err: "created workspace acme\n" },
  { args: "workspace list", out: "acme\tAcme Ltd\tann@example.org\n" },
  { args: "token create --email ann@example.org --label laptop", out: TOKEN },
  {
    args: "token create --email ann@example.org --label hook --workspace acme --scope jobs:run:scripts:u/ann/hello --scope jobs:read --expires-in 30d",
    out: TOKEN,
  },
  {
    args: "variable set u/ann/region eu-1 --workspace acme --summary Where_it_runs",
    err: "created u/ann/region\n",
  },
  { args: "variable set u/ann/region eu-2 --workspace acme", err: "changed u/ann/region\n" },
  { args: "variable get u/ann/region --workspace acme", out: "eu-2\n" },
  {
    args: "variable set u/ann/key - --workspace acme --secret",
    stdin: "s3cret\n",
    err: "created u/ann/key\n",
  },
  { args: "variable get u/ann/key", env: { SVC_WORKSPACE: "acme" }, out: "s3cret\n" },
  {
    args: "variable list --workspace acme",
    out: "u/ann/key\t(secret)\t\nu/ann/region\teu-2\tWhere it runs\n",
  },
  { args: "script push hello.ts --path u/ann/hello --workspace acme --summary Says_hello", out: HASH },
  { args: "script push fails.ts u/ann/fails --workspace acme", out: HASH },
  {
    args: "script list --workspace acme --prefix u/ann/h",
    out: /^u\/ann\/hello\tbun\t[0-9a-f]{16}\tSays hello\n$/,
  },
  { args: "run u/ann/hello --workspace acme -d @bob.json", ...bob },
  { args: "run ./hello.ts --workspace acme -d -", stdin: '{"name":"Bob"}', ...bob },
  {
    args: "variable get u/ann/none --workspace acme",
    code: 1,
    err: "error: there is no variable u/ann/none in workspace acme\nhint: svc variable list --workspace acme shows what there is\n",
  },
  {
    args: "script archive u/ann/hello --workspace acme",
    err: "archived u/ann/hello; svc script unarchive u/ann/hello brings it back\n",
  },
  { args: "script list --workspace acme --prefix u/ann/h" },
  {
    args: "run u/ann/hello name=Ann --workspace acme",
    code: 1,
    err: "error: script u/ann/hello in workspace acme is archived and cannot be run\n",
  },
];

async function runAll(place: CliEnvironment, common: string[]) {
  await place.file("hello.ts", HELLO);
  await place.file("fails.ts", FAILS);
  await place.file("bob.json", '{"name":"Bob"}');
  for (const { args, out = "", err = "", code = 0, stdin, env } of LINES) {
    const words = args.split(" ").map((word) => (word.startsWith("-") ? word : word.replaceAll("_", " ")));
    const ended = await place.svc([...words, ...common], {
      ...(stdin === undefined ? {} : { stdin }),
      ...(env ? { env } : {}),
    });
    const expected = { args, code, err, out: out instanceof RegExp ? expect.stringMatching(out) : out };
    expect({ args, ...ended }).toEqual(expected);
  }
  const failed = await place.svc(["run", "u/ann/fails", "--workspace", "acme", ...common]);
  expect(failed).toEqual({
    code: 1,
    out: "",
    err: expect.stringMatching(/^so far\nerror: TypeError: no tea left\n/),
  });
}

test("on the data directory itself, without a server", async () => {
  using place = createCliEnvironment();
  await runAll(place, []);
}, 60_000);

test("through the socket of the data directory's server", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  await runAll(place, []);
  // The server did it: it holds the lock of the data directory.
  expect((await server.operator("GET", "/workspaces/list")).text).toContain("Acme Ltd");
}, 60_000);

test("over HTTP, with --url and --token", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer();
  const { token } = await server.user("operator", { super_admin: true });
  await runAll(place, ["--url", server.url, "--token", token]);
  expect(readdirSync(place.data_dir)).toEqual([]);
}, 60_000);

test("SVC_URL and SVC_TOKEN replace the options, which take precedence", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer();
  const { token } = await server.workspace("acme");
  const list = ["script", "list", "--workspace", "acme", "--json"];
  const [named, both] = await Promise.all([
    place.svc(list, { env: { SVC_URL: `${server.url}/api/`, SVC_TOKEN: token } }),
    place.svc([...list, "--url", server.url, "--token", token], {
      env: { SVC_URL: "http://localhost:1", SVC_TOKEN: "wrong" },
    }),
  ]);
  expect(named).toEqual({ code: 0, out: "[]\n", err: "" });
  expect(both).toEqual(named);
}, 60_000);
