/** Every command, found through the help texts, as a user would. Each describes itself, with an example. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { type CliEnvironment, createCliEnvironment } from "../program.ts";
import { startSession } from "../session.ts";

interface Help {
  words: string[];
  out: string;
}

/** One process loads all commands instead of one process each. */
const WALK = `
const { createProgram } = await import(process.argv.at(-1));
const helps = [];
const add = (command, words) => {
  let out = "";
  command.configureOutput({ writeOut: (text) => { out += text; } });
  command.outputHelp();
  helps.push({ words, out });
  for (const child of command.commands) add(child, [...words, child.name()]);
};
const names = (await createProgram([])).commands.map((command) => command.name());
for (const name of names) {
  const program = await createProgram([name]);
  add(program.commands.find((command) => command.name() === name), [name]);
}
process.stdout.write(JSON.stringify(helps));
process.exit();
`;

function allHelps(place: CliEnvironment): Help[] {
  const program = join(import.meta.dir, "../../../cli/program.ts");
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", WALK, program], {
    cwd: place.folder,
    env: place.environment,
  });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

/** Returns the commands listed below `Commands:`. */
function verbsOf(help: string): string[] {
  const listed = help.split("\nCommands:\n")[1]?.split("\n\n")[0] ?? "";
  return [...listed.matchAll(/^ {2}(\S+)/gm)].map((match) => match[1]!);
}

/** Returns the description, between the usage and the first list. */
const descriptionOf = (help: string) => help.split("\n\n")[1] ?? "";

test("every command has a summary and an example, in 80 columns", () => {
  using place = createCliEnvironment();
  const helps = allHelps(place);
  expect(helps.map(({ words }) => words.join(" "))).toEqual(
    expect.arrayContaining(["serve", "job list", "trigger http create", "workspace settings set"]),
  );
  const faults = helps.flatMap(({ words, out }) => {
    const isNoun = verbsOf(out).length > 0;
    const named = ["svc", ...words].join(" ");
    const wrong: Record<string, boolean> = {
      "begins with its usage": !out.startsWith(`Usage: ${named}`),
      "has a description": !/^[A-Za-z]/.test(descriptionOf(out)),
      "has an example": !out.includes(`\nExamples:\n  $ `),
      "has an example of itself": out.split(`$ ${named}`).length < 2 && !out.includes(`| ${named}`),
      "lists --json": !isNoun && !out.includes("--json "),
      "is 80 columns wide at most": out.split("\n").some((line) => line.length > 80),
      "describes what it lists": /^ {2}(?:-\S|[a-z])[^ ]*$/m.test(out.split("\nExamples:")[0]!),
    };
    return Object.entries(wrong).flatMap(([what, is]) => (is ? [`${named}: ${what}`] : []));
  });
  expect(faults).toEqual([]);
}, 120_000);

test("help is found on request, and both words for showing work", async () => {
  using place = createCliEnvironment();
  const [asked, option] = await Promise.all([
    place.svc(["help", "job", "list"]),
    place.svc(["job", "list", "--help"]),
  ]);
  expect(asked).toEqual(option);
  expect(asked).toMatchObject({ code: 0, out: expect.stringContaining("Usage: svc job list") });
  expect((await place.svc(["help"])).out).toContain("Start:\n  init");
  const helps = await Promise.all([
    place.svc(["job", "show", "--help"]),
    place.svc(["flow", "get", "--help"]),
  ]);
  expect(helps.map(({ out }) => out.split("\n")[0])).toEqual([
    "Usage: svc job show|get [options] <id>",
    "Usage: svc flow show|get [options] <path>",
  ]);
  expect(await place.svc(["routes", "no-such-thing"])).toEqual({
    code: 0,
    out: "",
    err: 'no operation has a path or name with "no-such-thing", or serves it as a URL\n',
  });
}, 60_000);

test("a typo is answered with a suggestion", async () => {
  using place = createCliEnvironment();
  const slips: [words: string[], meant: string][] = [
    [["psuh"], "push"],
    [["comletion"], "completion"],
    [["varable", "list"], "variable"],
    [["trigger", "htpp"], "http"],
    [["trigger", "http", "creat"], "create"],
    [["workspace", "settings", "sett"], "set"],
    [["push", "--dry-rnu"], "--dry-run"],
    [["trigger", "list", "--jsno"], "--json"],
    [["init", "--lisen", "1"], "--listen"],
  ];
  const ended = await Promise.all(slips.map(([words]) => place.svc(words)));
  expect(ended.map(({ code, err }) => [code, err.split("\n")[1]])).toEqual(
    slips.map(([, meant]) => [2, `hint: Did you mean ${meant}?`]),
  );
}, 60_000);

test("colours are used on terminals only, and not with NO_COLOR", async () => {
  using place = createCliEnvironment();
  const ESCAPE = String.fromCharCode(27);
  const commands = [
    ["folder", "--bogus"],
    ["routes", "whoami"],
    ["config", "list"],
    ["serve", "--help"],
  ];
  for (const words of commands) {
    const piped = await place.svc(words);
    expect({ words, piped: `${piped.out}${piped.err}`.includes(ESCAPE) }).toEqual({ words, piped: false });
    using session = startSession(place, words, { NO_COLOR: "1" });
    expect({ words, painted: PAINT.test((await session.ended()).raw) }).toEqual({ words, painted: false });
  }
  using painted = startSession(place, ["folder", "--bogus"]);
  expect((await painted.ended()).raw).toMatch(PAINT);
}, 60_000);

/** Select Graphic Rendition (ECMA-48 §8.3.117) of a colour. Bold and dim are not colours. */
const PAINT = new RegExp(`${String.fromCharCode(27)}\\[(?:3|9)\\d`);
