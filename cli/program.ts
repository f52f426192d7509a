/**
 * The command-line program. It loads only the names and summaries of nouns; a noun's file is loaded when it is called.
 */
import chalk, { chalkStderr } from "chalk";
import { Command, CommanderError } from "commander";
import { VERSIONS_TEXT } from "../src/lib/version.ts";
import { type CliError, createUsageError, EXIT_CODES, showFailure } from "./terminal/text/failure.ts";

interface NounEntry {
  summary: string;
  load: () => Promise<{ default: Command }>;
}

/** Nouns by the headings of the help, in their order. */
const NOUN_GROUPS: Record<string, Record<string, NounEntry>> = {
  Start: {
    init: {
      summary: "set up a server: five questions, and it runs",
      load: () => import("./commands/server/init.ts"),
    },
    serve: { summary: "start the server", load: () => import("./commands/server/serve.ts") },
    stop: { summary: "stop the server", load: () => import("./commands/server/stop.ts") },
    status: {
      summary: "show whether a server is up, and where",
      load: () => import("./commands/server/status.ts"),
    },
    demo: {
      summary: "start a server with examples and call their webhooks",
      load: () => {
        // The demo creates its own database, and the dialect is fixed when a table's module is loaded.
        delete process.env.DATABASE_URL;
        return import("./commands/server/demo.ts");
      },
    },
  },
  Work: {
    run: {
      summary: "run a script or flow by path, or a local file",
      load: () => import("./commands/runs/run.ts"),
    },
    dev: { summary: "run a file on each save", load: () => import("./commands/runs/dev.ts") },
    job: {
      summary: "list, read, follow, cancel, rerun and approve jobs",
      load: () => import("./commands/runs/job.ts"),
    },
    script: {
      summary: "write, deploy, run, list, rename and delete scripts",
      load: () => import("./commands/items/script.ts"),
    },
    flow: {
      summary: "deploy, run, list, draw, rename and delete flows",
      load: () => import("./commands/items/flow.ts"),
    },
    pull: {
      summary: "write a workspace to a folder of files",
      load: () => import("./commands/sync/pull.ts"),
    },
    push: {
      summary: "deploy a folder of files to a workspace",
      load: () => import("./commands/sync/push.ts"),
    },
  },
  Configure: {
    variable: {
      summary: "read and write variables and secrets",
      load: () => import("./commands/items/variable.ts"),
    },
    resource: { summary: "read and write resources", load: () => import("./commands/items/resource.ts") },
    "resource-type": {
      summary: "manage the types of resources",
      load: () => import("./commands/items/resource-type.ts"),
    },
    schedule: {
      summary: "run scripts and flows at given times",
      load: () => import("./commands/items/schedule.ts"),
    },
    trigger: {
      summary: "run scripts and flows by HTTP routes and WebSocket messages",
      load: () => import("./commands/items/trigger.ts"),
    },
    webhook: {
      summary: "send events about changes in a workspace to other services",
      load: () => import("./commands/items/webhook.ts"),
    },
    folder: {
      summary: "manage folders, and who may read and write in them",
      load: () => import("./commands/items/folder.ts"),
    },
    workspace: {
      summary: "create, list, configure and delete workspaces",
      load: () => import("./commands/people/workspace.ts"),
    },
  },
  People: {
    login: { summary: "log in to a server; later commands use it", load: () => loginCommand("login") },
    logout: { summary: "log out", load: () => loginCommand("logout") },
    whoami: { summary: "show who you are, and on which server", load: () => loginCommand("whoami") },
    user: {
      summary: "create, list, change and delete users",
      load: () => import("./commands/people/user.ts"),
    },
    group: { summary: "manage groups and their members", load: () => import("./commands/people/group.ts") },
    token: { summary: "create, list and delete tokens", load: () => import("./commands/people/token.ts") },
  },
  Operate: {
    worker: {
      summary: "run jobs for servers on other machines",
      load: () => import("./commands/server/worker.ts"),
    },
    config: { summary: "show and change settings", load: () => import("./commands/server/config.ts") },
    doctor: {
      summary: "check the machine and the data directory, with advice",
      load: () => import("./commands/server/doctor.ts"),
    },
    audit: { summary: "read and export who did what", load: () => import("./commands/inspect/audit.ts") },
    backup: { summary: "write all data to one file", load: () => import("./commands/server/backup.ts") },
    restore: {
      summary: "replace all data with a backup",
      load: () => import("./commands/server/restore.ts"),
    },
    "migrate-to": {
      summary: "move the embedded database to PostgreSQL",
      load: () => import("./commands/server/migrate-to.ts"),
    },
    "partition-jobs": {
      summary: "keep the jobs in PostgreSQL in monthly partitions",
      load: () => import("./commands/server/partition-jobs.ts"),
    },
  },
  More: {
    api: { summary: "call any operation of the service", load: () => import("./commands/inspect/api.ts") },
    routes: {
      summary: "list the routes of the HTTP interface",
      load: () => import("./commands/inspect/routes.ts"),
    },
    completion: {
      summary: "print the completion script for a shell",
      load: () => import("./commands/inspect/completion.ts"),
    },
    license: { summary: "create and show licenses", load: () => import("./commands/people/license.ts") },
  },
};

