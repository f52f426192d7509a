/** Operations that archive, restore, delete and rename workspaces. */
import { eq } from "drizzle-orm";
import { BadRequest } from "../../../lib/errors.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import * as life from "./archive-delete.ts";
import { changeWorkspaceId } from "./rename-workspace.ts";
import { parseWorkspaceName } from "./service.ts";

const base = "/w/{workspace}/workspaces" as const;
const text = responds.text("confirmation");

export const archiveWorkspace = operation({
  name: "archiveWorkspace",
  method: "POST",
  path: `${base}/archive`,
  access: "admin",
  summary: "Archive the workspace: access is denied, and unfinished jobs are canceled",
  responds: text,
  audit: { operation: "workspaces.archive", action_kind: "Update" },
  run: async (ctx, { workspace }) => {
    await life.archiveWorkspace(ctx);
    return `archived workspace ${workspace}`;
  },
});

export const unarchiveWorkspace = operation({
  name: "unarchiveWorkspace",
  method: "POST",
  path: "/workspaces/unarchive/{workspace}",
  access: "user",
  summary: "Restore an archived workspace: its admins and super admins",
  responds: text,
  audit: { operation: "workspaces.unarchive", action_kind: "Update" },
  run: async (ctx, { workspace }) => {
    await life.unarchiveWorkspace(ctx, workspace);
    return `unarchived workspace ${workspace}`;
  },
});

export const deleteWorkspace = operation({
  name: "deleteWorkspace",
  method: "DELETE",
  path: "/workspaces/delete/{workspace}",
  access: "superAdmin",
  summary: "Delete the workspace with everything in it, permanently",
  responds: text,
  audit: { operation: "workspaces.delete", action_kind: "Delete" },
  run: async (ctx, { workspace }) => {
    await life.deleteWorkspace(ctx, workspace);
    return `deleted workspace ${workspace}`;
  },
});

export const getWorkspaceName = operation({
  name: "getWorkspaceName",
  method: "GET",
  path: `${base}/get_workspace_name`,
  access: "member",
  summary: "Read the display name of the workspace",
  responds: responds.text("its name"),
  run: async (ctx, { workspace }) => {
    const [row] = await ctx.app.db.read
      .select({ name: workspaces.name })
      .from(workspaces)
      .where(eq(workspaces.id, workspace));
    return row?.name ?? "";
  },
});

/** The contract lists `username` as required without defining it; any value is accepted and ignored. */
const LegacyFields = { username: z.unknown().optional() };

export const changeWorkspaceName = operation({
  name: "changeWorkspaceName",
  method: "POST",
  path: `${base}/change_workspace_name`,
  access: "admin",
  summary: "Change the display name of the workspace",
  body: z.object({ ...LegacyFields, new_name: z.string() }),
  responds: text,
  audit: { operation: "workspaces.change_workspace_name", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    const name = parseWorkspaceName("new_name", body.new_name);
    await ctx.write({ resource: workspace, parameters: { new_name: name } }, async (tx) => {
      await tx.update(workspaces).set({ name }).where(eq(workspaces.id, workspace));
    });
    return `workspace ${workspace} is called ${name}`;
  },
});

export const changeWorkspaceIdOperation = operation({
  name: "changeWorkspaceId",
  method: "POST",
  path: `${base}/change_workspace_id`,
  access: "admin",
  summary: "Change the id of the workspace; everything in it follows, and running jobs are canceled",
  body: z.object({ ...LegacyFields, new_id: z.string(), new_name: optionalField(z.string()) }),
  responds: text,
  audit: { operation: "workspaces.change_workspace_id", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    if (ctx.caller.identity.token?.job) {
      throw new BadRequest(
        "a job cannot give its own workspace another id: that would cancel the job itself",
      );
    }
    await changeWorkspaceId(ctx, body);
    return `workspace ${workspace} has the id ${body.new_id} now`;
  },
});

export const workspaceLifeOperations: Operation[] = [
  archiveWorkspace,
  unarchiveWorkspace,
  deleteWorkspace,
  getWorkspaceName,
  changeWorkspaceName,
  changeWorkspaceIdOperation,
];
