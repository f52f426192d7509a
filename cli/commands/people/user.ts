import { parseNewEmail } from "../../../src/lib/text/paths.ts";
import { readLogin, writeLogin } from "../../client/login-file.ts";
import {
  createUser,
  deleteAccount,
  getUsernameInfo,
  listAccounts,
  renameUserOperation as renameAccount,
  setLoginType as setLoginTypeOf,
  setPassword as setOwnPassword,
  setPasswordOf,
  updateAccount,
} from "../../client/operations/accounts.ts";
import type { ServiceClient } from "../../client/transport.ts";
import {
  type CommonOptions,
  createCommand,
  createNoun,
  describeServer,
  formatExamples,
  resolveConnection,
  withClient,
} from "../../program/command.ts";
import {
  askFor,
  askForNewPassword,
  confirmName,
  readSecretFromStdin,
  requirePassword,
} from "../../terminal/prompts.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { printJson, printNote, printTable } from "../../terminal/text/output.ts";

interface CreateOptions extends CommonOptions {
  email?: string;
  password?: string;
  passwordStdin?: boolean;
  superAdmin?: boolean;
  name?: string;
  username?: string;
}

const create = createCommand("create", "create a user who logs in with a password")
  .summary("create a user")
  .argument("[email]", "e-mail, which is what the user logs in with")
  .option("--email <email>", "the same as an option")
  .option(
    "--password <password>",
    "password (asked for when left out, which keeps it out of the shell history)",
  )
  .option("--password-stdin", "read the password from stdin")
  .option("--super-admin", "may do everything on the whole instance")
  .option("--name <name>", "full name")
  .option("--username <username>", "name in workspaces, such as u/<username>/…")
  .addHelpText("after", formatExamples("svc user create ann@example.org --super-admin"))
  .action(async (argument: string | undefined, options: CreateOptions) => {
    if (argument !== undefined && options.email !== undefined)
      throw createUsageError("the e-mail is given twice: as an argument and as --email");
    const given = argument ?? options.email;
    const email = await askFor(given, { message: "E-mail", flag: "--email", check: parseNewEmail });
    if (given !== undefined) requireEmail(email, argument === undefined ? "--email" : "<email>");
    const password = await readPassword(options, "Password");
    const body = {
      email,
      password,
      super_admin: options.superAdmin ?? false,
      name: options.name,
      username: options.username,
    };
    await withClient(options, (client) => client.call(createUser, { body }));
    if (options.json) printJson({ email, super_admin: body.super_admin });
    else printNote(`created ${body.super_admin ? "super admin" : "user"} ${email}`);
  });

/** Checks the e-mail before the password is asked for. @throws a usage error */
function requireEmail(email: string, name: "--email" | "<email>"): void {
  try {
    parseNewEmail(email);
  } catch (cause) {
    throw createUsageError(`${name}: ${(cause as Error).message}`);
  }
}

async function readPassword(
  options: { password?: string; passwordStdin?: boolean },
  message: string,
): Promise<string> {
  if (options.passwordStdin) return requirePassword(await readSecretFromStdin());
  return askForNewPassword(options.password, { message, flag: "--password" });
}

const list = createCommand("list", "list the users of the instance")
  .summary("list users")
  .option("--active", "only those who did something in the last 30 days")
  .addHelpText("after", formatExamples("svc user list --active", "svc user list --json"))
  .action(async (options: CommonOptions & { active?: boolean }) => {
    const found = await withClient(options, (client) => readAccounts(client, options.active ?? false));
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "E-MAIL", value: (user) => user.email },
      { title: "USERNAME", value: (user) => user.username ?? "" },
      { title: "NAME", value: (user) => user.name ?? "" },
      { title: "ROLE", value: formatRole },
      { title: "LOGIN", value: (user) => user.login_type },
    ]);
  });

type Account = Awaited<ReturnType<typeof readAccounts>>[number];

const formatRole = (user: Account) => (user.super_admin ? "super admin" : user.devops ? "devops" : "user");

const PAGE_SIZE = 1_000;

async function readAccounts(client: ServiceClient, active_only: boolean) {
  const page = (number: number) =>
    client.call(listAccounts, { query: { page: number, per_page: PAGE_SIZE, active_only } });
  const found = await page(1);
  for (let number = 2; found.length === (number - 1) * PAGE_SIZE; number++)
    found.push(...(await page(number)));
  return found;
}

const get = createCommand("show", "show a user: the account, and the name in each workspace")
  .summary("show a user")
  .argument("<email>", "e-mail of the user")
  .addHelpText("after", formatExamples("svc user show ann@example.org"))
  .action(async (email: string, options: CommonOptions) => {
    const { account, names } = await withClient(options, async (client) => ({
      names: await client.call(getUsernameInfo, { email }),
      account: (await readAccounts(client, false)).find((user) => user.email === email.toLowerCase())!,
    }));
    if (options.json) return printJson({ ...account, ...names });
    const facts: [name: string, value: string][] = [
      ["e-mail", account.email],
      ["username", names.username],
      ["name", account.name ?? ""],
      ["company", account.company ?? ""],
      ["role", formatRole(account)],
      ["login", account.login_type],
      ...names.workspace_usernames.map(({ workspace_id, username }): [string, string] => [
        `in ${workspace_id}`,
        `u/${username}`,
      ]),
    ];
    await printTable(facts, [
      { title: "FACT", value: ([name]) => name, cut: "never" },
      { title: "VALUE", value: ([, value]) => value },
    ]);
  });

