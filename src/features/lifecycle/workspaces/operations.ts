import { eq } from "drizzle-orm";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, pagingFields, responds } from "../../../platform/http/operation.ts";
import { listOwnWorkspaces } from "../../tenancy/people/own-workspaces.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import * as service from "./service.ts";

const Workspace = z.object({ id: z.string(), name: z.string(), owner: z.string() });

export const createWorkspace = operation({
  name: "createWorkspace",
  method: "POST",
  path: "/workspaces/create",
  access: "user",
  summary:
    "Create a workspace (super admins, or all users if a setting permits); its first admin is the caller or the named owner",
  body: z.object({
    id: z.string(),
    name: z.string(),
    username: z
      .string()
      .nullish()
      .transform((name) => name ?? undefined),
    owner: z.string().optional(),
  }),
  responds: responds.created("confirmation"),
  audit: { operation: "workspaces.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await service.createWorkspace(ctx, body);
    return `Created workspace ${body.id}`;
  },
});

export const existsWorkspace = operation({
  name: "existsWorkspace",
  method: "POST",
  path: "/workspaces/exists",
  access: "user",
  scope: false,
  summary: "Check whether a workspace id is taken",
  body: z.object({ id: z.string() }),
  responds: responds.json(z.boolean()),
  run: async (ctx, { body }) => {
    const rows = await ctx.app.db.read
      .select({ id: workspaces.id })
      .from(workspaces)
      .where(eq(workspaces.id, body.id));
    return rows.length > 0;
  },
});

export const listWorkspaces = operation({
  name: "listWorkspaces",
  method: "GET",
  path: "/workspaces/list",
  access: "user",
  summary: "List the caller's workspaces; super admins see all",
  responds: responds.json(z.array(Workspace)),
  run: async (ctx) =>
    ctx.caller.identity.super_admin
      ? service.listAllWorkspaces(ctx)
      : (await listOwnWorkspaces(ctx)).map(({ username: _, ...workspace }) => workspace),
});

export const listUserWorkspaces = operation({
  name: "listUserWorkspaces",
  method: "GET",
  path: "/workspaces/users",
  access: "user",
  summary: "List the caller's workspaces with the caller's username in each",
  responds: responds.json(
    z.object({
      email: z.string(),
      workspaces: z.array(z.object({ id: z.string(), name: z.string(), username: z.string() })),
    }),
  ),
  run: async (ctx) => ({
    email: ctx.caller.identity.email,
    workspaces: (await listOwnWorkspaces(ctx)).map(({ owner: _, ...workspace }) => workspace),
  }),
});

export const listWorkspacesAsSuperAdmin = operation({
  name: "listWorkspacesAsSuperAdmin",
  method: "GET",
  path: "/workspaces/list_as_superadmin",
  access: "superAdmin",
  summary: "List all workspaces, archived ones (`deleted`) included",
  query: z.object(pagingFields),
  responds: responds.json(z.array(Workspace.extend({ premium: z.boolean(), deleted: z.boolean() }))),
  run: (ctx, { query }) => service.listWorkspacePage(ctx, query),
});

export const existsUsername = operation({
  name: "existsUsername",
  method: "POST",
  path: "/workspaces/exists_username",
  access: "user",
  scope: false,
  summary: "Check whether a username is taken in a workspace that the caller belongs to or is invited to",
  body: z.object({ id: z.string(), username: z.string() }),
  responds: responds.json(z.boolean()),
  run: (ctx, { body }) => service.isUsernameTaken(ctx, body),
});

const existsMember = operation({
  name: "existsUserInWorkspace",
  method: "POST",
  path: "/w/{workspace}/users/exists",
  access: "member",
  scope: { domain: "users", action: "read" },
  summary: "Check whether a username is taken in the workspace",
  body: z.object({ username: z.string() }),
  responds: responds.json(z.boolean()),
  run: (ctx, { workspace, body }) => service.isUsernameTaken(ctx, { id: workspace, ...body }),
});

export const workspaceOperations: Operation[] = [
  createWorkspace,
  existsWorkspace,
  existsUsername,
  existsMember,
  listWorkspaces,
  listWorkspacesAsSuperAdmin,
  listUserWorkspaces,
];
