/** The commands that the console displays exist, and have the displayed options. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { Command } from "commander";
import { createProgram } from "../../../cli/program.ts";

const CONSOLE = join(import.meta.dir, "../../../src/console");

const SHOWN = [...new Glob("**/*.tsx").scanSync(CONSOLE)].flatMap((file) =>
  [...readFileSync(join(CONSOLE, file), "utf8").matchAll(/command=(?:"|\{`)svc ([^"`]+)/g)].map(
    ([, line]) => line!,
  ),
);

/** Follows the words to a command without subcommands. */
function find(command: Command, words: string[]): Command | undefined {
  const [word, ...rest] = words;
  if (command.commands.length === 0 || word?.startsWith("-")) return command;
  const child = command.commands.find((each) => each.name() === word);
  return child && find(child, rest);
}

test("the console shows commands", () => expect(SHOWN.length).toBeGreaterThan(5));

test.each(SHOWN)("svc %s", async (line) => {
  const words = line.split(" ");
  const command = find(await createProgram(words), words);
  // A noun may stand for its default command.
  const options = [command, ...(command?.commands ?? [])].flatMap((each) =>
    (each?.options ?? []).map(({ long }) => long),
  );
  expect(command).toBeDefined();
  expect(words.filter((word) => word.startsWith("--") && !options.includes(word))).toEqual([]);
});
