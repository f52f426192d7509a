/** What all commands share: their common options, and how their work is wrapped. */
import { Command, Help, Option } from "commander";
import type { JobsRole } from "../../src/platform/app/loop.ts";
import { isSameServer, readLogin } from "../client/login-file.ts";
import { type Client, connect, type Target } from "../client/transport.ts";
import { CliError, EXIT } from "../terminal/text/failure.ts";

export interface CommonOptions {
  dataDir?: string;
  url?: string;
  token?: string;
  json?: boolean;
}

const DATA_DIR = new Option(
  "--data-dir <folder>",
  "data directory to work on (env SVC_DATA_DIR, default .svc)",
);
const URL_OPTION = new Option("--url <url>", "reach a server over HTTP instead (env SVC_URL)");
const TOKEN = new Option("--token <token>", "token for --url (env SVC_TOKEN)");
const JSON_OPTION = new Option("--json", "print JSON");
const COMMON = [DATA_DIR, URL_OPTION, TOKEN, JSON_OPTION];

/** A command with the options of its like: it reaches the service anywhere, works on a directory only, or on nothing. */
export function leaf(
  name: string,
  summary: string,
  reach: "anywhere" | "directory" | "nothing" = "anywhere",
): Command {
  const command = new Command(name).description(summary).helpCommand(false).showSuggestionAfterError();
  if (reach !== "nothing") command.addOption(DATA_DIR);
  if (reach === "anywhere") command.addOption(URL_OPTION).addOption(TOKEN);
  return command.addOption(JSON_OPTION).configureHelp({ visibleOptions: ownFirst });
}

export interface WorkspaceOptions extends CommonOptions {
  workspace?: string;
}

/** A command that works in one workspace. */
export function inWorkspace(name: string, summary: string): Command {
  return leaf(name, summary).option("--workspace <id>", "workspace to work in (env SVC_WORKSPACE)");
}

/** A command's own options, and what all have in common after them. */
function ownFirst(this: Help, command: Command): Option[] {
  const all = Help.prototype.visibleOptions.call(this, command);
  const isCommon = (option: Option) => COMMON.includes(option) || option.long === "--help";
  return [...all.filter((option) => !isCommon(option)), ...all.filter(isCommon)];
}

/** Which of the two words a noun has for showing one thing is for nobody to remember. */
const SYNONYMS: Record<string, string> = { get: "show", show: "get" };

function withSynonym(verb: Command): Command {
  const other = SYNONYMS[verb.name()];
  return other === undefined ? verb : verb.alias(other);
}

/** A noun with its verbs. */
export function noun(name: string, summary: string, ...verbs: Command[]): Command {
  const command = new Command(name).description(summary).helpCommand(false).showSuggestionAfterError();
  for (const verb of verbs) command.addCommand(withSynonym(verb));
  return command;
}

/** Opens the way to the service for the length of the work. */
export async function withClient<T>(
  options: CommonOptions,
  work: (client: Client) => Promise<T>,
  role: JobsRole = "none",
): Promise<T> {
  const target = targetOf(options);
  const client = await connect(target, role);
  try {
    return await work(client);
  } catch (cause) {
    if (!target.is_login || !(cause instanceof CliError) || cause.name !== "Unauthorized") throw cause;
    const hint = `the login of ${target.url} has ended, or is not meant for this: svc login`;
    throw new CliError(cause.name, cause.message, { hint, exit_code: cause.exit_code });
  } finally {
    await client.close();
  }
}

/**
 * What a command works on, and as whom: what its options say, else the environment, else the server that `svc login`
 * logged in to, else the default data directory. The login's token is sent to no other server.
 */
export function targetOf(options: CommonOptions): Target & { is_login: boolean } {
  const { env } = process;
  const data_dir = options.dataDir;
  const token = options.token ?? (env.SVC_TOKEN || undefined);
  const url = options.url ?? (data_dir === undefined ? env.SVC_URL || undefined : undefined);
  const isDirectory = data_dir !== undefined || env.SVC_DATA_DIR || env.DATABASE_URL;
  if (url === undefined && isDirectory) return { data_dir, token, is_login: false };
  const login = token === undefined || url === undefined ? readLogin() : undefined;
  if (!login || (url !== undefined && !isSameServer(url, login.url))) {
    return { data_dir, url, token, is_login: false };
  }
  return { url: url ?? login.url, token: token ?? login.token, is_login: token === undefined };
}

/** The server to be reached over HTTP, if one is. */
export function urlOf(options: CommonOptions): string | undefined {
  return targetOf(options).url;
}

/** Text under a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

/** The workspace to work in: the option, SVC_WORKSPACE, or the only one there is. */
export async function workspaceFor(client: Client, given: string | undefined): Promise<string> {
  const named = given ?? process.env.SVC_WORKSPACE;
  if (named) return named;
  const { listWorkspaces } = await import("../../src/features/lifecycle/workspaces/operations.ts");
  const found = await client.call(listWorkspaces, {});
  if (found.length === 1) return found[0]!.id;
  throw new CliError(
    "Usage",
    found.length === 0
      ? "there is no workspace yet"
      : `there are ${found.length} workspaces: name one with --workspace`,
    {
      hint: found.length === 0 ? "svc workspace create <id> --name <name> --owner <email>" : undefined,
      exit_code: EXIT.usage,
    },
  );
}
