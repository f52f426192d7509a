/** Arguments of bash scripts: `$1`, `$2`, … as usual, and unreadable for other users of the machine. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

const SECRET = "s3cr3t-of-the-shell-4711";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  const secret = { path: "u/admin/shell", value: SECRET, is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", secret));
});
afterAll(() => server.stop());

let deployed = 0;
async function run(content: string, args: object, more: object = {}): Promise<unknown> {
  const path = `u/admin/sh_${deployed++}`;
  await deploy(ask, "acme", path, content, { language: "bash", ...more });
  return (await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args))).json();
}

test.each([
  ["quotes", `it's "so" \`date\` $(date) $HOME \\ \\' !`],
  ["lines", "one\n\ttwo\n\nthree\n"],
  ["other letters", "üñí 🙂 \u2028"],
  ["a beginning like an option's", "-e --"],
  ["only a space", " "],
  ["nothing", ""],
  ["more than the system lets a program be started with", "x".repeat(300_000)],
])("an argument arrives unchanged: %s", async (_, text) => {
  const content = `a="$1"\nb="$2"\nprintf '%s.%s' "$a" "$b" | base64 -w0 > result.out`;
  const result = (await run(content, { a: text, b: "last" })) as string;
  expect(Buffer.from(result, "base64").toString()).toBe(`${text}.last`);
});

test("a script starts as if run by name: its own `$0`, no further arguments, no trace of how they were passed", async () => {
  const content = [
    'a="$1"',
    "set -u",
    "inner=$(bash -c 'echo \"$# ${BASH_ENV-none}\"')",
    "open=$(ls -l /proc/self/fd | grep -c memfd)",
    // With SHELL set, bash does not look up its user when it starts.
    "shell=$(env | grep -c '^SHELL=/.*bash$')",
    'echo "$# $(basename "$0") ${BASH_SOURCE[0]##*/} $LINENO ${BASH_ENV-none} $inner $open $shell"',
  ].join("\n");
  expect(await run(content, { a: "x" })).toBe("1 main.sh main.sh 6 none 0 none 0 1");
});

test.each([
  [["POSIXLY_CORRECT=1"], "y"],
  [["BASH_ENV=/dev/null"], "/dev/null"],
])("variables that bash reads at startup are the script's: %p", async (envs, expected) => {
  const content = 'a="$1"\nshopt -qo posix && echo "$a y" || echo "$a $BASH_ENV"';
  expect(await run(content, { a: "given" }, { envs })).toBe(`given ${expected}`);
});

test("a secret from a reference is in no process's command line or environment", async () => {
  const content = [
    'a="$1"',
    // The environment of the programs that it starts, and its own command line.
    'env > said; echo "$0 $BASH_EXECUTION_STRING" >> said',
    `[ "$a" = ${SECRET} ] && ! grep -q "s3cr3t" said && echo "unseen in $(wc -l < said) lines"`,
  ].join("\n");
  expect(await run(content, { a: "$var:u/admin/shell" })).toMatch(/^unseen in \d\d+ lines$/);
});
