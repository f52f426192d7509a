import { createToken, createTokenFor, listTokens } from "../../src/features/tokens/operations.ts";
import { type CommonOptions, examples, leaf, noun, urlOf, withClient } from "../command.ts";
import { secondsOf } from "../options.ts";
import { usageError } from "../terminal/failure.ts";
import { print, printJson, printTable } from "../terminal/output.ts";
import { askFor } from "../terminal/prompts.ts";

interface CreateOptions extends CommonOptions {
  email?: string;
  label?: string;
  workspace?: string;
  scope?: string[];
  expiresIn?: string;
}

const collect = (value: string, before: string[] = []) => [...before, value];

const create = leaf("create", "create a token; prints it, and nothing else")
  .option("--email <email>", "whose token it is; left out with --url and --token: your own")
  .option("--label <label>", "what tells it apart in lists")
  .option("--workspace <id>", "binds it to one workspace")
  .option("--scope <scope>", "restricts it, such as jobs:run:scripts:u/ann/hello; may be repeated", collect)
  .option("--expires-in <time>", "such as 15m, 72h or 30d; never when left out")
  .addHelpText(
    "after",
    examples(
      "svc token create --email ann@example.org --label laptop --expires-in 30d",
      "svc token create --email ann@example.org --label webhook-shop \\\n      --workspace acme --scope jobs:run:scripts:u/ann/hello",
    ),
  )
  .action(async (options: CreateOptions) => {
    const expiration = options.expiresIn
      ? new Date(Date.now() + secondsOf("--expires-in", options.expiresIn) * 1000).toISOString()
      : undefined;
    const body = {
      label: options.label,
      workspace_id: options.workspace,
      scopes: options.scope,
      expiration,
    };
    // The operator of a data directory is no user, and has no tokens.
    const email = urlOf(options)
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

const list = leaf("list", "list your tokens")
  .addHelpText("after", examples("svc token list --url http://localhost:8000 --token $SVC_TOKEN"))
  .action(async (options: CommonOptions) => {
    if (!urlOf(options)) {
      throw usageError("--url is missing", "it lists the tokens of the user whose --token it is given");
    }
    const found = await withClient(options, (client) => client.call(listTokens, {}));
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "PREFIX", value: (row) => row.token_prefix },
      { title: "LABEL", value: (row) => row.label ?? "" },
      { title: "LAST USED", value: (row) => String(row.last_used_at) },
      { title: "EXPIRES", value: (row) => String(row.expiration ?? "never") },
    ]);
  });

export default noun("token", "create and list tokens", create, list);
