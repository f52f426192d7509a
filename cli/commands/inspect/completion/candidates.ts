/**
 * What may stand at the end of a command line: asked by the shells' scripts as `svc __complete -- <words>`. It answers a
 * candidate a line, with a tab and what it means where that is known; nothing where file names may stand.
 */
import type { Argument, Command, Option } from "commander";
import { connectIfUp } from "../../../client/transport.ts";
import { targetOf } from "../../../program/command.ts";

export interface Candidate {
  text: string;
  meaning: string;
}

/** Somebody waits with a finger on the key. */
const PATIENCE_MS = 1_000;

/**
 * @param words what stands behind `svc`; the last one is being typed, and may be empty
 * @param programFor the commands, those of the given words loaded
 */
export async function candidates(
  words: readonly string[],
  programFor: (words: string[]) => Promise<Command>,
): Promise<Candidate[]> {
  const joined = joinEquals(words);
  const typed = joined.at(-1) ?? "";
  const before = joined.slice(0, -1);
  const line = readLine(await programFor([...before]), before);
  const [, flag, start] = /^(--[^=]+)=(.*)$/.exec(typed) ?? [];
  const option = flag === undefined ? line.open : optionOf(line.command, flag);
  // A shell that takes `=` for the end of a word completes what is behind it alone.
  const prefix = flag !== undefined && words.at(-1) === typed ? `${flag}=` : "";
  const found = await (option
    ? valuesOf(option, line, start ?? typed)
    : typed.startsWith("-")
      ? optionsOf(line)
      : wordsAt(line, typed));
  const wanted = start ?? typed;
  return found
    .filter(({ text }) => text.startsWith(wanted))
    .map(({ text, meaning }) => ({ text: prefix + text, meaning }));
}

/** bash parts `--workspace=acme` into three words. */
function joinEquals(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last?.startsWith("--") && (word === "=" || last.endsWith("="))) joined[joined.length - 1] += word;
    else joined.push(word);
  }
  return joined;
}

interface Line {
  command: Command;
  /** What was given of options, by their long names. */
  given: Map<string, string>;
  /** The option whose value comes next. */
  open: Option | undefined;
  /** How many arguments the command has been given. */
  count: number;
}

function readLine(program: Command, words: readonly string[]): Line {
  const line: Line = { command: program, given: new Map(), open: undefined, count: 0 };
  for (const word of words) {
    if (line.open) {
      line.given.set(line.open.long ?? "", word);
      line.open = undefined;
    } else if (word.startsWith("-")) readOption(line, word);
    else {
      const inner =
        line.count === 0
          ? line.command.commands.find((child) => child.name() === word || child.aliases().includes(word))
          : undefined;
      if (inner) line.command = inner;
      else line.count++;
    }
  }
  return line;
}

function readOption(line: Line, word: string): void {
  const [name = "", ...value] = word.split("=");
  const option = optionOf(line.command, name);
  if (value.length > 0) line.given.set(name, value.join("="));
  else if (option?.required) line.open = option;
  else line.given.set(name, "");
}

const optionOf = (command: Command, name: string): Option | undefined =>
  command.options.find(({ short, long }) => name === short || name === long);

function optionsOf({ command, given }: Line): Candidate[] {
  const help = { text: "--help", meaning: "display help for command" };
  const own = command.options
    .filter(({ hidden, long }) => !hidden && long && !given.has(long))
    .map(({ long, description }) => ({ text: long!, meaning: description }));
  return [...own, help];
}

async function wordsAt(line: Line, typed: string): Promise<Candidate[]> {
  const { command, count } = line;
  if (command.commands.length > 0 && count === 0) {
    return command.commands.map((child) => ({
      text: child.name(),
      meaning: child.summary() || child.description(),
    }));
  }
  const given = command.registeredArguments;
  const argument = given[count] ?? (given.at(-1)?.variadic ? given.at(-1) : undefined);
  return argument ? argumentsAt(argument, line, typed) : [];
}

async function argumentsAt(argument: Argument, line: Line, typed: string): Promise<Candidate[]> {
  if (argument.argChoices) return plain(argument.argChoices);
  const { command } = line;
  const noun = command.parent?.parent ? command.parent.name() : command.name();
  if (noun === "workspace" && argument.name() === "id") return workspaces(line);
  const places = argument.name() === "path" || argument.name() === "name" ? (LISTS[noun] ?? []) : [];
  const lists = await Promise.all(places.map((place) => namesAt(line, place, typed)));
  return lists.flat();
}

/** Below a workspace, by the noun whose paths or names they list. */
const LISTS: Record<string, readonly string[]> = {
  run: ["scripts/list", "flows/list"],
  script: ["scripts/list"],
  flow: ["flows/list"],
  variable: ["variables/list"],
  resource: ["resources/list"],
  "resource-type": ["resources/type/listnames"],
  schedule: ["schedules/list"],
  trigger: ["http_triggers/list", "websocket_triggers/list"],
  folder: ["folders/listnames"],
  group: ["groups/listnames"],
};

async function valuesOf(option: Option, line: Line, typed: string): Promise<Candidate[]> {
  if (option.argChoices) return plain(option.argChoices);
  if (option.long === "--workspace") return workspaces(line);
  if (option.long === "--prefix" || option.long === "--only") return namesAt(line, "scripts/list", typed);
  return [];
}

const plain = (texts: readonly string[]): Candidate[] => texts.map((text) => ({ text, meaning: "" }));

async function workspaces(line: Line): Promise<Candidate[]> {
  const found = (await ask(line, "workspaces/list")) as { id: string; name: string }[];
  return found.map(({ id, name }) => ({ text: id, meaning: name }));
}

async function namesAt(line: Line, place: string, typed: string): Promise<Candidate[]> {
  const named = line.given.get("--workspace") ?? process.env.SVC_WORKSPACE;
  const all = named ? undefined : await workspaces(line);
  const workspace = named || (all?.length === 1 ? all[0]!.text : undefined);
  if (!workspace) return [];
  const query = new URLSearchParams({ path_start: typed, per_page: "200" });
  const found = await ask(line, `w/${encodeURIComponent(workspace)}/${place}?${query}`);
  return (found as (string | { path: string; summary?: string })[]).map((each) =>
    typeof each === "string" ? { text: each, meaning: "" } : { text: each.path, meaning: each.summary ?? "" },
  );
}

/** What a server that is up answers; the data directory itself is not opened for this. */
async function ask({ given }: Line, path: string): Promise<unknown[]> {
  const { token, ...target } = targetOf({
    ...(given.has("--data-dir") && { dataDir: given.get("--data-dir")! }),
    ...(given.has("--url") && { url: given.get("--url")! }),
    ...(given.has("--token") && { token: given.get("--token")! }),
  });
  const client = await connectIfUp({ ...target, token });
  if (!client) return [];
  const response = await client.send(`/api/${path}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const found: unknown = response.ok ? await response.json() : [];
  return Array.isArray(found) ? found : [];
}
