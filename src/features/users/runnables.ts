/** Everything the caller can run, in all its workspaces. */
import { and, asc, eq, inArray } from "drizzle-orm";
import { z } from "zod";
import type { UserContext } from "../../context.ts";
import { operation, responds } from "../../http/operation.ts";
import { canRead } from "../permissions.ts";
import { scripts } from "../scripts/tables.ts";
import { resolveMember } from "../workspaces/members.ts";
import { workspacesOf } from "../workspaces/service.ts";

const Runnable = z.object({
  workspace: z.string(),
  path: z.string(),
  kind: z.enum(["script", "flow"]),
  summary: z.string(),
  description: z.string().optional(),
  schema: z.unknown(),
  /** Below the API's base. */
  endpoint_async: z.string(),
  endpoint_sync: z.string(),
  endpoint_ai_sync: z.string(),
});

async function runnablesOf(ctx: UserContext): Promise<z.input<typeof Runnable>[]> {
  const { app, caller } = ctx;
  const bound = caller.identity.token?.workspace_id;
  const ids = (await workspacesOf(ctx)).map(({ id }) => id).filter((id) => !bound || id === bound);
  if (ids.length === 0) return [];
  const live = and(eq(scripts.archived, false), eq(scripts.deleted, false), eq(scripts.ready, true));
  const rows = await app.db.read
    .select({
      workspace: scripts.workspace_id,
      path: scripts.path,
      summary: scripts.summary,
      description: scripts.description,
      schema: scripts.schema,
      no_main_func: scripts.no_main_func,
      extra_perms: scripts.extra_perms,
    })
    .from(scripts)
    .where(and(inArray(scripts.workspace_id, ids), live))
    .orderBy(asc(scripts.workspace_id), asc(scripts.path), asc(scripts.seq));
  // Versions come in the order they were deployed: the last one of a path stands.
  const newest = new Map(rows.map((row) => [`${row.workspace}\n${row.path}`, row]));
  const found: z.input<typeof Runnable>[] = [];
  for (const {
    workspace,
    path,
    summary,
    description,
    schema,
    no_main_func,
    extra_perms,
  } of newest.values()) {
    const member = await resolveMember(app, caller.identity, workspace);
    if (!member || member.disabled || no_main_func || !canRead(member, path, extra_perms)) continue;
    found.push({
      workspace,
      path,
      kind: "script",
      summary,
      description,
      schema,
      endpoint_async: `/w/${workspace}/jobs/run/p/${path}`,
      endpoint_sync: `/w/${workspace}/jobs/run_wait_result/p/${path}`,
      endpoint_ai_sync: `/w/${workspace}/jobs/ai_sync/p/${path}`,
    });
  }
  return found;
}

export const listAllRunnables = operation({
  name: "listAllRunnables",
  method: "GET",
  path: "/users/all_runnables",
  access: "user",
  bound: true,
  summary: "List the scripts and flows the caller can run, in all its workspaces, with their webhooks",
  responds: responds.json(z.array(Runnable)),
  run: (ctx) => runnablesOf(ctx),
});
