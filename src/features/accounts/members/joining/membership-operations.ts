import { optionalField } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { deleteMember } from "../members.ts";
import * as people from "./membership.ts";

const base = "/w/{workspace}/workspaces" as const;
const text = responds.text("confirmation");

const Invite = z.object({ email: z.string(), is_admin: z.boolean(), operator: z.boolean() });

export const inviteUser = operation({
  name: "inviteUser",
  method: "POST",
  path: `${base}/invite_user`,
  access: "admin",
  summary: "Invite a user, who becomes a member by accepting",
  body: Invite,
  responds: text,
  audit: { operation: "users.invite", action_kind: "Create" },
  run: async (ctx, { workspace, body }) =>
    `${await people.inviteUser(ctx, body)} invited to workspace ${workspace}`,
});

export const addUser = operation({
  name: "addUser",
  method: "POST",
  path: `${base}/add_user`,
  access: "admin",
  summary:
    "Add a user, whose account may not exist yet; existing accounts are invited, unless a super admin adds them",
  body: Invite.extend({ username: optionalField(z.string()) }),
  responds: text,
  audit: { operation: "users.add_to_workspace", action_kind: "Create" },
  run: async (ctx, { workspace, body }) => {
    const username = await people.addUser(ctx, body);
    const email = body.email.trim().toLowerCase();
    return username === undefined
      ? `${email} invited to workspace ${workspace}: they join by accepting`
      : `${email} added to workspace ${workspace} as ${username}`;
  },
});

export const deleteInvite = operation({
  name: "deleteInvite",
  method: "POST",
  path: `${base}/delete_invite`,
  access: "admin",
  summary: "Revoke an invite",
  body: Invite,
  responds: text,
  audit: { operation: "users.delete_invite", action_kind: "Delete" },
  run: async (ctx, { workspace, body }) =>
    `invite of ${await people.deleteInvite(ctx, body.email)} to workspace ${workspace} deleted`,
});

export const listPendingInvites = operation({
  name: "listPendingInvites",
  method: "GET",
  path: `${base}/list_pending_invites`,
  access: "admin",
  summary: "List pending invites",
  responds: responds.json(
    z.array(
      z.object({
        workspace_id: z.string(),
        email: z.string(),
        is_admin: z.boolean(),
        operator: z.boolean(),
      }),
    ),
  ),
  run: (ctx) => people.listPendingInvites(ctx),
});

export const leaveWorkspace = operation({
  name: "leaveWorkspace",
  method: "POST",
  path: `${base}/leave`,
  access: "member",
  summary: "Leave the workspace: the caller's runs are canceled, and their items are left to its admins",
  responds: text,
  audit: { operation: "users.leave_workspace", action_kind: "Delete" },
  run: async (ctx, { workspace }) => {
    await deleteMember(ctx, ctx.caller.member.username);
    return `left workspace ${workspace}`;
  },
});

export const peopleOperations: Operation[] = [
  inviteUser,
  addUser,
  deleteInvite,
  listPendingInvites,
  leaveWorkspace,
];
