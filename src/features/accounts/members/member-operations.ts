import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { isOwner } from "../../../platform/access/permissions.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { requireNoTriggerToken } from "../../tenancy/tokens/scopes.ts";
import * as members from "./members.ts";
import { User, UserUsage } from "./records.ts";
import { listUsage } from "./usage.ts";

export const getWorkspaceUser = operation({
  name: "getUser",
  method: "GET",
  path: "/w/{workspace}/users/get/{username}",
  access: "admin",
  summary: "Read a member of the workspace",
  responds: responds.json(User),
  run: (ctx, { workspace, username }) => members.getMember(ctx.app, workspace, username),
});

export const updateMember = operation({
  name: "updateUser",
  method: "POST",
  path: "/w/{workspace}/users/update/{username}",
  access: "admin",
  summary: "Change a member's role; a disabled member loses all access to the workspace at once",
  body: z.object({
    is_admin: optionalField(z.boolean()),
    operator: optionalField(z.boolean()),
    disabled: optionalField(z.boolean()),
  }),
  responds: responds.text("confirmation"),
  audit: { operation: "users.update", action_kind: "Update" },
  run: async (ctx, { username, body }) => {
    await members.updateMember(ctx, username, body);
    return `user ${username} updated`;
  },
});

export const deleteMember = operation({
  name: "deleteUser",
  method: "DELETE",
  path: "/w/{workspace}/users/delete/{username}",
  access: "admin",
  summary:
    "Remove a member from the workspace: their runs are canceled, and their items are left to the admins",
  responds: responds.text("confirmation"),
  audit: { operation: "users.delete", action_kind: "Delete" },
  run: async (ctx, { workspace, username }) => {
    await members.deleteMember(ctx, username);
    return `user ${username} deleted from workspace ${workspace}`;
  },
});

export const isOwnerOfPath = operation({
  name: "isOwnerOfPath",
  method: "GET",
  path: "/w/{workspace}/users/is_owner/{path}",
  access: "member",
  scope: { domain: "users", action: "read" },
  summary: "Check whether the caller owns a path; admins own all",
  responds: responds.json(z.boolean()),
  run: (ctx, { path }) => ctx.caller.member.is_admin || isOwner(ctx.caller.member, path),
});

export const whoami = operation({
  name: "whoami",
  method: "GET",
  path: "/w/{workspace}/users/whoami",
  access: "member",
  scope: false,
  summary: "Read the caller's membership in the workspace",
  responds: responds.json(User),
  run: ({ caller: { member, identity } }) => {
    requireNoTriggerToken(identity);
    return members.toUserRecord(member, identity.super_admin);
  },
});

export const whois = operation({
  name: "whois",
  method: "GET",
  path: "/w/{workspace}/users/whois/{username}",
  access: "member",
  summary: "Read a user's membership in the workspace",
  responds: responds.json(User),
  run: (ctx, { workspace, username }) => members.getMember(ctx.app, workspace, username),
});

export const listMembers = operation({
  name: "listUsers",
  method: "GET",
  path: "/w/{workspace}/users/list",
  access: "member",
  summary: "List the members of the workspace by name",
  responds: responds.json(z.array(User)),
  run: (ctx, { workspace }) => members.listMembers(ctx.app, workspace),
});

export const listMemberUsage = operation({
  name: "listUsersUsage",
  method: "GET",
  path: "/w/{workspace}/users/list_usage",
  access: "member",
  summary: "List the executions of members in the last seven days: a job's seconds plus one each",
  responds: responds.json(z.array(UserUsage)),
  run: (ctx, { workspace }) => listUsage(ctx.app, workspace),
});

export const listUsernames = operation({
  name: "listUsernames",
  method: "GET",
  path: "/w/{workspace}/users/list_usernames",
  access: "member",
  summary: "List the names of the members",
  responds: responds.json(z.array(z.string())),
  run: (ctx, { workspace }) => members.listUsernames(ctx.app, workspace),
});

export const usernameToEmail = operation({
  name: "usernameToEmail",
  method: "GET",
  path: "/w/{workspace}/users/username_to_email/{username}",
  access: "member",
  summary: "Read the e-mail of a member",
  responds: responds.text("e-mail"),
  run: async (ctx, { workspace, username }) =>
    (await members.getMemberByUsername(ctx.app.db.read, workspace, username)).email,
});

export const memberOperations: Operation[] = [
  getWorkspaceUser,
  updateMember,
  deleteMember,
  isOwnerOfPath,
  whoami,
  whois,
  listMembers,
  listMemberUsage,
  listUsernames,
  usernameToEmail,
];
