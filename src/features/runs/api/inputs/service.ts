/** Saved inputs, and the arguments of earlier runs of a script or flow. */
import { and, desc, eq, or } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { Forbidden, NotFound } from "../../../../lib/errors.ts";
import { createUuid } from "../../../../lib/text/ids.ts";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import type { RunOwner } from "../../../../platform/app/person.ts";
import { toLimitOffset } from "../../../../platform/http/operation.ts";
import { SCRIPT_RUN_KINDS } from "../../../../platform/queue/states.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import * as flows from "../../../code/flows/service.ts";
import * as scripts from "../../../code/scripts/service.ts";
import { hasSucceeded, lightColumns } from "../../job/records.ts";
import { createJobQuery, isNoAttempt } from "../lists/filters.ts";
import { readRows } from "../lists/job-scan.ts";
import { listPageOfIds } from "../lists/pages.ts";
import { inputs, type SavedInput } from "./tables.ts";

export type InputTarget = Pick<SavedInput, "runnable_id" | "runnable_type">;

interface PageQuery {
  page: number;
  per_page: number;
}

/**
 * Checks that the caller may read the script or flow of an input.
 * @throws NotFound, also if the caller may not read it
 */
async function requireReadable(
  ctx: WorkspaceContext,
  { runnable_id, runnable_type }: InputTarget,
): Promise<void> {
  if (runnable_type === "FlowPath") await flows.getFlow(ctx, runnable_id);
  else if (runnable_type === "ScriptPath") await scripts.getScriptByPath(ctx, runnable_id);
  else await scripts.getScriptByHash(ctx, runnable_id);
}

/** Lists the caller's saved inputs for a script or flow and those shared with everybody, newest first. */
export async function listInputs(
  ctx: WorkspaceContext,
  runnable: InputTarget,
  page: PageQuery,
): Promise<SavedInput[]> {
  await requireReadable(ctx, runnable);
  const { workspace_id, email } = ctx.caller.member;
  const { offset, limit } = toLimitOffset(page);
  return ctx.app.db.read
    .select()
    .from(inputs)
    .where(
      and(
        eq(inputs.workspace_id, workspace_id),
        eq(inputs.runnable_id, runnable.runnable_id),
        eq(inputs.runnable_type, runnable.runnable_type),
        or(eq(inputs.is_public, true), eq(inputs.email, email)),
      ),
    )
    .orderBy(desc(inputs.created_at), desc(inputs.id))
    .limit(limit)
    .offset(offset);
}

/** Lists completed runs that the caller may see, newest first. */
export async function listInputHistory(
  ctx: WorkspaceContext,
  runnable: InputTarget,
  {
    args,
    include_preview,
    ...page
  }: PageQuery & { args?: { value: unknown } | undefined; include_preview?: boolean | undefined },
) {
  await requireReadable(ctx, runnable);
  const { runnable_id, runnable_type } = runnable;
  const which =
    runnable_type === "ScriptHash" ? { script_hash: runnable_id } : { script_path_exact: runnable_id };
  const [kinds, preview] =
    runnable_type === "FlowPath" ? ["flow", "flowpreview"] : [SCRIPT_RUN_KINDS.join(","), "preview"];
  const filters = { ...which, job_kinds: include_preview ? `${kinds},${preview}` : kinds, args };
  const query = createJobQuery(ctx, ctx.caller.member.workspace_id, filters, "completed");
  const selection = { ...query, filters: and(query.filters, isNoAttempt) };
  const found = await readRows(
    ctx.app,
    lightColumns,
    await listPageOfIds(ctx.app, selection, toLimitOffset(page)),
  );
  return found.map((job) => ({
    id: job.id,
    name: formatRunName(job),
    created_by: job.created_by,
    created_at: job.created_at,
    is_public: true,
    args: null,
    success: hasSucceeded(job),
  }));
}

function formatRunName({ created_at, created_by }: Pick<Job, "created_at" | "created_by">): string {
  return `${created_at.toISOString().slice(0, 16).replace("T", " ")} ${created_by}`;
}

/** Returns a saved input that the caller may see. @throws NotFound */
export async function getInput(ctx: WorkspaceContext, id: string): Promise<SavedInput> {
  const { workspace_id, email } = ctx.caller.member;
  const [row] = await ctx.app.db.read
    .select()
    .from(inputs)
    .where(and(eq(inputs.workspace_id, workspace_id), eq(inputs.id, id)));
  if (!row || !(row.is_public || row.email === email)) {
    throw new NotFound(`saved input ${id} in workspace ${workspace_id}`);
  }
  if (row.email !== email) await requireReadable(ctx, row);
  return row;
}

/** Saves arguments under a name. @returns its id. @throws NotFound for a script or flow that the caller may not read */
export async function createInput(
  ctx: WorkspaceContext,
  runnable: InputTarget,
  { name, args }: { name: string; args: Record<string, unknown> },
): Promise<string> {
  await requireReadable(ctx, runnable);
  const { workspace_id, email } = ctx.caller.member;
  const id = createUuid();
  await ctx.write({ resource: id, parameters: { runnable: runnable.runnable_id } }, async (tx) => {
    await tx.insert(inputs).values({
      ...runnable,
      id,
      workspace_id,
      name,
      args: JSON.stringify(args),
      email,
      created_by: ctx.username,
      created_at: ctx.app.clock(),
      is_public: false,
    });
  });
  return id;
}

/** Changes the name and the visibility of a saved input. @throws NotFound; Forbidden for another user's input */
export async function updateInput(
  ctx: WorkspaceContext,
  { id, name, is_public }: { id: string; name: string; is_public: boolean },
): Promise<void> {
  await requireOwnInput(ctx, id);
  await ctx.write({ resource: id }, async (tx) => {
    await tx.update(inputs).set({ name, is_public }).where(eq(inputs.id, id));
  });
}

/** Deletes a saved input. @throws NotFound; Forbidden for another user's input */
export async function deleteInput(ctx: WorkspaceContext, id: string): Promise<void> {
  await requireOwnInput(ctx, id);
  await ctx.write({ resource: id }, async (tx) => {
    await tx.delete(inputs).where(eq(inputs.id, id));
  });
}

async function requireOwnInput(ctx: WorkspaceContext, id: string): Promise<void> {
  const { member } = ctx.caller;
  const input = await getInput(ctx, id);
  if (input.email === member.email || member.is_admin) return;
  throw new Forbidden(`saved input ${id} may be changed by ${input.created_by} and by admins`);
}

/** Deletes the private inputs of a user who leaves the workspace. */
export async function deleteOwnInputs(_app: App, tx: Tx, { workspace_id, email }: RunOwner): Promise<void> {
  await tx
    .delete(inputs)
    .where(and(eq(inputs.workspace_id, workspace_id), eq(inputs.email, email), eq(inputs.is_public, false)));
}
