/** Input and output at a terminal of 80 columns. */
import { expect, test } from "bun:test";
import { createCliEnvironment, createServedEnvironment } from "../program.ts";
import { CTRL_C, ENTER, startSession } from "../session.ts";

test("user create asks for missing values, and hides the password", async () => {
  using place = createCliEnvironment();
  using session = startSession(place, ["user", "create", "--super-admin"]);
  await session.sees("E-mail");
  session.types(ENTER);
  await session.sees("must not be empty");
  session.types(`ann@example.org${ENTER}`);
  await session.sees("Password");
  session.types(`short${ENTER}`);
  await session.sees("must have at least 8 characters");
  session.types(`${"\b".repeat(5)}correct-horse${ENTER}`);
  await session.sees("The same once more");
  session.types(`other-horse${ENTER}`);
  await session.sees("the two passwords differ: type both again");
  await session.sees("Password");
  session.types(`correct-horse${ENTER}`);
  await session.sees("The same once more");
  session.types(`correct-horse${ENTER}`);
  await session.sees("created super admin ann@example.org");
  const { code, shown } = await session.ended();
  expect(code).toBe(0);
  expect(shown).not.toContain("correct-horse");
  const create = (...words: string[]) =>
    place.svc(["user", "create", ...words, "--password", "correct-horse"]);
  const again = await create("ann@example.org");
  expect(again.err).toContain("there is a user with e-mail ann@example.org already");
  expect((await create("ann")).err).toStartWith('error: <email>: "ann" is not an e-mail address');
  const twice = await create("bob@example.org", "--email", "bob@example.com");
  expect(twice).toMatchObject({ code: 2, err: expect.stringContaining("the e-mail is given twice") });
}, 60_000);

test("variable set asks for the value; Ctrl-C at a question exits with 130 and changes nothing", async () => {
  await using place = await createServedEnvironment();
  const owner = "ann@example.org";
  await place.svc(["user", "create", "--email", owner, "--password", "correct-horse"]);
  await place.svc(["workspace", "create", "acme", "--name", "Acme", "--owner", owner]);
  using asked = startSession(place, ["variable", "set", "u/ann/region"]);
  await asked.sees("Value of u/ann/region");
  asked.types(`eu-1${ENTER}`);
  await asked.sees("created u/ann/region");
  expect((await asked.ended()).code).toBe(0);
  using left = startSession(place, ["variable", "set", "u/ann/region", "--secret"]);
  await left.sees("Value of u/ann/region");
  left.types(`eu-2${CTRL_C}`);
  await left.sees("error: canceled, nothing was done");
  const { code, shown } = await left.ended();
  expect({ code, stack: /^\s+at /m.test(shown) }).toEqual({ code: 130, stack: false });
  expect((await place.svc(["variable", "get", "u/ann/region"])).out).toBe("eu-1\n");
}, 60_000);

test.each<{ words: string[]; head: string[]; row: string[] }>([
  {
    words: ["routes", "tokens"],
    head: ["METHOD", "PATH", "ACCESS"],
    row: ["GET", "/api/w/{workspace}/scripts/list_tokens/{path}", "member"],
  },
  {
    words: ["api", "--list", "users/whoami"],
    head: ["METHOD", "PATH", "ACCESS", "FILE"],
    row: ["GET", "/api/w/{workspace}/users/whoami", "member", "…members/member-operations.ts"],
  },
  {
    words: ["api", "--list", "jobs/restart/f"],
    head: ["METHOD", "PATH", "ACCESS"],
    row: ["POST", "/api/w/{workspace}/jobs/restart/f/{job_id}/from/{step_id}/{br…", "member"],
  },
])(
  "a list is a table that fits: $words",
  async ({ words, head, row }) => {
    using place = createCliEnvironment();
    using session = startSession(place, words);
    await session.sees(row[0]!);
    const { code, shown } = await session.ended();
    const lines = shown.trimEnd().split(/\r?\n/);
    expect(code).toBe(0);
    const rows = lines.map((line) => line.trim().split(/ +/));
    expect(rows[0]).toEqual(head);
    expect(rows).toContainEqual(row);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  },
  60_000,
);

