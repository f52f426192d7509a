/**
 * Completion candidates of a command line, for the shell scripts, which call `svc __complete -- <words>`. It prints one
 * candidate per line, with a tab and its meaning if known; nothing where file names are expected.
 */
import type { Argument, Command, Option } from "commander";
import { readDefaultWorkspace } from "../../../client/default-workspace.ts";
import { findRunningServer, type ServiceClient } from "../../../client/transport.ts";
import { resolveConnection } from "../../../program/command.ts";

export interface Candidate {
  text: string;
  meaning: string;
}

/** Completion must be fast: a user waits for it. */
const REPLY_TIMEOUT_MS = 1_000;

/**
 * Lists the completions of the word that is being typed.
 * @param words the words after `svc`; the last one is being typed, and may be empty
 * @param programFor creates the commands, with those of the given words loaded
 */
export async function listCandidates(
  words: readonly string[],
  programFor: (words: string[]) => Promise<Command>,
): Promise<Candidate[]> {
  const joined = joinEquals(words);
  const typed = joined.at(-1) ?? "";
  const before = joined.slice(0, -1);
  const line = parseLine(await programFor([...before]), before);
  const [, flag, start] = /^(--[^=]+)=(.*)$/.exec(typed) ?? [];
  const option = flag === undefined ? line.open : findOption(line.command, flag);
  // A shell that splits words at `=` expects only the value.
  const prefix = flag !== undefined && words.at(-1) === typed ? `${flag}=` : "";
  const found = await (option
    ? listValues(option, line, start ?? typed)
    : typed.startsWith("-")
      ? listOptions(line)
      : listWords(line, typed));
  const wanted = start ?? typed;
  return found
    .filter(({ text }) => text.startsWith(wanted))
    .map(({ text, meaning }) => ({ text: prefix + text, meaning }));
}

/** Joins words that bash splits at `=`: `--workspace=acme` becomes three. */
function joinEquals(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last?.startsWith("--") && (word === "=" || last.endsWith("="))) joined[joined.length - 1] += word;
    else joined.push(word);
  }
  return joined;
}

interface CommandLine {
  command: Command;
  /** Values of the options given so far, by long name. */
  given: Map<string, string>;
  /** The option whose value is expected next. */
  open: Option | undefined;
  /** Number of arguments given to the command. */
  count: number;
}

