/** Commands for the members and invites of a workspace. */

import {
  acceptOwnInvite,
  addUser,
  declineOwnInvite,
  deleteInvite,
  deleteMember,
  inviteUser,
  leaveWorkspace,
  listOwnInvites,
  listPendingInvites,
} from "../../../client/operations/accounts.ts";
import {
  type CommonOptions,
  createCommand,
  describeServer,
  formatExamples,
  withClient,
} from "../../../program/command.ts";
import { confirmFirst } from "../../../terminal/prompts.ts";
import { createUsageError } from "../../../terminal/text/failure.ts";
import { printJson, printNote, printTable } from "../../../terminal/text/output.ts";

interface RoleOptions extends CommonOptions {
  admin?: boolean;
  operator?: boolean;
}

const createRoleCommand = (name: string, summary: string) =>
  createCommand(name, summary)
    .argument("<id>", "the workspace")
    .argument("<email>", "e-mail of the user")
    .option("--admin", "make them an admin")
    .option("--operator", "make them an operator, who may only run and view");

function parseRole({ admin = false, operator = false }: RoleOptions): {
  is_admin: boolean;
  operator: boolean;
} {
  if (admin && operator) throw createUsageError("--admin and --operator exclude each other");
  return { is_admin: admin, operator };
}

const invite = createRoleCommand("invite", "invite somebody by e-mail")
  .addHelpText("after", formatExamples("svc workspace invite acme bob@example.org"))
  .action(async (workspace: string, email: string, options: RoleOptions) => {
    const body = { email, ...parseRole(options) };
    const answer = await withClient(options, (client) => client.call(inviteUser, { workspace, body }));
    if (options.json) printJson({ workspace_id: workspace, ...body });
    else printNote(answer);
  });

const uninvite = createCommand("uninvite", "revoke an invite")
  .argument("<id>", "the workspace")
  .argument("<email>", "e-mail of the user")
  .addHelpText("after", formatExamples("svc workspace uninvite acme bob@example.org"))
  .action(async (workspace: string, email: string, options: CommonOptions) => {
    const body = { email, is_admin: false, operator: false };
    const answer = await withClient(options, (client) => client.call(deleteInvite, { workspace, body }));
    if (options.json) printJson({ workspace_id: workspace, email });
    else printNote(answer);
  });

interface Role {
  is_admin: boolean;
  operator: boolean;
}

const role = { title: "ROLE", value: (row: Role) => formatRole(row) };

function formatRole({ is_admin, operator }: Role): string {
  return is_admin ? "admin" : operator ? "operator" : "developer";
}

const invites = createCommand("invites", "list invites: a workspace's or yours")
  .argument("[id]", "the workspace (default: your own invites)")
  .addHelpText("after", formatExamples("svc workspace invites acme", "svc workspace invites"))
  .action(async (workspace: string | undefined, options: CommonOptions) => {
    const found = await withClient(options, (client) =>
      workspace === undefined
        ? client.call(listOwnInvites, {})
        : client.call(listPendingInvites, { workspace }),
    );
    if (options.json) return printJson(found);
    const whom = { title: "EMAIL", value: (row: { email: string }) => row.email };
    const where = { title: "WORKSPACE", value: (row: { workspace_id: string }) => row.workspace_id };
    await printTable(found, [workspace === undefined ? where : whom, role]);
  });

const accept = createCommand("accept", "accept an invite")
  .argument("<id>", "the workspace")
  .option("--username <username>", "your name there, such as u/<username>/…")
  .addHelpText("after", formatExamples("svc workspace accept acme --username bob"))
  .action(async (workspace_id: string, options: CommonOptions & { username?: string }) => {
    const body = { workspace_id, username: options.username };
    const answer = await withClient(options, (client) => client.call(acceptOwnInvite, { body }));
    if (options.json) printJson({ workspace_id });
    else printNote(answer);
  });

const decline = createCommand("decline", "decline an invite")
  .argument("<id>", "the workspace")
  .addHelpText("after", formatExamples("svc workspace decline acme"))
  .action(async (workspace_id: string, options: CommonOptions) => {
    const body = { workspace_id };
    const answer = await withClient(options, (client) => client.call(declineOwnInvite, { body }));
    if (options.json) printJson({ workspace_id });
    else printNote(answer);
  });

const add = createRoleCommand("add-user", "add a member, with or without account")
  .option("--username <username>", "the name in the workspace, such as u/<username>/…")
  .addHelpText("after", formatExamples("svc workspace add-user acme bob@example.org --username bob"))
  .action(async (workspace: string, email: string, options: RoleOptions & { username?: string }) => {
    const body = { email, ...parseRole(options), username: options.username };
    const answer = await withClient(options, (client) => client.call(addUser, { workspace, body }));
    if (options.json) printJson({ workspace_id: workspace, ...body });
    else printNote(answer);
  });

const removeUser = createCommand("remove-user", "remove a member")
  .argument("<id>", "the workspace")
  .argument("<username>", "the name in the workspace")
  .option("--yes", "do not ask")
  .addHelpText("after", formatExamples("svc workspace remove-user acme bob --yes"))
  .action(async (workspace: string, username: string, options: CommonOptions & { yes?: boolean }) => {
    await confirmFirst(
      options.yes,
      `Remove ${username} from workspace ${workspace} ${describeServer(options)}?`,
    );
    const answer = await withClient(options, (client) => client.call(deleteMember, { workspace, username }));
    if (options.json) printJson({ workspace_id: workspace, username });
    else printNote(answer);
  });

const leave = createCommand("leave", "leave a workspace")
  .argument("<id>", "the workspace")
  .option("--yes", "do not ask")
  .addHelpText(
    "after",
    formatExamples("svc workspace leave acme --url http://localhost:8000 --token $SVC_TOKEN"),
  )
  .action(async (workspace: string, options: CommonOptions & { yes?: boolean }) => {
    await confirmFirst(options.yes, `Leave workspace ${workspace} ${describeServer(options)}?`);
    const answer = await withClient(options, (client) => client.call(leaveWorkspace, { workspace }));
    if (options.json) printJson({ workspace_id: workspace });
    else printNote(answer);
  });

export const memberCommands = [invite, uninvite, invites, accept, decline, add, removeUser, leave];