test("a job's log begins with its id and sandbox on a terminal; a pipe gets the log alone", async () => {
  using place = createCliEnvironment();
  await place.file("says.ts", `export const main = () => console.log("a word")`);
  const { err, out } = await place.svc(["run", "says.ts", "--json"]);
  const id = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(
    `${err}${out}${(await place.svc(["job", "list"])).out}`,
  )?.[0];
  expect(id).toBeString();
  using session = startSession(place, ["job", "logs", id!]);
  await session.sees("a word");
  const { shown } = await session.ended();
  const text = shown.replaceAll(/\s+/g, " ");
  expect(text).toMatch(new RegExp(`^job=${id} tag=\\S+ worker=\\S+ hostname=\\S+ isolation=.+ a word $`));
  expect((await place.svc(["job", "logs", id!])).out).toBe("a word\n");
}, 60_000);

/**
 * Clears the screen, renames the window, fills the clipboard, hides a link; also as C1 bytes; and reverses
 * text.
 */
const COMMANDS = [
  "\u001b[2J",
  "\u001b]0;title\u0007",
  "\u001b]52;c;Y2FuYXJ5\u0007",
  "\u001b]8;;http://x.test\u001b\\",
  "\u009b2J",
  "\u001bc",
  "\b\b",
  "\u007f",
  "\u202e",
].join("a");
const RED = "\u001b[31m";
/**
 * Permitted control characters: colors, line ends, tabs, and those of the spinner that slow commands show.
 */
const HARMLESS = new RegExp(`${"\u001b"}\\[([\\d;]*m|\\?(25|2026)[lh]|\\d*[GKA])|[\\r\\n\\t]`, "g");

test("control characters in texts of jobs and users are escaped on a terminal; a pipe gets them unchanged", async () => {
  using place = createCliEnvironment();
  const said = JSON.stringify(`${RED}red${COMMANDS}`);
  const { email, run } = { email: "ann@example.org", run: (...words: string[]) => place.svc(words) };
  await run("user", "create", "--email", email, "--password", "correct-horse");
  await run("workspace", "create", "acme", "--name", "Acme", "--owner", email);
  await place.file("says.ts", `export const main = () => { console.log(${said}); return ${said}; };\n`);
  await place.file("fails.ts", `export const main = () => { throw new Error(${said}); };\n`);
  await place.file("plain.sh", `printf '%b' '\\033[31mred\\033[2J\\n' >&2; echo done\n`);
  await run("run", "says.ts");
  const { id } = JSON.parse((await run("job", "list", "--json")).out)[0];
  const result = ["job", "result", id, "--workspace", "acme"];
  const logs = ["job", "logs", id, "--workspace", "acme"];
  expect(JSON.parse((await run(...result)).out)).toBe(JSON.parse(said));
  expect((await run(...logs)).out).toContain("\u001b[2J");
  for (const words of [result, logs, ["run", "says.ts"], ["run", "fails.ts"], ["run", "plain.sh"]]) {
    using session = startSession(place, words);
    const { raw } = await session.ended();
    expect([words, /[\p{Cc}\p{Bidi_Control}]/u.exec(raw.replace(HARMLESS, ""))]).toEqual([words, null]);
    if (words === logs) expect(raw).toContain(`${RED}red\\u001b[2J`);
  }
}, 60_000);

test("a script without main is deployed as importable only, without a hint how to run it", async () => {
  await using place = await createServedEnvironment();
  const owner = "ann@example.org";
  await place.svc(["user", "create", "--email", owner, "--password", "correct-horse"]);
  await place.svc(["workspace", "create", "acme", "--name", "Acme", "--owner", owner]);
  await place.file("shared.ts", "export const rate = 0.19;");
  await place.file("bill.ts", "export const main = (amount: number) => amount;");
  for (const [file, said, unsaid] of [
    ["shared.ts", "it has no function main: other scripts can import it", "svc run"],
    ["bill.ts", "run:     svc run u/ann/code amount=", "no function main"],
  ] as const) {
    using session = startSession(place, ["script", "push", file, "u/ann/code", "--no-wait"]);
    const { code, shown } = await session.ended();
    expect({ code, shown }).toEqual({ code: 0, shown: expect.stringContaining(said) });
    expect(shown).not.toContain(unsaid);
  }
}, 60_000);
