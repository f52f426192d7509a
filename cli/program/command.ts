/** Creates commands: common options, and the connection for their work. */

import { Command, Help, Option } from "commander";
import type { JobsRole } from "../../src/platform/app/loop.ts";
import { loadConfig } from "../../src/platform/config/config.ts";
import {
  createNoServerError,
  DEFAULT_DATA_DIR,
  findDataDirectory,
  isDirectoryNamed,
  locateDataDirectory,
  readInstanceFacts,
  readServerUrl,
  requireDataDirectory,
} from "../client/data-directory.ts";
import { readDefaultWorkspace } from "../client/default-workspace.ts";
import { isSameServer, type Login, readLogin } from "../client/login-file.ts";
import { listWorkspaces } from "../client/operations/lifecycle.ts";
import {
  type ConnectionTarget,
  connectToService,
  normaliseServerUrl,
  type ServiceClient,
} from "../client/transport.ts";
import { CliError, EXIT_CODES } from "../terminal/text/failure.ts";
import { addItemHint } from "./item-hints.ts";

export interface CommonOptions {
  dataDir?: string;
  url?: string;
  token?: string;
  json?: boolean;
}

const DATA_DIR = new Option(
  "--data-dir <folder>",
  "data directory to work on (env SVC_DATA_DIR, default the nearest .svc)",
);
const URL_OPTION = new Option("--url <url>", "reach a server over HTTP instead (env SVC_URL)");
const TOKEN = new Option("--token <token>", "token for --url (env SVC_TOKEN)");
const JSON_OPTION = new Option("--json", "print JSON");
const COMMON = [DATA_DIR, URL_OPTION, TOKEN, JSON_OPTION];

/**
 * What a command needs: an existing service (`anywhere`), one that it may create (`new`), only a data
 * directory, or nothing.
 */
type Reach = "anywhere" | "new" | "directory" | "nothing";

/** Creates a command. */
export function createCommand(name: string, summary: string, reach: Reach = "anywhere"): Command {
  const command = new Command(name).description(summary).helpCommand(false).showSuggestionAfterError();
  if (reach !== "nothing") command.addOption(DATA_DIR);
  if (reach === "anywhere" || reach === "new") command.addOption(URL_OPTION).addOption(TOKEN);
  if (reach === "anywhere") command.hook("preAction", () => requireService(command.opts()));
  return command.addOption(JSON_OPTION).configureHelp({ visibleOptions: listOwnOptionsFirst });
}

export interface WorkspaceOptions extends CommonOptions {
  workspace?: string;
}

/** Creates a command that works in one workspace. */
export function createWorkspaceCommand(
  name: string,
  summary: string,
  reach: "anywhere" | "new" = "anywhere",
): Command {
  return createCommand(name, summary, reach).option(
    "--workspace <id>",
    "workspace to work in (env SVC_WORKSPACE)",
  );
}

/** Lists a command's own options before the common ones. */
function listOwnOptionsFirst(this: Help, command: Command): Option[] {
  const all = Help.prototype.visibleOptions.call(this, command);
  const isCommon = (option: Option) => COMMON.includes(option) || option.long === "--help";
  return [...all.filter((option) => !isCommon(option)), ...all.filter(isCommon)];
}

/** Adds the alias of a verb that shows one item: each noun accepts both words. Help lists them in a fixed order. */
function addSynonym(verb: Command): Command {
  return verb.name() === "show" ? verb.alias("get") : verb;
}

/** Creates a noun with its verbs. */
export function createNoun(name: string, summary: string, ...verbs: Command[]): Command {
  const command = new Command(name).description(summary).helpCommand(false).showSuggestionAfterError();
  // Summaries are wrapped beside long lists of arguments too.
  command.configureHelp({ minWidthToWrap: 20 });
  for (const verb of verbs) command.addCommand(addSynonym(verb));
  return command;
}

/** Requires an address, or a data directory that exists. @throws CliError */
function requireService(options: CommonOptions): void {
  const { url, data_dir } = resolveConnection(options);
  if (url !== undefined) return;
  if (data_dir === undefined && !isDirectoryNamed(undefined)) throw createNoServerError();
  requireDataDirectory(data_dir);
}