interface UpdateOptions extends CommonOptions {
  superAdmin?: boolean;
  devops?: boolean;
  name?: string;
}

const update = createCommand("update", "change a user's name or role on the instance")
  .summary("change name or role")
  .argument("<email>", "e-mail of the user")
  .option("--super-admin", "may do everything on the whole instance")
  .option("--no-super-admin", "take this right away")
  .option("--devops", "may read the instance's settings, alerts and metrics")
  .option("--no-devops", "take this right away")
  .option("--name <name>", "full name")
  .addHelpText(
    "after",
    formatExamples(
      "svc user update ann@example.org --super-admin",
      'svc user update ann@example.org --name "Ann Lee"',
    ),
  )
  .action(async (email: string, options: UpdateOptions) => {
    const { superAdmin: is_super_admin, devops: is_devops, name } = options;
    const body = { is_super_admin, is_devops, name };
    if (Object.values(body).every((value) => value === undefined)) {
      update.error("error: nothing to change: give --super-admin, --devops, their --no-… or --name");
    }
    await withClient(options, (client) => client.call(updateAccount, { email, body }));
    if (options.json) printJson({ email, ...body });
    else printNote(`changed ${email}`);
  });

interface PasswordOptions extends CommonOptions {
  passwordStdin?: boolean;
}

const setPassword = createCommand(
  "set-password",
  "change your password, or another user's; their sessions end",
)
  .summary("change a password")
  .argument("[email]", "e-mail of the user (default: you)")
  .option("--password-stdin", "read the password from stdin; asked for on a terminal")
  .addHelpText(
    "after",
    formatExamples(
      "svc user set-password",
      "pass show new | svc user set-password ann@example.org --password-stdin",
    ),
  )
  .action(async (email: string | undefined, options: PasswordOptions) => {
    const password = options.passwordStdin
      ? requirePassword(await readSecretFromStdin())
      : await askForNewPassword(undefined, { message: "New password", flag: "--password-stdin" });
    const body = { password };
    const answer = await withClient(options, (client) =>
      email === undefined
        ? client.open(setOwnPassword, { body })
        : client.open(setPasswordOf, { user: email, body }),
    );
    keepSession(options, answer);
    if (options.json) printJson({ email: email ?? null });
    else printNote(await answer.text());
  });

/** Stores the new session token: changing the password replaced the caller's session. */
function keepSession(options: CommonOptions, answer: Response): void {
  const cookie = answer.headers.getSetCookie().find((each) => each.startsWith("token="));
  const token = cookie && /^token=(\w+);/.exec(cookie)?.[1];
  const login = token && resolveConnection(options).is_login ? readLogin() : undefined;
  if (token && login) writeLogin({ ...login, token });
}

const setLoginType = createCommand("set-login-type", "set how a user logs in; ends their sessions")
  .summary("set how a user logs in")
  .argument("<email>", "e-mail of the user")
  .argument("<type>", "password, or the name of a login provider, such as github")
  .addHelpText("after", formatExamples("svc user set-login-type ann@example.org github"))
  .action(async (email: string, login_type: string, options: CommonOptions) => {
    const input = { user: email, body: { login_type } };
    keepSession(options, await withClient(options, (client) => client.open(setLoginTypeOf, input)));
    if (options.json) printJson({ email, login_type });
    else printNote(`${email} logs in with ${login_type}`);
  });

const renameUserOperation = createCommand(
  "rename",
  "rename a user in all workspaces; what is below u/<name>/ moves along",
)
  .summary("change a username everywhere")
  .argument("<email>", "e-mail of the user")
  .argument("<username>", "the new name: letters, digits and _")
  .addHelpText("after", formatExamples("svc user rename ann@example.org ann_lee"))
  .action(async (email: string, new_username: string, options: CommonOptions) => {
    const body = { new_username };
    await withClient(options, (client) => client.call(renameAccount, { email, body }));
    if (options.json) printJson({ email, username: new_username });
    else printNote(`${email} is called ${new_username}`);
  });

const remove = createCommand(
  "delete",
  "delete a user: their runs are canceled, what they own is left to the admins",
)
  .summary("delete a user")
  .argument("<email>", "e-mail of the user")
  .option("--yes", "do not ask for confirmation")
  .addHelpText("after", formatExamples("svc user delete ann@example.org --yes"))
  .action(async (email: string, options: CommonOptions & { yes?: boolean }) => {
    const question = `Delete user ${email} from the whole instance ${describeServer(options)}?`;
    await confirmName(options.yes, question, email);
    await withClient(options, (client) => client.call(deleteAccount, { email }));
    if (options.json) printJson({ email });
    else printNote(`deleted ${email}`);
  });

export default createNoun(
  "user",
  "create, list, change and delete users",
  create,
  list,
  get,
  update,
  setPassword,
  setLoginType,
  renameUserOperation,
  remove,
).addHelpText("after", formatExamples("svc user create --email bob@example.org", "svc user list --active"));
