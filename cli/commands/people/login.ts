import { whoami as readWhoami } from "../../../src/features/accounts/admin/own-operations.ts";
import {
  logout as endSession,
  login as openSession,
} from "../../../src/features/accounts/sessions/session-operations.ts";
import { forgetLogin, isSameServer, type Login, readLogin, writeLogin } from "../../client/login-file.ts";
import { baseOf, connect } from "../../client/transport.ts";
import { type CommonOptions, examples, leaf, targetOf, withClient } from "../../program/command.ts";
import { askFor, readSecret } from "../../terminal/prompts.ts";
import { CliError, EXIT } from "../../terminal/text/failure.ts";
import { note, printJson, printTable } from "../../terminal/text/output.ts";

const DEFAULT_URL = "http://localhost:8000";

interface LoginOptions extends CommonOptions {
  email?: string;
  passwordStdin?: boolean;
}

export const login = leaf("login", "log in to a server; later commands use it", "nothing")
  .argument("[url]", `address of the server (env SVC_URL, else that of the last login, else ${DEFAULT_URL})`)
  .option("--email <email>", "e-mail; asked for on a terminal")
  .option("--password-stdin", "read the password from stdin; asked for on a terminal")
  .addHelpText(
    "after",
    examples(
      "svc login https://svc.example.org",
      "pass svc | svc login --email ann@example.org --password-stdin",
    ),
  )
  .action(async (given: string | undefined, options: LoginOptions) => {
    const last = lastLogin();
    const url = baseOf(given ?? (process.env.SVC_URL || last?.url || DEFAULT_URL));
    const typed = await askFor(options.email, { message: `E-mail at ${url}`, flag: "--email" });
    const password = options.passwordStdin
      ? await readSecret()
      : await askFor(undefined, { message: "Password", flag: "--password-stdin", secret: true });
    const email = typed.trim().toLowerCase();
    const token = await sessionAt(url, email, password);
    writeLogin({ url, email, token });
    if (last && isSameServer(last.url, url)) await endQuietly(last);
    if (options.json) printJson({ url, email });
    else note(`logged in to ${url} as ${email}`);
  });

/** A damaged file is no reason not to write it anew. */
function lastLogin(): Login | undefined {
  try {
    return readLogin();
  } catch {
    return undefined;
  }
}

async function sessionAt(url: string, email: string, password: string): Promise<string> {
  const client = await connect({ url });
  const token = await client.call(openSession, { body: { email, password } });
  if (/^[0-9A-Za-z]{32}$/.test(String(token))) return String(token);
  throw new CliError("Unreachable", `what listens on ${url} is not svc: it answered no session`, {
    hint: "check the address",
    exit_code: EXIT.unreachable,
  });
}

/** @returns whether the server has ended it */
async function endQuietly({ url, token }: Login): Promise<boolean> {
  const client = await connect({ url, token });
  return client.call(endSession, {}).then(
    () => true,
    () => false,
  );
}

export const logout = leaf("logout", "log out", "nothing")
  .addHelpText("after", examples("svc logout"))
  .action(async (options: CommonOptions) => {
    const kept = readLogin();
    const ended = kept ? await endQuietly(kept) : false;
    forgetLogin();
    if (options.json) return printJson({ url: kept?.url ?? null, ended });
    if (!kept) note("not logged in");
    else if (ended) note(`logged out of ${kept.url}`);
    else note(`logged out; ${kept.url} could not be reached, and ends the session when it expires`);
  });

export const whoami = leaf("whoami", "show who you are, and on which server")
  .addHelpText("after", examples("svc whoami", "svc whoami --url http://localhost:8000 --token $SVC_TOKEN"))
  .action(async (options: CommonOptions) => {
    const found = await withClient(options, (client) => client.call(readWhoami, {}));
    const { url, data_dir } = targetOf(options);
    const where = url ?? data_dir ?? (process.env.SVC_DATA_DIR || ".svc");
    if (options.json) return printJson({ ...found, server: where });
    await printTable(
      [found],
      [
        { title: "E-MAIL", value: (user) => user.email },
        {
          title: "ROLE",
          value: (user) => (user.super_admin ? "super admin" : user.devops ? "devops" : "user"),
        },
        { title: "LOGIN", value: (user) => user.login_type },
        { title: "SERVER", value: () => where, cut: "never" },
      ],
    );
  });
