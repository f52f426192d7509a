import { deleteLogin, isSameServer, type Login, readLogin, writeLogin } from "../../client/login-file.ts";
import {
  logout as endSession,
  login as openSession,
  globalWhoami as readWhoami,
} from "../../client/operations/accounts.ts";
import { connectToService, normaliseServerUrl } from "../../client/transport.ts";
import {
  type CommonOptions,
  createCommand,
  formatExamples,
  resolveConnection,
  withClient,
} from "../../program/command.ts";
import { askFor, readSecretFromStdin } from "../../terminal/prompts.ts";
import { CliError, createUsageError, EXIT_CODES } from "../../terminal/text/failure.ts";
import { printJson, printNote, printTable } from "../../terminal/text/output.ts";

const DEFAULT_URL = "http://localhost:8000";

interface LoginOptions extends CommonOptions {
  email?: string;
  passwordStdin?: boolean;
  withToken?: boolean;
}

export const login = createCommand("login", "log in to a server; later commands use it", "nothing")
  .argument("[url]", `address of the server (env SVC_URL, else that of the last login, else ${DEFAULT_URL})`)
  .option("--email <email>", "e-mail; asked for on a terminal")
  .option("--password-stdin", "read the password from stdin; asked for on a terminal")
  .option("--with-token", "read a token from stdin instead; svc logout does not delete it")
  .addHelpText(
    "after",
    formatExamples(
      "echo $TOKEN | svc login https://svc.example.org --with-token",
      "svc login https://svc.example.org",
      "pass svc | svc login --email ann@example.org --password-stdin",
    ),
  )
  .action(async (given: string | undefined, options: LoginOptions) => {
    const last = findLastLogin();
    const url = normaliseServerUrl(completeUrl(given ?? (process.env.SVC_URL || last?.url || DEFAULT_URL)));
    await requireServer(url);
    if (options.withToken) return loginWithToken(url, options);
    const typed = await askFor(options.email, { message: `E-mail at ${url}`, flag: "--email" });
    const password = options.passwordStdin
      ? await readSecretFromStdin()
      : await askFor(undefined, { message: "Password", flag: "--password-stdin", secret: true });
    const email = typed.trim().toLowerCase();
    const token = await createSession(url, email, password);
    writeLogin({ url, email, token });
    if (last && isSameServer(last.url, url)) await endSessionQuietly(last);
    if (options.json) printJson({ url, email });
    else printNote(`logged in to ${url} as ${email}`);
  });

/** Stores a token from stdin after the server has accepted it. */
async function loginWithToken(url: string, { json }: CommonOptions): Promise<void> {
  const token = (await readSecretFromStdin()).trim();
  if (token === "") throw createUsageError("--with-token: there is no token on stdin");
  const client = await connectToService({ url, token });
  const { email } = await client.call(readWhoami, {});
  writeLogin({ url, email, token, is_token: true });
  if (json) printJson({ url, email });
  else printNote(`logged in to ${url} as ${email}, with that token`);
}

/** Adds the scheme to an address such as `127.0.0.1:8000`: https, except to this machine. */
function completeUrl(given: string): string {
  if (given.includes("://")) return given;
  const isLocal = /^(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/.test(given);
  return `${isLocal ? "http" : "https"}://${given}`;
}

/** Checks that the server can be reached, before any question is asked. @throws CliError */
async function requireServer(url: string): Promise<void> {
  const client = await connectToService({ url });
  await (await client.send("/api/version", {})).text();
}

/** Returns the stored login; a damaged file counts as none and is overwritten. */
function findLastLogin(): Login | undefined {
  try {
    return readLogin();
  } catch {
    return undefined;
  }
}

async function createSession(url: string, email: string, password: string): Promise<string> {
  const client = await connectToService({ url });
  const token = await client.call(openSession, { body: { email, password } }).catch((cause: Error) => {
    if (!/Invalid login/.test(cause.message)) throw cause;
    throw new CliError("Login", `wrong e-mail or password for ${url}`);
  });
  if (/^[0-9A-Za-z]{32}$/.test(String(token))) return String(token);
  throw new CliError("Unreachable", `the server at ${url} is not svc: it returned no session`, {
    hint: "check the address",
    exit_code: EXIT_CODES.unreachable,
  });
}

/** Ends the session on the server and ignores errors. @returns whether the server ended the session */
async function endSessionQuietly({ url, token, is_token }: Login): Promise<boolean> {
  if (is_token) return true;
  const client = await connectToService({ url, token });
  return client.call(endSession, {}).then(
    () => true,
    () => false,
  );
}

export const logout = createCommand("logout", "log out", "nothing")
  .addHelpText("after", formatExamples("svc logout"))
  .action(async (options: CommonOptions) => {
    const kept = readLogin();
    const ended = kept ? await endSessionQuietly(kept) : false;
    deleteLogin();
    if (options.json) return printJson({ url: kept?.url ?? null, ended });
    if (!kept) printNote("not logged in");
    else if (ended) printNote(`logged out of ${kept.url}`);
    else printNote(`logged out; ${kept.url} could not be reached, and ends the session when it expires`);
  });

export const whoami = createCommand("whoami", "show who you are, and on which server")
  .addHelpText(
    "after",
    formatExamples("svc whoami", "svc whoami --url http://localhost:8000 --token $SVC_TOKEN"),
  )
  .action(async (options: CommonOptions) => {
    const found = await withClient(options, (client) => client.call(readWhoami, {}));
    const { url, data_dir } = resolveConnection(options);
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
