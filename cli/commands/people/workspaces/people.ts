/** Who belongs to a workspace, from the command line. */

import {
  acceptOwnInvite,
  declineOwnInvite,
  listOwnInvites,
} from "../../../../src/features/accounts/admin/own-operations.ts";
import {
  addUser,
  deleteInvite,
  inviteUser,
  leaveWorkspace,
  listPendingInvites,
} from "../../../../src/features/accounts/members/joining/membership-operations.ts";
import { deleteMember } from "../../../../src/features/accounts/members/member-operations.ts";
import { type CommonOptions, examples, leaf, withClient } from "../../../program/command.ts";
import { confirmFirst } from "../../../terminal/prompts.ts";
import { usageError } from "../../../terminal/text/failure.ts";
import { note, printJson, printTable } from "../../../terminal/text/output.ts";

interface RoleOptions extends CommonOptions {
  admin?: boolean;
  operator?: boolean;
}

const inRole = (name: string, summary: string) =>
  leaf(name, summary)
    .argument("<id>", "the workspace")
    .argument("<email>", "whom")
    .option("--admin", "make them an admin")
    .option("--operator", "make them an operator, who may only run and view");

function roleOf({ admin = false, operator = false }: RoleOptions): { is_admin: boolean; operator: boolean } {
  if (admin && operator) throw usageError("--admin and --operator exclude each other");
  return { is_admin: admin, operator };
}

const invite = inRole("invite", "invite somebody by e-mail")
  .addHelpText("after", examples("svc workspace invite acme bob@example.org"))
  .action(async (workspace: string, email: string, options: RoleOptions) => {
    const body = { email, ...roleOf(options) };
    const answer = await withClient(options, (client) => client.call(inviteUser, { workspace, body }));
    if (options.json) printJson({ workspace_id: workspace, ...body });
    else note(answer);
  });

const uninvite = leaf("uninvite", "take an invite back")
  .argument("<id>", "the workspace")
  .argument("<email>", "whom")
  .addHelpText("after", examples("svc workspace uninvite acme bob@example.org"))
  .action(async (workspace: string, email: string, options: CommonOptions) => {
    const body = { email, is_admin: false, operator: false };
    const answer = await withClient(options, (client) => client.call(deleteInvite, { workspace, body }));
    if (options.json) printJson({ workspace_id: workspace, email });
    else note(answer);
  });

interface Role {
  is_admin: boolean;
  operator: boolean;
}

const role = { title: "ROLE", value: (row: Role) => roleName(row) };

function roleName({ is_admin, operator }: Role): string {
  return is_admin ? "admin" : operator ? "operator" : "developer";
}

const invites = leaf("invites", "list invites: a workspace's or yours")
  .argument("[id]", "the workspace; left out, those that you are invited to")
  .addHelpText("after", examples("svc workspace invites acme", "svc workspace invites"))
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

const accept = leaf("accept", "accept an invite")
  .argument("<id>", "the workspace")
  .option("--username <username>", "your name there, such as u/<username>/…")
  .addHelpText("after", examples("svc workspace accept acme --username bob"))
  .action(async (workspace_id: string, options: CommonOptions & { username?: string }) => {
    const body = { workspace_id, username: options.username };
    const answer = await withClient(options, (client) => client.call(acceptOwnInvite, { body }));
    if (options.json) printJson({ workspace_id });
    else note(answer);
  });

const decline = leaf("decline", "decline an invite")
  .argument("<id>", "the workspace")
  .addHelpText("after", examples("svc workspace decline acme"))
  .action(async (workspace_id: string, options: CommonOptions) => {
    const body = { workspace_id };
    const answer = await withClient(options, (client) => client.call(declineOwnInvite, { body }));
    if (options.json) printJson({ workspace_id });
    else note(answer);
  });

const add = inRole("add-user", "add a member, with or without account")
  .option("--username <username>", "the name in the workspace, such as u/<username>/…")
  .addHelpText("after", examples("svc workspace add-user acme bob@example.org --username bob"))
  .action(async (workspace: string, email: string, options: RoleOptions & { username?: string }) => {
    const body = { email, ...roleOf(options), username: options.username };
    const answer = await withClient(options, (client) => client.call(addUser, { workspace, body }));
    if (options.json) printJson({ workspace_id: workspace, ...body });
    else note(answer);
  });

const removeUser = leaf("remove-user", "remove a member")
  .argument("<id>", "the workspace")
  .argument("<username>", "the name in the workspace")
  .option("--yes", "do not ask")
  .addHelpText("after", examples("svc workspace remove-user acme bob --yes"))
  .action(async (workspace: string, username: string, options: CommonOptions & { yes?: boolean }) => {
    await confirmFirst(options.yes, `Remove ${username} from workspace ${workspace}?`);
    const answer = await withClient(options, (client) => client.call(deleteMember, { workspace, username }));
    if (options.json) printJson({ workspace_id: workspace, username });
    else note(answer);
  });

const leave = leaf("leave", "leave a workspace")
  .argument("<id>", "the workspace")
  .option("--yes", "do not ask")
  .addHelpText("after", examples("svc workspace leave acme --url http://localhost:8000 --token $SVC_TOKEN"))
  .action(async (workspace: string, options: CommonOptions & { yes?: boolean }) => {
    await confirmFirst(options.yes, `Leave workspace ${workspace}?`);
    const answer = await withClient(options, (client) => client.call(leaveWorkspace, { workspace }));
    if (options.json) printJson({ workspace_id: workspace });
    else note(answer);
  });

export const peopleCommands = [invite, uninvite, invites, accept, decline, add, removeUser, leave];
