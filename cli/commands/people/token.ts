import chalk from "chalk";
import { createToken, createTokenFor, deleteToken, listTokens } from "../../client/operations/accounts.ts";
import {
  actsAsUser,
  type CommonOptions,
  createCommand,
  createNoun,
  formatExamples,
  withClient,
} from "../../program/command.ts";
import { parseSeconds } from "../../program/options.ts";
import { askFor } from "../../terminal/prompts.ts";
import { createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

interface CreateOptions extends CommonOptions {
  email?: string;
  label?: string;
  workspace?: string;
  scope?: string[];
  expiresIn?: string;
}

const collect = (value: string, before: string[] = []) => [...before, value];

const create = createCommand("create", "create a token; prints it, and nothing else")
  .option("--email <email>", "owner of the token (default: you)")
  .option("--label <label>", "its name in lists")
  .option("--workspace <id>", "restricts it to one workspace")
  .option("--scope <scope>", "restricts it, such as jobs:run:scripts:u/ann/hello; may be repeated", collect)
  .option("--expires-in <time>", "such as 15m, 72h or 30d (default: never)")
  .addHelpText(
    "after",
    formatExamples(
      "svc token create --email ann@example.org --label laptop --expires-in 30d",
      "svc token create --email ann@example.org --label webhook-shop \\\n      --workspace acme --scope jobs:run:scripts:u/ann/hello",
    ),
  )
  .action(async (options: CreateOptions) => {
    const expiration = options.expiresIn
      ? new Date(Date.now() + parseSeconds("--expires-in", options.expiresIn) * 1000).toISOString()
      : undefined;
    const body = {
      label: options.label,
      workspace_id: options.workspace,
      scopes: options.scope,
      expiration,
    };
    // The local admin of a data directory is not a user, and has no tokens.
    const email = actsAsUser(options)
      ? options.email
      : await askFor(options.email, { message: "E-mail of the user", flag: "--email" });
    const token = await withClient(options, (client) =>
      email === undefined
        ? client.call(createToken, { body })
        : client.call(createTokenFor, { body: { ...body, impersonate_email: email } }),
    );
    if (options.json) printJson({ token });
    else print(token);
  });

const DAY_MS = 24 * 3_600_000;
/** A token that expires within this time gets a badge. */
const EXPIRES_SOON_MS = 30 * DAY_MS;

/** Formats the badge of a token that expires soon; empty otherwise. */
function formatBadge(expiration: unknown, now: number): string {
  if (expiration == null) return "";
  const left_ms = new Date(String(expiration)).getTime() - now;
  if (left_ms > EXPIRES_SOON_MS) return "";
  if (left_ms <= 0) return "expired";
  const days = Math.floor(left_ms / DAY_MS);
  if (days === 0) return "expires within a day";
  return `expires in ${days} ${days === 1 ? "day" : "days"}`;
}

/**
 * Checks that the owner of the tokens is given, or is the user that the command acts as.
 * @throws a usage error if no owner is given: the local admin of a data directory has no tokens
 */
function requireOwner(options: OwnerOptions): void {
  if (options.email === undefined && !actsAsUser(options)) {
    throw createUsageError("--email is missing", "the tokens of which user: svc user list lists them");
  }
}

interface OwnerOptions extends CommonOptions {
  email?: string;
}

const list = createCommand("list", "list tokens, with a badge on those that expire within 30 days")
  .option("--email <email>", "owner of the tokens (default: you)")
  .option("--exclude-ephemeral", "leave out those that are created for single runs")
  .addHelpText("after", formatExamples("svc token list", "svc token list --email bob@example.org"))
  .action(async (options: OwnerOptions & { excludeEphemeral?: true }) => {
    requireOwner(options);
    const query = { exclude_ephemeral: options.excludeEphemeral ?? false, email: options.email };
    const found = await withClient(options, (client) => client.call(listTokens, { query }));
    if (options.json) return printJson(found);
    const now = Date.now();
    await printTable(
      found,
      [
        { title: "PREFIX", value: (row) => row.token_prefix, cut: "never" },
        { title: "LABEL", value: (row) => row.label ?? "" },
        { title: "LAST USED", value: (row) => formatMoment(row.last_used_at), cut: "never" },
        { title: "EXPIRES", value: (row) => formatMoment(row.expiration ?? "never"), cut: "never" },
        {
          title: "",
          value: (row) => formatBadge(row.expiration, now),
          cut: "never",
          paint: (text, row) =>
            (formatBadge(row.expiration, now) === "expired" ? chalk.red : chalk.yellow)(text),
        },
      ],
      "no tokens; svc token create --help",
    );
  });

/** Formats a time: shortened on a terminal, in full in a pipe. */
function formatMoment(moment: unknown): string {
  const text = String(moment);
  return process.stdout.isTTY && text.endsWith("Z") ? `${text.slice(0, 16).replace("T", " ")}Z` : text;
}

const remove = createCommand("delete", "delete the tokens with this prefix; they stop working at once")
  .argument("<prefix>", "the first 10 characters, as svc token list prints them")
  .option("--email <email>", "owner of the tokens (default: you)")
  .addHelpText("after", formatExamples("svc token delete Ab3dE6gH1j"))
  .action(async (token_prefix: string, options: OwnerOptions) => {
    requireOwner(options);
    const query = { email: options.email };
    const told = await withClient(options, (client) => client.call(deleteToken, { token_prefix, query }));
    if (options.json) printJson({ token_prefix, told });
    else printNote(told);
  });

export default createNoun("token", "create, list and delete tokens", create, list, remove).addHelpText(
  "after",
  formatExamples(
    "svc token create --email ann@example.org --label laptop",
    "svc token list --email bob@example.org",
  ),
);