/**
 * Connects to the service for the duration of the work.
 * @param missing whether to create the data directory if there is none
 */
export async function withClient<T>(
  options: CommonOptions,
  work: (client: ServiceClient) => Promise<T>,
  role: JobsRole = "none",
  missing: "refuse" | "create" = "refuse",
): Promise<T> {
  if (missing === "refuse") requireService(options);
  const target = resolveConnection(options);
  const client = await connectToService(target, role);
  try {
    return await work(client);
  } catch (cause) {
    if (!target.is_login || !(cause instanceof CliError) || cause.name !== "Unauthorized") {
      throw await addItemHint(cause, client);
    }
    const hint = `the login of ${target.url} has ended, or is not meant for this: svc login`;
    throw new CliError(cause.name, cause.message, { hint, exit_code: cause.exit_code });
  } finally {
    await client.close();
  }
}

/**
 * Resolves what a command works on: its options, else the environment, else the nearest `.svc`, else the server of `svc
 * login`, else the data directory of `svc init`. If the login is for the server of that `.svc`, it is used. The login's
 * token is sent to no other server.
 */
export function resolveConnection(options: CommonOptions): ConnectionTarget & { is_login: boolean } {
  const { env } = process;
  const data_dir = options.dataDir;
  const token = options.token ?? (env.SVC_TOKEN || undefined);
  const url = options.url ?? (data_dir === undefined ? env.SVC_URL || undefined : undefined);
  if (url === undefined && isDirectoryNamed(data_dir)) return { data_dir, token, is_login: false };
  const login = token === undefined || url === undefined ? readLogin() : undefined;
  if (url === undefined && token === undefined) {
    const found = findDataDirectory();
    if (found !== undefined && !isLoginOf(found, login)) return { data_dir: found, is_login: false };
  }
  if (!login || (url !== undefined && !isSameServer(url, login.url))) {
    return {
      data_dir: url === undefined ? locateDataDirectory(data_dir) : data_dir,
      url,
      token,
      is_login: false,
    };
  }
  return { url: url ?? login.url, token: token ?? login.token, is_login: token === undefined };
}

/** Whether the login is for the server that runs on the data directory. */
function isLoginOf(data_dir: string, login: Login | undefined): boolean {
  const url = readServerUrl(data_dir);
  return login !== undefined && url !== undefined && isSameServer(url, login.url);
}

/** Describes where a command works, for questions: `on https://…` or `in /…/.svc`. */
export function describeServer(options: CommonOptions): string {
  const { url, data_dir } = resolveConnection(options);
  if (url !== undefined) return `on ${normaliseServerUrl(url)}`;
  return `in ${data_dir ?? (process.env.SVC_DATA_DIR || DEFAULT_DATA_DIR)}`;
}

/** Whether commands act as a user: the owner of a token, or the admin that `svc init` created. */
export function actsAsUser(options: CommonOptions): boolean {
  const { url, data_dir } = resolveConnection(options);
  return url !== undefined || readInstanceFacts(loadConfig({ data_dir }).data_dir).admin !== undefined;
}

/** Formats examples below a command's help. */
export function formatExamples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

/**
 * Resolves the workspace: the option, SVC_WORKSPACE, the choice of `svc workspace use`, or the only one that exists.
 */
export async function resolveWorkspace(client: ServiceClient, given: string | undefined): Promise<string> {
  const named = given ?? (process.env.SVC_WORKSPACE || readDefaultWorkspace(client.where));
  if (named) return named;
  const found = await client.call(listWorkspaces, {});
  if (found.length === 1) return found[0]!.id;
  throw new CliError(
    "Usage",
    found.length === 0
      ? "there is no workspace yet"
      : `there are ${found.length} workspaces: ${listFirst(found.map(({ id }) => id))}`,
    {
      hint:
        found.length === 0
          ? "svc workspace create <id> --name <name> --owner <email>"
          : "svc workspace use <id> chooses one; --workspace or SVC_WORKSPACE names another",
      exit_code: EXIT_CODES.usage,
    },
  );
}

const MAX_NAMED = 10;

/** Lists the first names, and the number of the others. */
function listFirst(names: string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
