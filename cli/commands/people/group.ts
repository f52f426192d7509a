import {
  addUserToGroup,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  removeUserFromGroup,
} from "../../../src/features/accounts/groups/operations.ts";
import {
  examples,
  inWorkspace,
  noun,
  type WorkspaceOptions,
  withClient,
  workspaceFor,
} from "../../program/command.ts";
import { askFor } from "../../terminal/prompts.ts";
import { note, print, printJson, printTable } from "../../terminal/text/output.ts";

const list = inWorkspace("list", "list the groups of a workspace")
  .addHelpText("after", examples("svc group list --workspace acme"))
  .action(async (options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(listGroups, { workspace: await workspaceFor(client, options.workspace) }),
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

const create = inWorkspace("create", "create a group that you manage")
  .argument("[name]", "letters, digits, _ and -; left out it is asked for")
  .option("--summary <text>", "what it is for")
  .addHelpText("after", examples('svc group create engineers --summary "Who builds" --workspace acme'))
  .action(async (given: string | undefined, options: WorkspaceOptions & { summary?: string }) => {
    const name = await askFor(given, { message: "Name of the group", flag: "<name>" });
    const body = { name, summary: options.summary };
    await withClient(options, async (client) =>
      client.call(createGroup, { workspace: await workspaceFor(client, options.workspace), body }),
    );
    if (options.json) printJson({ name, created: true });
    else note(`created group ${name}: rights are given to it as g/${name}`);
  });

const get = inWorkspace("get", "show a group's members and managers")
  .argument("<name>")
  .addHelpText("after", examples("svc group get engineers --workspace acme"))
  .action(async (name: string, options: WorkspaceOptions) => {
    const found = await withClient(options, async (client) =>
      client.call(getGroup, { workspace: await workspaceFor(client, options.workspace), name }),
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

const addUser = inWorkspace("add-user", "add somebody to a group")
  .argument("<name>")
  .argument("<username>")
  .addHelpText("after", examples("svc group add-user engineers ann --workspace acme"))
  .action(async (name: string, username: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await workspaceFor(client, options.workspace);
      await client.call(addUserToGroup, { workspace, name, body: { username } });
    });
    if (options.json) printJson({ name, username, member: true });
    else note(`added ${username} to group ${name}`);
  });

const removeUser = inWorkspace("remove-user", "take somebody out of a group")
  .argument("<name>")
  .argument("<username>")
  .addHelpText("after", examples("svc group remove-user engineers ann --workspace acme"))
  .action(async (name: string, username: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) => {
      const workspace = await workspaceFor(client, options.workspace);
      await client.call(removeUserFromGroup, { workspace, name, body: { username } });
    });
    if (options.json) printJson({ name, username, member: false });
    else note(`removed ${username} from group ${name}`);
  });

const remove = inWorkspace("delete", "delete a group and its rights")
  .argument("<name>")
  .addHelpText("after", examples("svc group delete engineers --workspace acme"))
  .action(async (name: string, options: WorkspaceOptions) => {
    await withClient(options, async (client) =>
      client.call(deleteGroup, { workspace: await workspaceFor(client, options.workspace), name }),
    );
    if (options.json) printJson({ name, deleted: true });
    else note(`deleted group ${name}`);
  });

export default noun(
  "group",
  "manage groups and their members",
  list,
  create,
  get,
  addUser,
  removeUser,
  remove,
).addHelpText("after", examples("svc group create engineers", "svc group add-user engineers bob"));
