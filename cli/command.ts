/** What all commands share: their common options, and how their work is wrapped. */
import { Command } from "commander";
import type { JobsRole } from "../src/app.ts";
import { CliError } from "./terminal/failure.ts";
import { type Client, connect } from "./transport.ts";

export interface CommonOptions {
  dataDir?: string;
  url?: string;
  token?: string;
  json?: boolean;
}

/** A command with the options every one of them has. */
export function leaf(name: string, summary: string): Command {
  return new Command(name)
    .description(summary)
    .option("--data-dir <folder>", "data directory to work on (env SVC_DATA_DIR, default .svc)")
    .option("--url <url>", "reach a server over HTTP instead (env SVC_URL)")
    .option("--token <token>", "token for --url (env SVC_TOKEN)")
    .option("--json", "print JSON")
    .helpCommand(false)
    .showSuggestionAfterError();
}

/** A noun with its verbs. */
export function noun(name: string, summary: string, ...verbs: Command[]): Command {
  const command = new Command(name).description(summary).helpCommand(false).showSuggestionAfterError();
  for (const verb of verbs) command.addCommand(verb);
  return command;
}

/** Opens the way to the service for the length of the work. */
export async function withClient<T>(
  options: CommonOptions,
  work: (client: Client) => Promise<T>,
  role: JobsRole = "none",
): Promise<T> {
  const client = await connect(
    {
      data_dir: options.dataDir,
      url: options.url ?? process.env.SVC_URL,
      token: options.token ?? process.env.SVC_TOKEN,
    },
    role,
  );
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Text under a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join("\n")}`;
}

/** The workspace to work in: the option, SVC_WORKSPACE, or the only one there is. */
export async function workspaceFor(client: Client, given: string | undefined): Promise<string> {
  const named = given ?? process.env.SVC_WORKSPACE;
  if (named) return named;
  const { listWorkspaces } = await import("../src/features/workspaces/operations.ts");
  const found = await client.call(listWorkspaces, {});
  if (found.length === 1) return found[0]!.id;
  throw new CliError(
    "Usage",
    found.length === 0
      ? "there is no workspace yet"
      : `there are ${found.length} workspaces: name one with --workspace`,
    {
      hint: found.length === 0 ? "svc workspace create <id> --name <name> --owner <email>" : undefined,
      exit_code: 2,
    },
  );
}
