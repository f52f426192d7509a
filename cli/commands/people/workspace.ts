import {
  archiveWorkspace,
  changeWorkspaceIdOperation,
  changeWorkspaceName,
  createWorkspace,
  deleteWorkspace,
  getPremiumInfo,
  getWorkspaceName,
  listWorkspaces,
  listWorkspacesAsSuperAdmin,
  unarchiveWorkspace,
} from "../../client/operations/lifecycle.ts";
import {
  actsAsUser,
  type CommonOptions,
  createCommand,
  createNoun,
  describeServer,
  formatExamples,
  withClient,
} from "../../program/command.ts";
import { askFor, confirmFirst, confirmName } from "../../terminal/prompts.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";
import { memberCommands } from "./workspaces/member-commands.ts";
import settings from "./workspaces/settings-command.ts";
import { useCommand } from "./workspaces/use-command.ts";

const create = createCommand("create", "create a workspace")
  .argument("<id>", "letters, digits, _ and single dashes")
  .option("--name <name>", "display name (default: its id)")
  .option("--owner <email>", "its first admin (default: you)")
  .option("--username <username>", "the owner's name in the workspace")
  .addHelpText(
    "after",
    formatExamples(
      "svc workspace create acme",
      "svc workspace create acme --name Acme --owner ann@example.org",
    ),
  )
  .action(
    async (id: string, options: CommonOptions & { name?: string; owner?: string; username?: string }) => {
      const { name = id, username } = options;
      // The local admin of a data directory is not a user, and cannot be a workspace's admin.
      const owner = actsAsUser(options)
        ? options.owner
        : await askFor(options.owner, { message: "E-mail of its first admin", flag: "--owner" });
      await withClient(options, (client) =>
        client.call(createWorkspace, { body: { id, name, owner, username } }),
      );
      if (options.json) printJson({ id, name, owner });
      else printNote(`created workspace ${id}`);
    },
  );

const list = createCommand("list", "list workspaces")
  .option("--all", "archived ones too: super admins only")
  .addHelpText("after", formatExamples("svc workspace list --json", "svc workspace list --all"))
  .action(async (options: CommonOptions & { all?: boolean }) => {
    if (options.all) return listAll(options);
    const found = await withClient(options, (client) => client.call(listWorkspaces, {}));
    if (options.json) return printJson(found);
    await printTable(
      found,
      [
        { title: "ID", value: (row) => row.id },
        { title: "NAME", value: (row) => row.name },
        { title: "OWNER", value: (row) => row.owner },
      ],
      "no workspaces; svc workspace create <id>",
    );
  });

async function listAll(options: CommonOptions): Promise<void> {
  const found = await withClient(options, (client) => client.call(listWorkspacesAsSuperAdmin, {}));
  if (options.json) return printJson(found);
  await printTable(found, [
    { title: "ID", value: (row) => row.id },
    { title: "STATE", value: (row) => (row.deleted ? "archived" : "active") },
    { title: "NAME", value: (row) => row.name },
    { title: "OWNER", value: (row) => row.owner },
  ]);
}

const get = createCommand("show", "show a workspace")
  .argument("<id>")
  .addHelpText("after", formatExamples("svc workspace show acme"))
  .action(async (id: string, options: CommonOptions) => {
    const { readWorkspaceSettings } = await import("../../client/workspace-settings.ts");
    const found = await withClient(options, async (client) => ({
      id,
      name: await client.call(getWorkspaceName, { workspace: id }),
      ...(await client.call(getPremiumInfo, { workspace: id })),
      settings: await readWorkspaceSettings(client, id),
    }));
    if (options.json) return printJson(found);
    const facts = [
      ["id", found.id],
      ["name", found.name],
      ["premium", found.premium ? "yes" : "no"],
      ["executions this month", String(found.usage)],
      ["deployed to", found.settings.deploy_to ?? "-"],
      ["error handler", found.settings.error_handler ?? "-"],
      ["object storage", found.settings.large_file_storage?.type ?? "-"],
    ];
    for (const [name, value] of facts) print(`${name!.padEnd(22)}${value}`);
  });

const archive = createCommand("archive", "close a workspace until unarchived")
  .argument("<id>")
  .option("--yes", "do not ask")
  .addHelpText("after", formatExamples("svc workspace archive acme --yes"))
  .action(async (id: string, options: CommonOptions & { yes?: boolean }) => {
    await confirmFirst(
      options.yes,
      `Archive workspace ${id} ${describeServer(options)}? What runs in it is canceled.`,
    );
    await withClient(options, (client) => client.call(archiveWorkspace, { workspace: id }));
    printConfirmation(options, { id, archived: true }, `archived workspace ${id}`);
  });

const unarchive = createCommand("unarchive", "bring an archived workspace back")
  .argument("<id>")
  .addHelpText("after", formatExamples("svc workspace unarchive acme"))
  .action(async (id: string, options: CommonOptions) => {
    await withClient(options, (client) => client.call(unarchiveWorkspace, { workspace: id }));
    printConfirmation(options, { id, archived: false }, `unarchived workspace ${id}`);
  });

const remove = createCommand("delete", "delete a workspace permanently")
  .argument("<id>")
  .option("--yes", "do not ask")
  .addHelpText("after", formatExamples("svc workspace delete acme --yes"))
  .action(async (id: string, options: CommonOptions & { yes?: boolean }) => {
    const question = `Delete workspace ${id} ${describeServer(options)} with everything in it, for good?`;
    await confirmName(options.yes, question, id);
    await withClient(options, (client) => client.call(deleteWorkspace, { workspace: id }));
    printConfirmation(options, { id, deleted: true }, `deleted workspace ${id}`);
  });

const rename = createCommand("rename", "change a workspace's name or id")
  .argument("<id>")
  .option("--name <name>", "display name")
  .option("--id <new-id>", "its new id; running jobs are canceled, waiting ones move along")
  .option("--yes", "do not ask before the id is changed")
  .addHelpText(
    "after",
    formatExamples(
      "svc workspace rename acme --name 'Acme Corporation'",
      "svc workspace rename acme --id acme-corp --yes",
    ),
  )
  .action(async (id: string, options: CommonOptions & { name?: string; id?: string; yes?: boolean }) => {
    const { name: new_name, id: new_id } = options;
    if (new_id === undefined) {
      if (new_name === undefined) rename.error("error: one of --name and --id is missing");
      const body = { new_name };
      await withClient(options, (client) => client.call(changeWorkspaceName, { workspace: id, body }));
      return printConfirmation(options, { id, name: new_name }, `workspace ${id} is called ${new_name}`);
    }
    await confirmFirst(
      options.yes,
      `Give workspace ${id} ${describeServer(options)} the id ${new_id}? What runs in it is canceled.`,
    );
    const body = { new_id, new_name };
    await withClient(options, (client) => client.call(changeWorkspaceIdOperation, { workspace: id, body }));
    printConfirmation(options, { id: new_id, name: new_name }, `workspace ${id} has the id ${new_id} now`);
  });

function printConfirmation(options: CommonOptions, json: object, text: string): void {
  if (options.json) printJson(json);
  else printNote(text);
}

export default createNoun(
  "workspace",
  "create, list, configure and delete workspaces",
  create,
  list,
  get,
  useCommand,
  rename,
  archive,
  unarchive,
  remove,
  ...memberCommands,
  settings,
).addHelpText(
  "after",
  formatExamples(
    "svc workspace create acme --name Acme --owner ann@example.org",
    "svc workspace add-user acme bob@example.org",
  ),
);
