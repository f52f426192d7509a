import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import chalk from "chalk";
import { Option } from "commander";
import { parseEmail, parseWorkspaceId } from "../../../src/lib/text/paths.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { isDataDirectory, rememberDataDirectory, writeInstanceFacts } from "../../client/data-directory.ts";
import { createUser, listAccounts } from "../../client/operations/accounts.ts";
import { setGlobalSetting } from "../../client/operations/instance.ts";
import { createWorkspace } from "../../client/operations/lifecycle.ts";
import { connectToService, findRunningServer } from "../../client/transport.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { withProgress } from "../../terminal/progress.ts";
import {
  askFor,
  askForNewPassword,
  chooseOne,
  isInteractive,
  readSecretFromStdin,
  requirePassword,
} from "../../terminal/prompts.ts";
import { findWriteObstacle } from "../../terminal/text/denied-folder.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, quoteForShell } from "../../terminal/text/output.ts";
import { chooseFreePort, DEFAULT_ADDRESS, parseAddress, proposeAddress } from "./init/address.ts";
import { type Background, startInBackground } from "./init/background.ts";
import { type SystemdUnit, type UnitKind, writeUnit } from "./init/systemd.ts";

interface InitOptions {
  dataDir?: string;
  listen?: string;
  email?: string;
  password?: string;
  passwordStdin?: boolean;
  workspace?: string;
  baseUrl?: string;
  systemd?: UnitKind | "none";
  start: boolean;
  json?: boolean;
}

const FIRST_WORKSPACE = "main";

export default createCommand("init", "set up a server: five questions, and it runs", "directory")
  .option("--listen <address:port>", `where to listen; port 0 picks a free one (default ${DEFAULT_ADDRESS})`)
  .option("--email <email>", "e-mail of the first admin")
  .option(
    "--password <password>",
    "password (asked for when left out, which keeps it out of the shell history)",
  )
  .option("--password-stdin", "read the password from stdin")
  .option("--workspace <id>", `the first workspace (default ${FIRST_WORKSPACE})`)
  .option("--base-url <url>", "public address, where it differs from address and port")
  .addOption(
    new Option("--systemd <kind>", "write a systemd unit, which then starts the server").choices([
      "user",
      "system",
      "none",
    ]),
  )
  .option("--no-start", "leave no server running")
  .addHelpText(
    "after",
    `${formatExamples(
      "svc init",
      "pass svc | svc init --email ann@example.org --password-stdin",
      "svc init --data-dir /var/lib/svc --listen 0.0.0.0:80 --systemd system",
    )}

Only what the options leave open is asked for; without a terminal, nothing is.`,
  )
  .action(async (options: InitOptions) => {
    const data_dir = resolve(expandHome(await askOrDefault(options.dataDir, DATA_DIR())));
    await requireNewDirectory(data_dir);
    const address = chooseFreePort(parseAddress(await askOrDefault(options.listen, createListenQuestion())));
    const first = await askForAnswers(options);
    await withProgress("setting up", () => setUp(data_dir, first, options.baseUrl));
    const kind = await chooseUnitKind(options);
    const serving = { data_dir, ...address };
    writeInstanceFacts(data_dir, { ...address, admin: first.email });
    const before = rememberDataDirectory(data_dir);
    const unit = kind === "none" ? undefined : writeUnit(kind, serving);
    const background =
      unit || !options.start
        ? undefined
        : await withProgress("starting the server", () => startInBackground(serving));
    const { email, workspace } = first;
    if (options.json) printJson({ data_dir, workspace, email, ...background, unit });
    else printResult(options, { data_dir, email, workspace, background, unit, before });
  });

interface Question {
  message: string;
  flag: string;
  fallback: string;
  check?: (answer: string) => unknown;
}

const DATA_DIR = (): Question => ({
  message: "Data directory",
  flag: "--data-dir",
  fallback: process.env.SVC_DATA_DIR || ".svc",
});
/** Creates the question for the listening address. It is asked again if the address is taken. */
const createListenQuestion = (): Question => ({
  message: "Listen on",
  flag: "--listen",
  fallback: isInteractive() ? proposeAddress() : DEFAULT_ADDRESS,
  check: (text) => chooseFreePort(parseAddress(text)),
});
const WORKSPACE: Question = {
  message: "First workspace",
  flag: "--workspace",
  fallback: FIRST_WORKSPACE,
  check: parseWorkspaceId,
};

/** Expands `~`, which a shell does not do in an answer. */
function expandHome(folder: string): string {
  return folder.replace(/^~(?=\/|$)/, homedir());
}

/** Returns the answer, or the default without a terminal. */
async function askOrDefault(given: string | undefined, question: Question): Promise<string> {
  const answer = given === undefined && !isInteractive() ? question.fallback : await askFor(given, question);
  if (question.check) requireValid(question.flag, answer, question.check);
  return answer.trim();
}

interface InitAnswers {
  email: string;
  password: string;
  workspace: string;
}

/**
 * Asks for everything that the options do not give.
 * @throws a usage error without a terminal, or for an invalid answer
 */
