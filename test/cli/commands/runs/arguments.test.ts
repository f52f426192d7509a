/** Arguments as a user types them, and the stack of a local file. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, formatError } from "../../program.ts";
import { ENTER, startSession } from "../../session.ts";

let server: TestServer;
let place: CliEnvironment;
beforeAll(async () => {
  place = createCliEnvironment();
  server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace();
  const code =
    'export const main = (name: string, greeting = "Hello", n?: number) => [greeting, name, n ?? null]';
  await deploy(ask, "acme", "u/admin/hello", code);
});
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

const run = async (...words: string[]) => {
  const { code, out, err } = await place.svc([
    "run",
    "u/admin/hello",
    "--workspace",
    "acme",
    "--no-log",
    ...words,
  ]);
  return code === 0 ? (JSON.parse(out) as unknown) : { code, err };
};

test("words are arguments, by the types of the script", async () => {
  expect(await run("name=Bob")).toEqual(["Hello", "Bob", null]);
  expect(await run("name=7", "n=7", "greeting=a=b")).toEqual(["a=b", "7", 7]);
  expect(await run("-d", '{"name":"Ann","n":1}', "n=2")).toEqual(["Hello", "Ann", 2]);
  expect(await run("Bob")).toEqual({
    code: 2,
    err: formatError("Bob is not an argument", "write name=value, such as name=Bob, or -d with JSON"),
  });
}, 60_000);

test("missing and unknown arguments are reported before a job is created", async () => {
  const hint = 'the arguments are: name: string, greeting: string = "Hello", n?: number';
  const count = async () => (await server.operator("GET", "/w/acme/jobs/list?per_page=100")).json().length;
  const before = await count();
  expect(await run()).toEqual({ code: 2, err: formatError("the argument name is missing", hint) });
  expect(await run("name=Bob", "nmae=Bob")).toEqual({
    code: 2,
    err: formatError("there is no argument nmae", hint),
  });
  expect(await count()).toBe(before);
  using session = startSession(place, ["run", "u/admin/hello", "--workspace", "acme"]);
  await session.sees("name (string)");
  session.types(`Cy${ENTER}`);
  await session.sees('"Cy"');
  expect((await session.ended()).code).toBe(0);
}, 60_000);

test("arguments of a wrong type are reported before a job is created", async () => {
  const { ask } = await server.workspace("types");
  const code =
    "export const main = (n: number, on = false, list: string[] = [], more: object = {}) => [n, on, list, more]";
  await deploy(ask, "types", "u/admin/typed", code);
  const run = async (...words: string[]) => {
    const typed = ["run", "u/admin/typed", "--workspace", "types", "--no-log", ...words];
    const { code, out, err } = await place.svc(typed);
    return code === 0 ? (JSON.parse(out) as unknown) : { code, said: err.split("\n")[0] };
  };
  const refused = (said: string) => ({ code: 2, said: `error: the argument ${said}` });
  expect(await run("n=abc")).toEqual(refused('n must be a number, but is "abc"'));
  expect(await run("n=1", "on=yes")).toEqual(refused('on must be true or false, but is "yes"'));
  expect(await run("n=1", "list=a,b")).toEqual(refused('list must be a list in JSON, but is "a,b"'));
  expect(await run("n=1", "-d", '{"more":[1]}')).toEqual(
    refused("more must be an object in JSON, or a resource such as $res:u/ann/db, but is [1]"),
  );
  expect((await ask("GET", "/w/types/jobs/list")).json()).toEqual([]);
  await expectOk(
    ask("POST", "/w/types/variables/create", {
      path: "u/admin/n",
      value: "7",
      is_secret: false,
      description: "",
    }),
  );
  // References are resolved in the run; numbers keep all their digits.
  expect(await run("n=$var:u/admin/n", "on=true", 'list=["a"]')).toEqual(["7", true, ["a"], {}]);
  expect(await run("n=12345678901234567890", "on=null")).toEqual([expect.any(Number), null, [], {}]);
}, 60_000);

test("a syntax error is reported with file, line and column", async () => {
  await place.file("broken.ts", "export function main() {\n  return 1 +;\n}\n");
  const { code, err } = await place.svc(["run", "broken.ts", "--no-log"]);
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(
      /^error: broken\.ts:2:13: syntax error: Unexpected token\nhint: svc job show /,
    ),
  });
  const pushed = await place.svc(["script", "push", "broken.ts", "u/admin/broken", "--workspace", "acme"]);
  expect(pushed).toMatchObject({
    code: 1,
    err: expect.stringContaining("cannot run: broken.ts:2:13: syntax error"),
  });
  await place.file("ends.sh", "exit 3\n");
  expect((await place.svc(["run", "ends.sh", "--no-log"])).err).toStartWith(
    "error: the script exited with code 3\n",
  );
}, 60_000);

test.each([
  ["greet.ts", "export const main = (name: string) => name;"],
  ["greet.py", "def main(name: str):\n    return name\n"],
])(
  "the arguments of the local file %s are checked as well",
  async (file, code) => {
    await place.file(file, code);
    const hint = "the arguments are: name: string";
    const missing = await place.svc(["run", file]);
    expect(missing).toMatchObject({ code: 2, err: formatError("the argument name is missing", hint) });
    const unknown = await place.svc(["run", file, "name=Bob", "nmae=Bob"]);
    expect(unknown).toMatchObject({ code: 2, err: formatError("there is no argument nmae", hint) });
    expect((await place.svc(["run", file, "name=7", "--no-log"])).out).toContain('"7"');
  },
  60_000,
);

test("the stack of a local file names the file and its line", async () => {
  await place.file("fail.ts", "export function main() {\n  throw new RangeError('no');\n}\n");
  expect((await place.svc(["run", "fail.ts"])).err).toMatch(/^ +at main \(fail\.ts:2:\d+\)$/m);
  await place.file("tb.py", "def main():\n    return {}['nope']\n");
  const { err } = await place.svc(["run", "tb.py"]);
  expect(err).toContain("KeyError: 'nope'");
  expect(err).toContain('File "tb.py", line 2, in main');
}, 60_000);
