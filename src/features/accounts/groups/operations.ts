import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
  slicePage,
} from "../../../platform/http/operation.ts";
import * as service from "./groups.ts";

const base = "/w/{workspace}/groups" as const;

const GroupRecord = z
  .object({
    workspace_id: z.string(),
    name: z.string(),
    summary: z.string(),
    /** The managers: the names whose value is true. */
    extra_perms: z.record(z.string(), z.boolean()),
    /** Usernames; absent in lists. */
    members: z.array(z.string()).optional(),
  })
  .meta({ id: "Group" });

const reads = { domain: "groups", action: "read", resource: "name" } as const;
const writes = { domain: "groups", action: "write", resource: "name" } as const;

export const listGroups = operation({
  name: "listGroups",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List the groups of the workspace",
  query: z.object(pagingFields),
  responds: responds.json(z.array(GroupRecord), "groups without their members"),
  run: async (ctx, { query }) => slicePage(await service.listGroups(ctx), query),
});

const listGroupNames = operation({
  name: "listGroupNames",
  method: "GET",
  path: `${base}/listnames`,
  access: "member",
  summary: "List the names of the groups, or of the caller's groups only",
  query: z.object({ only_member_of: queryBoolean.default(false) }),
  responds: responds.json(z.array(z.string())),
  run: (ctx, { query }) => service.listGrantableGroups(ctx, query),
});

export const getGroup = operation({
  name: "getGroup",
  method: "GET",
  path: `${base}/get/{name}`,
  access: "member",
  scope: reads,
  summary: "Read a group with its members",
  responds: responds.json(GroupRecord),
  run: async (ctx, { name }) => ({
    ...(await service.getGroup(ctx, name)),
    members: await service.listGroupMembers(ctx, name),
  }),
});

export const createGroup = operation({
  name: "createGroup",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Create a group; the caller becomes a member and manager of it",
  body: z.object({ name: z.string(), summary: optionalField(z.string()) }),
  responds: responds.text("confirmation"),
  audit: { operation: "group.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await service.createGroup(ctx, body);
    return `group ${body.name} created`;
  },
});

export const updateGroup = operation({
  name: "updateGroup",
  method: "POST",
  path: `${base}/update/{name}`,
  access: "author",
  scope: writes,
  summary: "Set the summary of a group: its managers only",
  body: z.object({ summary: optionalField(z.string()) }),
  responds: responds.text("confirmation"),
  audit: { operation: "group.edit", action_kind: "Update" },
  run: async (ctx, { name, body }) => {
    await service.updateGroup(ctx, name, body);
    return `group ${name} updated`;
  },
});

export const deleteGroup = operation({
  name: "deleteGroup",
  method: "DELETE",
  path: `${base}/delete/{name}`,
  access: "author",
  scope: writes,
  summary: "Delete a group with all grants to it: its managers only",
  responds: responds.text("confirmation"),
  audit: { operation: "group.delete", action_kind: "Delete" },
  run: async (ctx, { name }) => {
    await service.deleteGroup(ctx, name);
    return `group ${name} deleted`;
  },
});

const Username = z.object({ username: z.string() });

export const addUserToGroup = operation({
  name: "addUserToGroup",
  method: "POST",
  path: `${base}/adduser/{name}`,
  access: "author",
  scope: writes,
  summary: "Add a user to a group: its managers only",
  body: Username,
  responds: responds.text("confirmation"),
  audit: { operation: "group.adduser", action_kind: "Update" },
  run: async (ctx, { name, body: { username } }) => {
    await service.addGroupMember(ctx, name, username);
    return `added ${username} to group ${name}`;
  },
});

export const removeUserFromGroup = operation({
  name: "removeUserToGroup",
  method: "POST",
  path: `${base}/removeuser/{name}`,
  access: "author",
  scope: writes,
  summary: "Remove a user from a group: its managers only",
  body: Username,
  responds: responds.text("confirmation"),
  audit: { operation: "group.removeuser", action_kind: "Update" },
  run: async (ctx, { name, body: { username } }) => {
    await service.removeGroupMember(ctx, name, username);
    return `removed ${username} from group ${name}`;
  },
});

export const groupOperations: Operation[] = [
  listGroups,
  listGroupNames,
  getGroup,
  createGroup,
  updateGroup,
  deleteGroup,
  addUserToGroup,
  removeUserFromGroup,
];
