/** Schemas of users and invites in the HTTP interface. */
import * as z from "../../../lib/zod/z.ts";
import { isoTimestamp } from "../../../platform/http/operation.ts";

export const GlobalUserInfo = z
  .object({
    email: z.string(),
    login_type: z.string(),
    super_admin: z.boolean(),
    devops: z.boolean(),
    verified: z.boolean(),
    name: z.string().nullish(),
    company: z.string().nullish(),
    username: z.string().nullish(),
    /** Present with `active_only`: whether they are an operator in each of their workspaces. */
    operator_only: z.boolean().optional(),
    first_time_user: z.boolean(),
  })
  .meta({ id: "GlobalUserInfo" });

export const User = z
  .object({
    workspace_id: z.string(),
    email: z.string(),
    username: z.string(),
    is_admin: z.boolean(),
    is_super_admin: z.boolean(),
    created_at: isoTimestamp,
    operator: z.boolean(),
    disabled: z.boolean(),
    groups: z.array(z.string()),
    folders: z.array(z.string()),
    folders_owners: z.array(z.string()),
  })
  .meta({ id: "User" });

export const UserUsage = z.object({ email: z.string(), executions: z.number() });

export const UsernameInfo = z.object({
  username: z.string(),
  workspace_usernames: z.array(z.object({ workspace_id: z.string(), username: z.string() })),
});

export const WorkspaceInvite = z
  .object({
    workspace_id: z.string(),
    email: z.string(),
    is_admin: z.boolean(),
    operator: z.boolean(),
  })
  .meta({ id: "WorkspaceInvite" });
