import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import chalk from "chalk";
import { Option } from "commander";
import { createUser, listAccounts } from "../../../src/features/accounts/admin/operations.ts";
import { setGlobalSetting } from "../../../src/features/instance/settings/operations.ts";
import { createWorkspace } from "../../../src/features/lifecycle/workspaces/operations.ts";
import { checkEmail, checkWorkspaceId } from "../../../src/lib/text/paths.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { connect, connectIfUp } from "../../client/transport.ts";
import { examples, leaf } from "../../program/command.ts";
import { wholeNumber } from "../../program/options.ts";
import { withProgress } from "../../terminal/progress.ts";
import { askFor, chooseOne, isInteractive, readSecret } from "../../terminal/prompts.ts";
import { CliError, usageError } from "../../terminal/text/failure.ts";
import { note, print, printJson } from "../../terminal/text/output.ts";
import { type Background, startInBackground } from "./init/background.ts";
import { type Unit, type UnitKind, writeUnit } from "./init/systemd.ts";

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

const ANYWHERE_HERE = "127.0.0.1:8000";
const FIRST_WORKSPACE = "main";

export default leaf("init", "set up a server: five questions, and it runs", "directory")
  .option("--listen <address:port>", `where to listen; port 0 picks a free one (default ${ANYWHERE_HERE})`)
  .option("--email <email>", "e-mail of the first super admin")
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
    `${examples(
      "svc init",
      "pass svc | svc init --email ann@example.org --password-stdin",
      "svc init --data-dir /var/lib/svc --listen 0.0.0.0:80 --systemd system",
    )}

Only what the options leave open is asked for; without a terminal, nothing is.`,
  )
  .action(async (options: InitOptions) => {
    const data_dir = resolve(fromHome(await withDefault(options.dataDir, DATA_DIR())));
    await checkUnused(data_dir);
    const address = addressOf(await withDefault(options.listen, LISTEN));
    checkFree(address);
    const first = await askForFirst(options);
    await withProgress("setting up", () => setUp(data_dir, first, options.baseUrl));
    const kind = await unitKind(options);
    const serving = { data_dir, ...address };
    const unit = kind === "none" ? undefined : writeUnit(kind, serving);
    const background =
      unit || !options.start
        ? undefined
        : await withProgress("starting the server", () => startInBackground(serving));
    const { email, workspace } = first;
    if (options.json) printJson({ data_dir, workspace, email, ...background, unit });
    else tell(options, { data_dir, email, workspace, background, unit });
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
const LISTEN: Question = {
  message: "Listen on",
  flag: "--listen",
  fallback: ANYWHERE_HERE,
  check: (text) => addressOf(text),
};
const WORKSPACE: Question = {
  message: "First workspace",
  flag: "--workspace",
  fallback: FIRST_WORKSPACE,
  check: checkWorkspaceId,
};

/** No shell has read what was answered to a question. */
function fromHome(folder: string): string {
  return folder.replace(/^~(?=\/|$)/, homedir());
}

/** Where nobody can be asked, what is usual holds. */
async function withDefault(given: string | undefined, question: Question): Promise<string> {
  const answer = given === undefined && !isInteractive() ? question.fallback : await askFor(given, question);
  if (question.check) checked(question.flag, answer, question.check);
  return answer.trim();
}

interface First {
  email: string;
  password: string;
  workspace: string;
}

/** @throws a usage error where nobody can be asked, or for what cannot be */
async function askForFirst(options: InitOptions): Promise<First> {
  const asked = { message: "E-mail of the admin", flag: "--email", check: checkEmail };
  const email = (await askFor(options.email, asked)).trim().toLowerCase();
  checked("--email", email, checkEmail);
  const password = options.passwordStdin
    ? await readSecret()
    : await askFor(options.password, {
        message: "Password of the admin",
        flag: "--password",
        hint: "there is no terminal to ask on; --password-stdin reads it from stdin",
        secret: true,
      });
  if (password === "") throw usageError("the password is empty");
  return { email, password, workspace: await withDefault(options.workspace, WORKSPACE) };
}

function checked(flag: string, value: string, check: (value: string) => unknown): void {
  try {
    check(value);
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    throw usageError(`${flag}: ${(cause as Error).message}`);
  }
}

/** `127.0.0.1:8000`, `[::1]:8000`, or a port alone. @throws a usage error */
function addressOf(text: string): { host: string; port: number } {
  const [, host = "127.0.0.1", port] = /^(?:(\[[^\]]+\]|[^:\s]+):)?(\d+)$/.exec(text) ?? [];
  if (port === undefined)
    throw usageError(`--listen ${text}: must be an address and a port`, `such as ${ANYWHERE_HERE}`);
  return { host: host.replace(/^\[|\]$/g, ""), port: wholeNumber("--listen", port, 65_535) };
}

/** Asked at once: nobody should answer four more questions in vain. @throws CliError when it is set up already */
async function checkUnused(data_dir: string): Promise<void> {
  const up = await connectIfUp({ data_dir });
  if (up) {
    throw new CliError("InUse", `a server is up already on ${data_dir}`, {
      hint: "it is set up already; svc workspace create and svc user create add to it",
    });
  }
  if (!existsSync(data_dir)) return;
  const client = await connect({ data_dir });
  try {
    if ((await client.call(listAccounts, {})).length === 0) return;
  } finally {
    await client.close();
  }
  throw new CliError("InUse", `${data_dir} is set up already: there are users in it`, {
    hint: `svc serve --data-dir ${data_dir}, or another folder with --data-dir`,
  });
}

/** Told before anything is written, not by a server that does not start. */
function checkFree({ host, port }: { host: string; port: number }): void {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
  } catch (cause) {
    const { code, message } = cause as Error & { code?: string };
    const problem = code === "EADDRINUSE" ? "is taken" : `cannot be listened on (${code ?? message})`;
    throw new CliError("Address", `${host}:${port} ${problem}`, {
      hint: `another one: --listen ${host}:${port < 65_535 ? port + 1 : 8000}, or port 0 for any`,
    });
  }
}

