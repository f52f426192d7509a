import {
  createVariable,
  existsVariable,
  getVariable,
  listVariables,
  updateVariable,
} from "../../src/features/variables/operations.ts";
import { examples, inWorkspace, noun, type WorkspaceOptions, withClient, workspaceFor } from "../command.ts";
import { note, print, printJson, printTable } from "../terminal/output.ts";
import { askFor } from "../terminal/prompts.ts";

const set = inWorkspace("set", "create or change a variable")
  .argument("<path>", "such as u/ann/api_key")
  .argument("[value]", "its value; - reads it from stdin, left out it is asked for")
  .option("--secret", "keep it encrypted and out of every list")
  .option("--description <text>", "what it is for")
  .addHelpText(
    "after",
    examples(
      "svc variable set u/ann/region eu-1 --workspace acme",
      "pass show api | svc variable set u/ann/key - --secret",
    ),
  )
  .action(
    async (
      path: string,
      value: string | undefined,
      options: WorkspaceOptions & { secret?: boolean; description?: string },
    ) => {
      const text =
        value === "-"
          ? (await Bun.stdin.text()).replace(/\r?\n$/, "")
          : await askFor(value, {
              message: `Value of ${path}`,
              flag: "<value>",
              secret: options.secret ?? false,
            });
      const change = { value: text, is_secret: options.secret, description: options.description };
      const created = await withClient(options, async (client) => {
        const workspace = await workspaceFor(client, options.workspace);
        const exists = await client.call(existsVariable, { workspace, path });
        if (exists) await client.call(updateVariable, { workspace, path, body: change });
        else {
          const body = {
            ...change,
            path,
            is_secret: options.secret ?? false,
            description: options.description ?? "",
          };
          await client.call(createVariable, { workspace, body });
        }
        return !exists;
      });
      if (options.json) printJson({ path, created });
      else note(`${created ? "created" : "changed"} ${path}`);
    },
  );

const get = inWorkspace("get", "print the value of a variable")
  .argument("<path>")
  .addHelpText("after", examples("svc variable get u/ann/region --workspace acme"))
  .action(async (path: string, options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(getVariable, { workspace: await workspaceFor(client, options.workspace), path }),
    );
    if (options.json) printJson(found);
    else print(found.value ?? "");
  });

const list = inWorkspace("list", "list variables; values of secrets stay hidden")
  .option("--prefix <path>", "only paths that begin so")
  .addHelpText("after", examples("svc variable list --workspace acme --prefix u/ann/"))
  .action(async (options: WorkspaceOptions & { prefix?: string }) => {
    const found = await withClient(options, async (client) =>
      client.call(listVariables, {
        workspace: await workspaceFor(client, options.workspace),
        query: { path_start: options.prefix },
      }),
    );
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "PATH", value: (row) => row.path },
      { title: "VALUE", value: (row) => (row.is_secret ? "(secret)" : (row.value ?? "")) },
      { title: "DESCRIPTION", value: (row) => row.description },
    ]);
  });

export default noun("variable", "read and write variables and secrets", set, get, list);
