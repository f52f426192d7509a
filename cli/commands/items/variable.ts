import { parsePath } from "../../../src/lib/text/paths.ts";
import { removeTrailingSlashes } from "../../../src/lib/text/slashes.ts";
import { parseDotenv } from "../../client/dotenv.ts";
import {
  createVariable,
  deleteVariable,
  existsVariable,
  getVariable,
  listVariables,
  updateVariable,
} from "../../client/operations/assets.ts";
import type { ServiceClient } from "../../client/transport.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { readAllPages } from "../../program/pages.ts";
import { readValueArgument } from "../../program/values.ts";
import { isInteractive } from "../../terminal/prompts.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

interface VariableChange {
  path: string;
  value: string;
  is_secret: boolean | undefined;
  description: string | undefined;
}

/** Creates a variable, or changes the existing one. @returns whether the variable is new */
async function storeVariable(
  client: ServiceClient,
  workspace: string,
  { path, ...change }: VariableChange,
): Promise<boolean> {
  if (await client.call(existsVariable, { workspace, path })) {
    await client.call(updateVariable, { workspace, path, body: change });
    return false;
  }
  const { is_secret = false, description = "" } = change;
  await client.call(createVariable, {
    workspace,
    body: { path, value: change.value, is_secret, description },
  });
  return true;
}

/** Whether the variable is already a secret, so that its new value is not echoed either. */
function isSecret(path: string, options: WorkspaceOptions): Promise<boolean> {
  return withClient(options, async (client) => {
    const workspace = await resolveWorkspace(client, options.workspace);
    if (!(await client.call(existsVariable, { workspace, path }))) return false;
    const query = { decrypt_secret: false };
    return (await client.call(getVariable, { workspace, path, query })).is_secret;
  });
}

const set = createWorkspaceCommand("set", "create or change a variable")
  .argument("<path>", "such as u/ann/api_key")
  .argument("[value]", "its value; - reads it from stdin; asked for when left out")
  .option("--secret", "store it encrypted, and hide its value in lists")
  .option("--summary <text>", "what it is for")
  .addHelpText(
    "after",
    formatExamples(
      "svc variable set u/ann/region eu-1 --workspace acme",
      "svc variable set u/ann/key --secret",
      "pass show api | svc variable set u/ann/key - --secret",
    ),
  )
  .action(
    async (
      path: string,
      given: string | undefined,
      options: WorkspaceOptions & { secret?: boolean; summary?: string },
    ) => {
      const { secret, summary: description } = options;
      const isAsked = given === undefined && isInteractive();
      const isHidden = secret || (isAsked && (await isSecret(path, options)));
      const value = await readValueArgument(given, { message: `Value of ${path}`, secret: isHidden });
      if (secret && given !== undefined && given !== "-" && isInteractive()) {
        printNote(
          "the secret is now in the shell's history: leave it out to be asked for it, or pass it on stdin with -",
        );
      }
      const created = await withClient(options, async (client) => {
        const workspace = await resolveWorkspace(client, options.workspace);
        return storeVariable(client, workspace, { path, value, is_secret: secret, description });
      });
      if (options.json) printJson({ path, created });
      else printNote(`${created ? "created" : "changed"} ${path}`);
    },
  );

const get = createWorkspaceCommand("show", "print the value of a variable")
  .argument("<path>")
  .addHelpText("after", formatExamples("svc variable show u/ann/region --workspace acme"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(getVariable, { workspace: await resolveWorkspace(client, options.workspace), path }),
    );
    if (options.json) printJson(found);
    else print(found.value ?? "");
  });

const list = createWorkspaceCommand("list", "list variables; values of secrets stay hidden")
  .option("--prefix <path>", "only paths that begin with this")
  .addHelpText("after", formatExamples("svc variable list --workspace acme --prefix u/ann/"))
  .action(async (options: WorkspaceOptions & { prefix?: string }) => {
    const found = await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      return readAllPages((paging) =>
        client.call(listVariables, { workspace, query: { path_start: options.prefix, ...paging } }),
      );
    });
    if (options.json) return printJson(found);
    await printTable(
      found,
      [
        { title: "PATH", value: (row) => row.path },
        { title: "VALUE", value: (row) => (row.is_secret ? "(secret)" : (row.value ?? "")) },
        { title: "SUMMARY", value: (row) => row.description },
      ],
      "no variables; svc variable set --help",
    );
  });