function parseLine(program: Command, words: readonly string[]): CommandLine {
  const line: CommandLine = { command: program, given: new Map(), open: undefined, count: 0 };
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

function readOption(line: CommandLine, word: string): void {
  const [name = "", ...value] = word.split("=");
  const option = findOption(line.command, name);
  if (value.length > 0) line.given.set(name, value.join("="));
  else if (option?.required) line.open = option;
  else line.given.set(name, "");
}

const findOption = (command: Command, name: string): Option | undefined =>
  command.options.find(({ short, long }) => name === short || name === long);

function listOptions({ command, given }: CommandLine): Candidate[] {
  const help = { text: "--help", meaning: "display help for command" };
  const own = command.options
    .filter(({ hidden, long }) => !hidden && long && !given.has(long))
    .map(({ long, description }) => ({ text: long!, meaning: description }));
  return [...own, help];
}

async function listWords(line: CommandLine, typed: string): Promise<Candidate[]> {
  const { command, count } = line;
  if (command.commands.length > 0 && count === 0) {
    return command.commands.map((child) => ({
      text: child.name(),
      meaning: child.summary() || child.description(),
    }));
  }
  const given = command.registeredArguments;
  const argument = given[count] ?? (given.at(-1)?.variadic ? given.at(-1) : undefined);
  return argument ? listArguments(argument, line, typed) : [];
}

async function listArguments(argument: Argument, line: CommandLine, typed: string): Promise<Candidate[]> {
  if (argument.argChoices) return toCandidates(argument.argChoices);
  const { command } = line;
  const noun = command.parent?.parent ? command.parent.name() : command.name();
  if (argument.name() === "right") return toCandidates(RIGHTS);
  if (argument.name() === "key") return toCandidates(await listKeys(noun));
  if (argument.name() === "id" && (noun === "workspace" || noun === "settings")) return listWorkspaces(line);
  if (argument.name() === "id" && noun === "job") return listJobs(line);
  const places = listPlaces(noun, argument.name());
  const lists = await Promise.all(places.map((place) => listNames(line, place, typed)));
  return lists.flat();
}

/** Lists the operations that provide the values of an argument. */
function listPlaces(noun: string, argument: string): readonly string[] {
  if (argument === "target") return LIST_PATHS.run!;
  return argument === "path" || argument === "name" ? (LIST_PATHS[noun] ?? []) : [];
}

const RIGHTS = ["read", "write", "none"];

/** Lists the names of settings: those of the instance, or of a workspace. */
async function listKeys(noun: string): Promise<string[]> {
  if (noun === "config") {
    const { INSTANCE_SETTINGS } = await import("../../../../src/platform/config/instance-settings.ts");
    return Object.keys(INSTANCE_SETTINGS);
  }
  if (noun !== "settings") return [];
  return (await import("../../../client/setting-names.ts")).SETTING_NAMES;
}

/** Lists the newest jobs; `rerun`, `cancel` and the like take their ids. */
async function listJobs(line: CommandLine): Promise<Candidate[]> {
  const found = await fetchOfWorkspace(line, "jobs/list?per_page=20");
  return (found as { id: string; script_path?: string; success?: boolean; running?: boolean }[]).map(
    (job) => {
      const state =
        job.success === undefined
          ? job.running
            ? "running"
            : "queued"
          : job.success
            ? "success"
            : "failure";
      return { text: job.id, meaning: `${state}  ${job.script_path ?? "preview"}` };
    },
  );
}

/** List operations below a workspace, by the noun whose paths or names they return. */
const LIST_PATHS: Record<string, readonly string[]> = {
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

async function listValues(option: Option, line: CommandLine, typed: string): Promise<Candidate[]> {
  if (option.argChoices) return toCandidates(option.argChoices);
  if (option.long === "--workspace") return listWorkspaces(line);
  if (option.long === "--prefix" || option.long === "--only") return listNames(line, "scripts/list", typed);
  return [];
}

const toCandidates = (texts: readonly string[]): Candidate[] => texts.map((text) => ({ text, meaning: "" }));

async function listWorkspaces(line: CommandLine): Promise<Candidate[]> {
  const found = (await fetchList(line, "workspaces/list")) as { id: string; name: string }[];
  return found.map(({ id, name }) => ({ text: id, meaning: name }));
}

async function listNames(line: CommandLine, place: string, typed: string): Promise<Candidate[]> {
  const query = new URLSearchParams({ path_start: typed, per_page: "200" });
  const found = await fetchOfWorkspace(line, `${place}?${query}`);
  return (found as (string | { path: string; summary?: string })[]).map((each) =>
    typeof each === "string" ? { text: each, meaning: "" } : { text: each.path, meaning: each.summary ?? "" },
  );
}

/** Requests a list of the workspace that the command would work in. */
async function fetchOfWorkspace(line: CommandLine, path: string): Promise<unknown[]> {
  const client = await openServer(line);
  const named =
    line.given.get("--workspace") ||
    process.env.SVC_WORKSPACE ||
    (client && readDefaultWorkspace(client.where));
  const all = named ? undefined : await listWorkspaces(line);
  const workspace = named || (all?.length === 1 ? all[0]!.text : undefined);
  return workspace ? fetchList(line, `w/${encodeURIComponent(workspace)}/${path}`) : [];
}

/** Requests a list from a running server; the data directory itself is not opened for this. */
async function fetchList(line: CommandLine, path: string): Promise<unknown[]> {
  const client = await openServer(line);
  if (!client) return [];
  const response = await client.send(`/api/${path}`, { signal: AbortSignal.timeout(REPLY_TIMEOUT_MS) });
  const found: unknown = response.ok ? await response.json() : [];
  return Array.isArray(found) ? found : [];
}

function openServer({ given }: CommandLine): Promise<ServiceClient | undefined> {
  const { token, ...target } = resolveConnection({
    ...(given.has("--data-dir") && { dataDir: given.get("--data-dir")! }),
    ...(given.has("--url") && { url: given.get("--url")! }),
    ...(given.has("--token") && { token: given.get("--token")! }),
  });
  return findRunningServer({ ...target, token });
}
