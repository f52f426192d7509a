import { createWorkspace, listWorkspaces } from "../../src/features/workspaces/operations.ts";
import { type CommonOptions, examples, leaf, noun, withClient } from "../command.ts";
import { note, printJson, printTable } from "../terminal/output.ts";

const create = leaf("create", "create a workspace")
  .argument("<id>", "letters, digits, _ and single dashes")
  .requiredOption("--name <name>", "what people call it")
  .requiredOption("--owner <email>", "the user who becomes its first admin")
  .option("--username <username>", "the owner's name in the workspace")
  .addHelpText("after", examples("svc workspace create acme --name Acme --owner ann@example.org"))
  .action(async (id: string, options: CommonOptions & { name: string; owner: string; username?: string }) => {
    const body = { id, name: options.name, owner: options.owner, username: options.username };
    await withClient(options, (client) => client.call(createWorkspace, { body }));
    if (options.json) printJson({ id, name: options.name, owner: options.owner });
    else note(`created workspace ${id}`);
  });

const list = leaf("list", "list workspaces")
  .addHelpText("after", examples("svc workspace list --json"))
  .action(async (options: CommonOptions) => {
    const found = await withClient(options, (client) => client.call(listWorkspaces, {}));
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "ID", value: (row) => row.id },
      { title: "NAME", value: (row) => row.name },
      { title: "OWNER", value: (row) => row.owner },
    ]);
  });

export default noun("workspace", "create and list workspaces", create, list);