async function askForAnswers(options: InitOptions): Promise<InitAnswers> {
  const asked = { message: "E-mail of the admin", flag: "--email", check: parseEmail };
  const email = (await askFor(options.email, asked)).trim().toLowerCase();
  requireValid("--email", email, parseEmail);
  const password = options.passwordStdin
    ? requirePassword(await readSecretFromStdin())
    : await askForNewPassword(options.password, {
        message: "Password of the admin",
        flag: "--password",
        hint: "there is no terminal to prompt on; use --password-stdin to read it from stdin",
      });
  return { email, password, workspace: await askOrDefault(options.workspace, WORKSPACE) };
}

function requireValid(flag: string, value: string, check: (value: string) => unknown): void {
  try {
    check(value);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw createUsageError(`${flag}: ${(cause as Error).message}`);
  }
}

/** Checks that the directory is new and can be created, before further questions are asked. @throws CliError */
async function requireNewDirectory(data_dir: string): Promise<void> {
  const up = await findRunningServer({ data_dir });
  if (up) {
    throw new CliError("InUse", `a server is up already on ${data_dir}`, {
      hint: "it is set up already; svc workspace create and svc user create add to it",
    });
  }
  if (!isDataDirectory(data_dir)) {
    const obstacle = findWriteObstacle(data_dir);
    if (obstacle === undefined) return;
    throw new CliError("Denied", `${data_dir} cannot be created: ${obstacle}`, {
      hint: "name a folder of your own by --data-dir, or run svc as the owner of that one",
    });
  }
  const client = await connectToService({ data_dir });
  try {
    if ((await client.call(listAccounts, {})).length === 0) return;
  } finally {
    await client.close();
  }
  throw new CliError("InUse", `${data_dir} is set up already: there are users in it`, {
    hint: `svc serve --data-dir ${data_dir}, or another folder with --data-dir`,
  });
}

async function setUp(data_dir: string, first: InitAnswers, base_url: string | undefined): Promise<void> {
  loadConfig({ data_dir });
  const client = await connectToService({ data_dir });
  try {
    const { email, password, workspace } = first;
    if (base_url !== undefined) {
      await client.call(setGlobalSetting, { key: "base_url", body: { value: base_url } });
    }
    const username = suggestUsername(email);
    await client.call(createUser, { body: { email, password, super_admin: true, username } });
    await client.call(createWorkspace, { body: { id: workspace, name: workspace, owner: email } });
  } finally {
    await client.close();
  }
}

/** Suggests a username from an email: letters, digits and _, beginning with a letter, as in u/ann/…. */
function suggestUsername(email: string): string {
  const name = email
    .split("@")[0]!
    .replace(/[^a-z0-9]+/gi, "_")
    .replace(/^[^a-z]+/i, "");
  return name || "admin";
}

/** Chooses a systemd unit, if systemd runs on this machine. */
async function chooseUnitKind({ systemd, start }: InitOptions): Promise<UnitKind | "none"> {
  if (systemd !== undefined) return systemd;
  if (!isInteractive() || !start || !existsSync("/run/systemd/system")) return "none";
  return chooseOne("Start it with the machine, by systemd?", [
    { value: "none", name: "no, run it in the background now" },
    { value: "user", name: "yes, by a unit of this user" },
    { value: "system", name: "yes, by a unit of the system (root)" },
  ]);
}

interface InitResult {
  data_dir: string;
  email: string;
  workspace: string;
  background: Background | undefined;
  unit: SystemdUnit | undefined;
  /** The data directory that commands in other folders used before. */
  before: string | undefined;
}

function printResult(
  { baseUrl }: InitOptions,
  { data_dir, email, workspace, background, unit, before }: InitResult,
): void {
  printNote(chalk.dim(`data in ${data_dir}, workspace ${workspace}, super admin ${email}`));
  if (before !== undefined) {
    printNote(chalk.dim(`in folders without data, svc now uses this directory, no longer ${before}`));
  }
  // Later commands find the default data directory by themselves.
  const where = data_dir === resolve(DATA_DIR().fallback) ? "" : ` --data-dir ${quoteForShell(data_dir)}`;
  if (background) {
    print(`svc runs on ${chalk.bold(background.url)}, as process ${background.pid}`);
    printNote(chalk.dim(`its log is ${background.log}`));
  } else if (unit) {
    print(`wrote ${unit.file}; to start svc, now and with the machine:`);
    for (const command of unit.commands) print(`  ${command}`);
    if (unit.environment)
      printNote(chalk.dim(`what the environment sets is kept for it in ${unit.environment}`));
  } else print(`to start it:\n  svc serve${where}`);
  const url = baseUrl ?? background?.url;
  print("\nNext:");
  if (url !== undefined) print(`  svc login ${url} --email ${email}`);
  print("  svc script new hello.ts");
  print(`  svc script push hello.ts u/${suggestUsername(email)}/hello${where}`);
  print(`  svc run u/${suggestUsername(email)}/hello${where}`);
  if (background) {
    print(`  svc stop${where}${" ".repeat(4)}# stops the server`);
    print(`  svc serve${where}${" ".repeat(4)}# starts it again, as after each reboot`);
  }
}