async function setUp(data_dir: string, first: First, base_url: string | undefined): Promise<void> {
  loadConfig({ data_dir });
  const client = await connect({ data_dir });
  try {
    const { email, password, workspace } = first;
    if (base_url !== undefined) {
      await client.call(setGlobalSetting, { key: "base_url", body: { value: base_url } });
    }
    const username = usernameOf(email);
    await client.call(createUser, { body: { email, password, super_admin: true, username } });
    await client.call(createWorkspace, { body: { id: workspace, name: workspace, owner: email } });
  } finally {
    await client.close();
  }
}

/** What stands in paths, such as u/ann/…: letters, digits and _, beginning with a letter. */
function usernameOf(email: string): string {
  const name = email
    .split("@")[0]!
    .replace(/[^a-z0-9]+/gi, "_")
    .replace(/^[^a-z]+/i, "");
  return name || "admin";
}

/** Offered where systemd runs the machine. */
async function unitKind({ systemd, start }: InitOptions): Promise<UnitKind | "none"> {
  if (systemd !== undefined) return systemd;
  if (!isInteractive() || !start || !existsSync("/run/systemd/system")) return "none";
  return chooseOne("Start it with the machine, by systemd?", [
    { value: "none", name: "no, run it in the background now" },
    { value: "user", name: "yes, by a unit of this user" },
    { value: "system", name: "yes, by a unit of the system (root)" },
  ]);
}

/** A word of a command line, as a shell reads it. */
function quoted(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

interface Told {
  data_dir: string;
  email: string;
  workspace: string;
  background: Background | undefined;
  unit: Unit | undefined;
}

function tell({ baseUrl }: InitOptions, { data_dir, email, workspace, background, unit }: Told): void {
  note(chalk.dim(`data in ${data_dir}, workspace ${workspace}, super admin ${email}`));
  // What later commands work on by themselves need not be named.
  const where = data_dir === resolve(DATA_DIR().fallback) ? "" : ` --data-dir ${quoted(data_dir)}`;
  if (background) {
    print(`svc runs on ${chalk.bold(background.url)}, as process ${background.pid}`);
    note(chalk.dim(`its log is ${background.log}`));
  } else if (unit) {
    print(`wrote ${unit.file}; to start svc, now and with the machine:`);
    for (const command of unit.commands) print(`  ${command}`);
    if (unit.environment) note(chalk.dim(`what the environment sets is kept for it in ${unit.environment}`));
  } else print(`to start it:\n  svc serve${where}`);
  const url = baseUrl ?? background?.url;
  print("\nNext:");
  if (url !== undefined) print(`  svc login ${url} --email ${email}`);
  print(`  svc script push hello.ts u/${usernameOf(email)}/hello${where}`);
  print(`  svc run u/${usernameOf(email)}/hello${where}`);
  if (background)
    print(`  kill ${background.pid}${" ".repeat(4)}# stops the server; svc serve${where} starts it`);
}