const remove = createWorkspaceCommand("delete", "delete variables")
  .argument("<path...>")
  .addHelpText("after", formatExamples("svc variable delete u/ann/region u/ann/old_key --workspace acme"))
  .action(async (paths: string[], options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      for (const path of paths) {
        await client.call(deleteVariable, { workspace, path });
        if (!options.json) printNote(`deleted ${path}`);
      }
    });
    if (options.json) printJson({ deleted: paths });
  });

const rename = createWorkspaceCommand(
  "rename",
  "move a variable to another path; references to the old path are not changed",
)
  .argument("<path>")
  .argument("<new path>")
  .addHelpText("after", formatExamples("svc variable rename u/ann/key f/shop/key --workspace acme"))
  .action(async (path: string, renamed: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) =>
      client.call(updateVariable, {
        workspace: await resolveWorkspace(client, options.workspace),
        path,
        body: { path: renamed },
      }),
    );
    if (options.json) printJson({ path: renamed });
    else printNote(`${path} is ${renamed} now`);
  });

interface ImportOptions extends WorkspaceOptions {
  to: string;
  plain?: boolean;
  dryRun?: boolean;
}

const importFile = createWorkspaceCommand(
  "import",
  "create or change a variable for each line NAME=value of a file",
)
  .argument("<file>", "such as .env; - reads stdin")
  .requiredOption("--to <path>", "where to put them, such as f/shop")
  .option("--plain", "store them as plain variables, not secrets")
  .option("--dry-run", "show what would be created, and create nothing")
  .addHelpText(
    "after",
    formatExamples(
      "svc variable import .env --to f/shop --workspace acme",
      "op inject -i .env | svc variable import - --to u/ann",
    ),
  )
  .action(async (file: string, options: ImportOptions) => {
    const settings = parseDotenv(await readText(file));
    if (settings.length === 0) throw createUsageError(`there is no NAME=value in ${file}`);
    const folder = removeTrailingSlashes(options.to);
    const changes = settings.map(({ name, value }) => ({
      path: toPath(folder, name),
      value,
      is_secret: options.plain ? undefined : true,
      description: undefined,
    }));
    const done: { path: string; created: boolean }[] = [];
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      for (const change of changes) {
        const { path } = change;
        const created = options.dryRun
          ? !(await client.call(existsVariable, { workspace, path }))
          : await storeVariable(client, workspace, change).catch((cause: CliError) => {
              throw createStoppedError(path, cause, done.length);
            });
        done.push({ path, created });
        if (!options.json)
          printNote(`${options.dryRun ? "would be " : ""}${created ? "created" : "changed"} ${path}`);
      }
    });
    if (options.json) printJson(done);
  });

/**
 * Joins folder and name to the path of a variable.
 * @throws a usage error for an invalid path, before anything is stored
 */
function toPath(folder: string, name: string): string {
  try {
    return parsePath(`${folder}/${name}`);
  } catch (cause) {
    throw createUsageError((cause as Error).message);
  }
}

function createStoppedError(path: string, cause: CliError, done: number): CliError {
  const hint =
    done === 0
      ? "nothing was stored"
      : `${done} before it are stored; what is stored already is only changed by another try`;
  return new CliError(cause.name, `${path}: ${cause.message}`, { hint, exit_code: cause.exit_code });
}

async function readText(file: string): Promise<string> {
  if (file === "-") return Bun.stdin.text();
  try {
    return await Bun.file(file).text();
  } catch (cause) {
    throw createUsageError(`${file} cannot be read: ${(cause as Error).message}`);
  }
}

export default createNoun(
  "variable",
  "read and write variables and secrets",
  set,
  get,
  list,
  remove,
  rename,
  importFile,
).addHelpText(
  "after",
  formatExamples("svc variable set u/ann/region eu-1", "svc variable list --prefix u/ann/"),
);
