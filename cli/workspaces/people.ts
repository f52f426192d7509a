/** Who belongs to a workspace, from the command line. */

import {
  addUser,
  deleteInvite,
  inviteUser,
  leaveWorkspace,
  listPendingInvites,
} from "../../src/features/workspaces/people-operations.ts";
import type { TypedOperation } from "../../src/http/operation.ts";
import { responds } from "../../src/http/operation.ts";
import { type CommonOptions, examples, leaf, withClient } from "../command.ts";
import { usageError } from "../terminal/failure.ts";
import { note, printJson, printTable } from "../terminal/output.ts";
import { confirmFirst } from "../terminal/prompts.ts";

interface RoleOptions extends CommonOptions {
  admin?: boolean;
  operator?: boolean;
}

const inRole = (name: string, summary: string) =>
  leaf(name, summary)
    .argument("<id>", "the workspace")
    .argument("<email>", "whom")
    .option("--admin", "as an admin")
    .option("--operator", "as an operator, who runs and views only");

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

const invites = leaf("invites", "list who is invited")
  .argument("<id>", "the workspace")
  .addHelpText("after", examples("svc workspace invites acme"))
  .action(async (workspace: string, options: CommonOptions) => {
    const found = await withClient(options, (client) => client.call(listPendingInvites, { workspace }));
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "EMAIL", value: (row) => row.email },
      { title: "ROLE", value: (row) => (row.is_admin ? "admin" : row.operator ? "operator" : "developer") },
    ]);
  });

const add = inRole("add-user", "add a member, account or not")
  .option("--username <username>", "the name in the workspace, such as u/<username>/…")
  .addHelpText("after", examples("svc workspace add-user acme bob@example.org --username bob"))
  .action(async (workspace: string, email: string, options: RoleOptions & { username?: string }) => {
    const body = { email, ...roleOf(options), username: options.username };
    const answer = await withClient(options, (client) => client.call(addUser, { workspace, body }));
    if (options.json) printJson({ workspace_id: workspace, ...body });
    else note(answer);
  });

/** An operation of the users, known here by what is needed to call it. */
const deleteUser = {
  method: "DELETE",
  path: "/w/{workspace}/users/delete/{username}",
  responds: responds.text("confirmation"),
} as unknown as TypedOperation<{ workspace: string; username: string }, string>;

const removeUser = leaf("remove-user", "take a member away")
  .argument("<id>", "the workspace")
  .argument("<username>", "the name in the workspace")
  .option("--yes", "do not ask")
  .addHelpText("after", examples("svc workspace remove-user acme bob --yes"))
  .action(async (workspace: string, username: string, options: CommonOptions & { yes?: boolean }) => {
    await confirmFirst(options.yes, `Remove ${username} from workspace ${workspace}?`);
    const answer = await withClient(options, (client) => client.call(deleteUser, { workspace, username }));
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

export const peopleCommands = [invite, uninvite, invites, add, removeUser, leave];