const NOUNS: Record<string, NounEntry> = Object.assign({}, ...Object.values(NOUN_GROUPS));

async function loginCommand(name: "login" | "logout" | "whoami"): Promise<{ default: Command }> {
  return { default: (await import("./commands/people/login.ts"))[name] };
}

const HELP = `
Commands work on a data directory: --data-dir, else the nearest .svc in this
folder or above, through its server when one is up, by themselves when none is.
Elsewhere they reach the server of svc login, or what svc init made; with --url
and --token a server anywhere. Commands that delete or replace more than one
item ask first; --yes answers.

Exit codes: 0 done, 1 failed or refused, 2 wrong usage, 3 server not reached or
token not known, 130 ended with Ctrl-C.

Examples:
  $ svc demo
  $ svc serve --port 8000
  $ svc run u/ann/hello name=Bob --workspace acme`;

/** Runs one command line. @returns the exit code */
export async function runProgram(given: string[]): Promise<number> {
  const argv = moveHelpFlag(given);
  process.stdout.on("error", (cause) => {
    if ((cause as { code?: string }).code === "EPIPE") process.exit(0);
  });
  // https://no-color.org, which chalk does not support.
  if (process.env.NO_COLOR) chalk.level = chalkStderr.level = 0;
  try {
    if (argv[0] === COMPLETE_COMMAND) return await printCandidates(argv.slice(argv[1] === "--" ? 2 : 1));
    const program = await createProgram(argv);
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (cause) {
    // Help or version: printed already.
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : EXIT_CODES.usage;
    return showFailure(cause, argv.includes("--json"));
  }
}

/** Converts `svc help job list` to `svc job list --help`. An unknown name is reported before any help is shown. */
function moveHelpFlag(argv: string[]): string[] {
  const [first = "", ...rest] = argv;
  if (first === "help") return moveHelpFlag([...rest, "--help"]);
  const isName = first.startsWith("-") || Object.hasOwn(NOUNS, first) || first === COMPLETE_COMMAND;
  return isName ? argv : argv.filter((word) => word !== "--help" && word !== "-h");
}

/** Called by the shell scripts that `svc completion` prints. */
const COMPLETE_COMMAND = "__complete";

/** Prints completion candidates. Errors are hidden, because the command line is still being typed. */
async function printCandidates(words: string[]): Promise<number> {
  const { listCandidates } = await import("./commands/inspect/completion/list-candidates.ts");
  const found = await listCandidates(words, createProgram).catch(() => []);
  for (const { text, meaning } of found) process.stdout.write(`${text}\t${meaning.split("\n")[0]}\n`);
  return 0;
}

/** Creates the commands; those of the called noun in full. */
export async function createProgram(argv: string[]): Promise<Command> {
  const program = new Command("svc")
    .description("Self-hosted workflow automation in one executable file.")
    .version(VERSIONS_TEXT, "-V, --version", "print the versions of the program and its interface")
    .helpCommand(false)
    .showSuggestionAfterError()
    .addHelpText("after", HELP);
  const called = argv.find((word) => !word.startsWith("-"));
  for (const [group, nouns] of Object.entries(NOUN_GROUPS)) {
    for (const [name, { summary, load }] of Object.entries(nouns)) {
      const command = name === called ? (await load()).default : new Command(name).description(summary);
      program.addCommand(command.helpGroup(`${group}:`));
    }
  }
  throwInsteadOfExit(program, argv);
  return program;
}

function throwInsteadOfExit(command: Command, argv: string[]): void {
  command.configureOutput({ outputError: () => {} });
  command.exitOverride((cause) => {
    if (PRINTED_CODES.includes(cause.code)) throw cause;
    if (cause.code === "commander.excessArguments") throw describeExcessArgument(command);
    const [message = "", suggestion] = cause.message.replace(/^error: /, "").split("\n");
    const hint = suggestion?.replace(/^\(|\)$/g, "") ?? findMisplacedOption(command, cause.code, argv);
    throw createUsageError(message, hint ?? `see ${commandWords(command)} --help`);
  });
  for (const child of command.commands) throwInsteadOfExit(child, argv);
}

/** Names the first argument that the command does not accept. */
function describeExcessArgument(command: Command): CliError {
  const name = commandWords(command);
  const wanted = command.registeredArguments.map((argument) => `<${argument.name()}>`);
  const quotes = wanted.length > 0 ? "; quote a value that has spaces" : "";
  return createUsageError(
    `${name} takes no argument ${JSON.stringify(command.args[wanted.length] ?? "")}`,
    `write ${[name, ...wanted].join(" ")}${quotes}, or see ${name} --help`,
  );
}

/** Returns a hint if an option was written before its command. */
function findMisplacedOption(command: Command, code: string, argv: string[]): string | undefined {
  const name = argv.find((word) => Object.hasOwn(NOUNS, word));
  if (command.parent || code !== "commander.unknownOption" || name === undefined) return undefined;
  return `options come after the command: svc ${name} ${argv[0]} …`;
}

/** Exit codes of commander for printed output that is not an error. */
const PRINTED_CODES = ["commander.help", "commander.helpDisplayed", "commander.version"];

function commandWords(command: Command): string {
  return command.parent ? `${commandWords(command.parent)} ${command.name()}` : command.name();
}
