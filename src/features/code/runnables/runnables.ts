/** Lists the scripts and flows that the caller can run, in all their workspaces. */
import { and, asc, eq, inArray } from "drizzle-orm";
import * as z from "../../../lib/zod/z.ts";
import { canRead } from "../../../platform/access/permissions.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { listOwnWorkspaces } from "../../tenancy/people/own-workspaces.ts";
import { flows, flowVersions } from "../flows/tables.ts";
import { scripts } from "../scripts/tables.ts";

const Runnable = z
  .object({
    workspace: z.string(),
    path: z.string(),
    kind: z.enum(["script", "flow"]),
    summary: z.string(),
    description: z.string().optional(),
    schema: z.unknown(),
    /** Relative to the API's base URL. */
    endpoint_async: z.string(),
    endpoint_sync: z.string(),
    endpoint_ai_sync: z.string(),
    /** Alias for existing clients. */
    endpoint_openai_sync: z.string(),
  })
  .meta({ id: "Runnable" });

type Runnable = z.input<typeof Runnable>;

export type FoundRunnable = Pick<Runnable, "workspace" | "path" | "kind" | "summary" | "description"> & {
  schema: unknown;
  extra_perms: Record<string, boolean>;
  /** True if requests to its webhooks must be signed. */
  is_signed: boolean;
};

async function listOwnRunnables(ctx: UserContext): Promise<Runnable[]> {
  const { app, caller } = ctx;
  const bound = caller.identity.token?.workspace_id;
  const ids = (await listOwnWorkspaces(ctx)).map(({ id }) => id).filter((id) => !bound || id === bound);
  if (ids.length === 0) return [];
  const found: Runnable[] = [];
  for (const { extra_perms, is_signed: _, ...runnable } of await listWorkspaceRunnables(app, ids)) {
    const { workspace, path, kind } = runnable;
    const member = await resolveMember(app, caller.identity, workspace);
    if (!member || member.disabled || !canRead(member, path, extra_perms)) continue;
    const target = `${kind === "flow" ? "f" : "p"}/${path}`;
    found.push({
      ...runnable,
      endpoint_async: `/w/${workspace}/jobs/run/${target}`,
      endpoint_sync: `/w/${workspace}/jobs/run_wait_result/${target}`,
      endpoint_ai_sync: `/w/${workspace}/jobs/ai_sync/${target}`,
      endpoint_openai_sync: `/w/${workspace}/jobs/openai_sync/${target}`,
    });
  }
  return found;
}

/** Lists all runnables of the workspaces, without checking permissions. */
export async function listWorkspaceRunnables(app: App, workspaces: string[]): Promise<FoundRunnable[]> {
  return [...(await listLiveScripts(app, workspaces)), ...(await listLiveFlows(app, workspaces))];
}

async function listLiveScripts(app: App, workspaces: string[]): Promise<FoundRunnable[]> {
  const live = and(eq(scripts.archived, false), eq(scripts.deleted, false), eq(scripts.ready, true));
  const rows = await app.db.read
    .select({
      workspace: scripts.workspace_id,
      path: scripts.path,
      summary: scripts.summary,
      description: scripts.description,
      schema: scripts.schema,
      no_main_func: scripts.no_main_func,
      signature: scripts.signature,
      extra_perms: scripts.extra_perms,
    })
    .from(scripts)
    .where(and(inArray(scripts.workspace_id, workspaces), live))
    .orderBy(asc(scripts.workspace_id), asc(scripts.path), asc(scripts.seq));
  // Rows are in order of deployment, so the last one of each path is the newest.
  const newest = new Map(rows.map((row) => [`${row.workspace}\n${row.path}`, row]));
  return [...newest.values()]
    .filter((row) => !row.no_main_func)
    .map(({ no_main_func: _, signature, ...row }) => ({
      ...row,
      kind: "script",
      is_signed: signature !== null,
    }));
}

async function listLiveFlows(app: App, workspaces: string[]): Promise<FoundRunnable[]> {
  const rows = await app.db.read
    .select({
      workspace: flows.workspace_id,
      path: flows.path,
      summary: flows.summary,
      description: flows.description,
      schema: flowVersions.schema,
      extra_perms: flows.extra_perms,
    })
    .from(flows)
    .innerJoin(flowVersions, eq(flowVersions.id, flows.ready_version))
    .where(and(inArray(flows.workspace_id, workspaces), eq(flows.archived, false)))
    .orderBy(asc(flows.workspace_id), asc(flows.path));
  return rows.map((row) => ({ ...row, kind: "flow", is_signed: false }));
}

export const listAllRunnables = operation({
  name: "listAllRunnables",
  method: "GET",
  path: "/users/all_runnables",
  access: "user",
  allowsWorkspaceTokens: true,
  summary: "List the scripts and flows the caller can run, in all its workspaces, with their webhooks",
  responds: responds.json(z.array(Runnable)),
  run: (ctx) => listOwnRunnables(ctx),
});

export const runnableOperations: Operation[] = [listAllRunnables];
