/** Messages about wrong use of the command line. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createCliEnvironment, formatError } from "../../program.ts";

const DATA_HINT = `such as -d '{"name":"Bob"}', -d @file, or -d - for stdin`;
const NO_TERMINAL = "there is no terminal to prompt on";
const JSON_FAULT = "--data is not JSON: JSON Parse error: Expected '}'";

const TIME_HINT = "such as 2030-01-31, 2030-01-31T09:00 (this machine's time zone) or 2030-01-31T09:00:00Z";
const NOBODY = "00000000-0000-0000-0000-000000000000";

/** The arguments, the error and its hint. */
const MISTAKES: [args: string[], error: string, hint?: string][] = [
  [["frobnicate"], "unknown command 'frobnicate'", "see svc --help"],
  [["scrip", "list"], "unknown command 'scrip'", "Did you mean script?"],
  [["variable", "gte", "u/a/b"], "unknown command 'gte'", "Did you mean get?"],
  [["--bogus"], "unknown option '--bogus'", "see svc --help"],
  [
    ["--data-dir", "d", "whoami"],
    "unknown option '--data-dir'",
    "options come after the command: svc whoami --data-dir …",
  ],
  [["scrip", "--help"], "unknown command 'scrip'", "Did you mean script?"],
  [["help", "scrip"], "unknown command 'scrip'", "Did you mean script?"],
  [["folder", "set-perm", "data", "u/bob", "all"], "<right> all: must be read, write or none"],
  [["run", "u/a/b", "--tiemout", "1"], "unknown option '--tiemout'", "Did you mean --timeout?"],
  [["run"], "missing required argument 'path'", "see svc run --help"],
  [["run", "u/a/b", "--data"], "option '-d, --data <json>' argument missing", "see svc run --help"],
  [["run", "u/a/b", "-d", "{bad}"], JSON_FAULT, DATA_HINT],
  [["run", "u/a/b", "-d", "@bad.json"], JSON_FAULT, DATA_HINT],
  [
    ["run", "u/a/b", "-d", "[1]"],
    "--data must be a JSON object: its keys are the script's arguments",
    DATA_HINT,
  ],
  [["run", "u/a/b", "-d", "@none.json"], "there is no file none.json"],
  [["run", "u/a/b", "--timeout", "soon"], "--timeout soon: must be a whole number"],
  [["run", "u/a/b", "--at", "soon"], "--at soon: is not a time", TIME_HINT],
  [["run", "u/a/b", "--at", "2030-02-31T09:00"], "--at 2030-02-31T09:00: is not a time", TIME_HINT],
  [
    ["run", "u/a/b", "--in", "soon"],
    '--in: "soon" is not a duration: write a number and s, m, h, d or w, such as 30d',
  ],
  [["run", "u/a/b", "--in", "9999999999w"], "--in 9999999999w: must be at most 36500d"],
  [
    ["run", "u/a/b", "--at", "2030-01-31", "--in", "2h"],
    "option '--at <time>' cannot be used with option '--in <time>'",
    "see svc run --help",
  ],
  [
    ["run", "u/a/b", "--stream", "--async"],
    "option '--stream' cannot be used with option '--async'",
    "see svc run --help",
  ],
  [
    ["run", "none.ts"],
    "there is no file none.ts",
    "the path of a script begins with u/ or f/, such as u/ann/hello",
  ],
  [
    ["run", "./bad.json"],
    "bad.json: the language is chosen by the file's ending, which must be one of .ts .mts .js .mjs .sh .py .pg.sql .my.sql .sqlite.sql .gql .go .php .rb .rs .ps1",
  ],
  [["script", "push", "none.ts", "u/a/b"], "there is no file none.ts"],
  [["script", "push", "a.ts"], "the path is missing", "svc script push <file> u/<user>/<name>"],
  [
    ["script", "push", "a.ts", "u/a/b", "--path", "u/a/c"],
    "two paths were given: u/a/b and --path u/a/c",
    "leave one of them out",
  ],
  [["workspace", "create", "acme"], "--owner is missing", NO_TERMINAL],
  [["user", "create"], "--email is missing", NO_TERMINAL],
  [["user", "create", "--email", "ann@example.org"], "--password is missing", NO_TERMINAL],
  [["token", "create", "--label", "laptop"], "--email is missing", NO_TERMINAL],
  [
    ["token", "create", "--email", "a@b.c", "--expires-in", "soon"],
    '--expires-in: "soon" is not a duration: write a number and s, m, h, d or w, such as 30d',
  ],
  [["token", "list"], "--email is missing", "the tokens of which user: svc user list lists them"],
  [
    ["variable", "set", "u/a/b", "--workspace", "acme"],
    "<value> is missing",
    `${NO_TERMINAL}; write - instead to read it from stdin`,
  ],
  [
    ["workspace", "list", "--url", "localhost:80"],
    '"localhost:80" is not the URL of a server',
    "write it such as http://localhost:8000",
  ],
  [["job", "get"], "missing required argument 'id'", "see svc job show --help"],
  [["job", "get", "12"], '"12" is not the id of a job: it must be a UUID', "svc job list"],
  [["job", "cancel", NOBODY, "x"], '"x" is not the id of a job: it must be a UUID', "svc job list"],
  [
    ["job", "list", "--status", "done"],
    "option '--status <state>' argument 'done' is invalid. Allowed choices are queued, running, waiting, success, failure, canceled.",
    "see svc job list --help",
  ],
  [["job", "list", "--limit", "0"], "--limit 0: must be a number from 1 to 10000"],
  [["job", "list", "--page", "0"], "--page 0: must be a number from 1 to 1000000"],
  [["job", "list", "--since", "yesterday"], "--since yesterday: is not a time", TIME_HINT],
  [
    ["job", "list", "--before", "2x"],
    '--before: "2x" is not a duration: write a number and s, m, h, d or w, such as 30d',
  ],
  [["serve", "--port", "99999"], "--port 99999: must be a number from 0 to 65535"],
  [["demo", "--port", "x"], "--port x: must be a number from 0 to 65535"],
];

test("usage errors exit with 2 and change nothing", async () => {
  using place = createCliEnvironment();
  await place.file("bad.json", "{bad}");
  await place.file("a.ts", "export function main() {}");
  const ended = await Promise.all(MISTAKES.map(([args]) => place.svc(args)));
  for (const [index, [args, error, hint]] of MISTAKES.entries()) {
    expect({ args, ...ended[index] }).toEqual({ args, code: 2, out: "", err: formatError(error, hint) });
  }
  expect(readdirSync(place.data_dir)).toEqual([]);
}, 60_000);

test("with --json the error is one JSON value on stderr", async () => {
  using place = createCliEnvironment();
  const cases: [string[], number, object][] = [
    [
      ["frobnicate", "--json"],
      2,
      { name: "Usage", message: "unknown command 'frobnicate'", hint: "see svc --help" },
    ],
    [["user", "create", "--json"], 2, { name: "Usage", message: "--email is missing", hint: NO_TERMINAL }],
    [
      ["variable", "get", "u/a/b", "--workspace", "nope", "--json"],
      1,
      { name: "NotFound", message: "there is no workspace nope" },
    ],
  ];
  for (const [args, code, error] of cases) {
    const ended = await place.svc(args);
    expect({ code: ended.code, out: ended.out, error: JSON.parse(ended.err) }).toEqual({
      code,
      out: "",
      error: { error },
    });
  }
}, 60_000);
