import {
  addUserToGroup,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  removeUserFromGroup,
} from "../../client/operations/accounts.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { askFor } from "../../terminal/prompts.ts";
import { print, printJson, printNote, printTable } from "../../terminal/text/output.ts";

const list = createWorkspaceCommand("list", "list the groups of a workspace")
  .addHelpText("after", formatExamples("svc group list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(listGroups, { workspace: await resolveWorkspace(client, options.workspace) }),
    );
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "NAME", value: (row) => row.name, cut: "never" },
      { title: "MANAGERS", value: managersOf },
      { title: "SUMMARY", value: (row) => row.summary },
    ]);
  });

function managersOf({ extra_perms }: { extra_perms: Record<string, boolean> }): string {
  return Object.keys(extra_perms)
    .filter((name) => extra_perms[name])
    .join(", ");
}

const create = createWorkspaceCommand("create", "create a group that you manage")
  .argument("[name]", "letters, digits, _ and -; asked for when left out")
  .option("--summary <text>", "what it is for")
  .addHelpText("after", formatExamples('svc group create engineers --summary "Who builds" --workspace acme'))
  .action(async (given: string | undefined, options: WorkspaceOptions & { summary?: string }) => {
    const name = await askFor(given, { message: "Name of the group", flag: "<name>" });
    const body = { name, summary: options.summary };
    await withClient(options, async (client) =>
      client.call(createGroup, { workspace: await resolveWorkspace(client, options.workspace), body }),
    );
    if (options.json) printJson({ name, created: true });
    else printNote(`created group ${name}: rights are given to it as g/${name}`);
  });

const get = createWorkspaceCommand("show", "show a group's members and managers")
  .argument("<name>")
  .addHelpText("after", formatExamples("svc group show engineers --workspace acme"))
  .action(async (name: string, options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(getGroup, { workspace: await resolveWorkspace(client, options.workspace), name }),
    );
    if (options.json) return printJson(found);
    if (found.summary) print(found.summary);
    await printTable(
      (found.members ?? []).map((username) => ({ username, manages: found.extra_perms[`u/${username}`] })),
      [
        { title: "MEMBER", value: (row) => row.username, cut: "never" },
        { title: "MANAGES", value: (row) => (row.manages ? "yes" : "") },
      ],
    );
  });

const addUser = createWorkspaceCommand("add-user", "add somebody to a group")
  .argument("<name>")
  .argument("<username>")
  .addHelpText("after", formatExamples("svc group add-user engineers ann --workspace acme"))
  .action(async (name: string, username: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      await client.call(addUserToGroup, { workspace, name, body: { username } });
    });
    if (options.json) printJson({ name, username, member: true });
    else printNote(`added ${username} to group ${name}`);
  });

const removeUser = createWorkspaceCommand("remove-user", "take somebody out of a group")
  .argument("<name>")
  .argument("<username>")
  .addHelpText("after", formatExamples("svc group remove-user engineers ann --workspace acme"))
  .action(async (name: string, username: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await resolveWorkspace(client, options.workspace);
      await client.call(removeUserFromGroup, { workspace, name, body: { username } });
    });
    if (options.json) printJson({ name, username, member: false });
    else printNote(`removed ${username} from group ${name}`);
  });

const remove = createWorkspaceCommand("delete", "delete a group and its rights")
  .argument("<name>")
  .addHelpText("after", formatExamples("svc group delete engineers --workspace acme"))
  .action(async (name: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) =>
      client.call(deleteGroup, { workspace: await resolveWorkspace(client, options.workspace), name }),
    );
    if (options.json) printJson({ name, deleted: true });
    else printNote(`deleted group ${name}`);
  });

export default createNoun(
  "group",
  "manage groups and their members",
  list,
  create,
  get,
  addUser,
  removeUser,
  remove,
).addHelpText("after", formatExamples("svc group create engineers", "svc group add-user engineers bob"));
