import { and, asc, eq, getTableColumns, inArray, notInArray } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Reader } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { canRead, canWrite, readableBy, requireManageAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext, WorkspaceScope } from "../../../platform/app/context.ts";
import { findAtEitherPath } from "../../tenancy/people/renamings.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { type Resource, resources } from "../resource-tables.ts";
import { variables } from "../variable-tables.ts";
import { parseTypeName } from "./types.ts";

export interface NewResource {
  path: string;
  value: unknown;
  resource_type: string;
  description: string;
}

export interface EditResource {
  path?: string | undefined;
  value?: unknown;
  resource_type?: string | undefined;
  description?: string | undefined;
}

/** Stores null as JSON null; the query builder would store SQL NULL. */
const toJsonColumn = (value: unknown) => (value === null ? sql`'null'` : value);

const whereResource = (ctx: WorkspaceScope, path: string) =>
  and(eq(resources.workspace_id, ctx.caller.member.workspace_id), eq(resources.path, path));

/** Finds the row, without checking the caller's rights. */
export async function findResource(
  ctx: WorkspaceScope,
  db: Reader,
  path: string,
): Promise<Resource | undefined> {
  const at = async (path: string) => (await db.select().from(resources).where(whereResource(ctx, path)))[0];
  return findAtEitherPath(ctx.app, ctx.caller.member.workspace_id, path, at);
}

/** Finds a resource's type without reading its value, which may be large. */
export async function findTypeOfResource(
  ctx: WorkspaceScope,
  db: Reader,
  path: string,
): Promise<string | undefined> {
  const [row] = await db
    .select({ resource_type: resources.resource_type })
    .from(resources)
    .where(whereResource(ctx, path));
  return row?.resource_type;
}

/** Returns the resource at a path. @throws NotFound, also if the caller may not read it */
export async function getResource(
  ctx: WorkspaceContext,
  path: string,
  db: Reader = ctx.app.db.read,
): Promise<Resource> {
  const { member } = ctx.caller;
  const row = await findResource(ctx, db, path);
  if (!row || !canRead(member, row.path, row.extra_perms)) {
    throw new NotFound(`resource ${path} in workspace ${member.workspace_id}`);
  }
  return row;
}

/**
 * Creates a resource.
 * @param update_if_exists replaces an existing resource, if the caller may write it
 * @returns its path
 * @throws BadRequest for an invalid or used path, Forbidden
 */
export async function createResource(
  ctx: WorkspaceContext,
  body: NewResource,
  { update_if_exists }: { update_if_exists: boolean },
): Promise<string> {
  const path = parsePath(body.path);
  const { member } = ctx.caller;
  const changes = {
    value: toJsonColumn(body.value),
    resource_type: parseTypeName(body.resource_type),
    description: body.description,
    edited_at: ctx.app.clock(),
  };
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`resource ${member.workspace_id} ${path}`);
    const row = await findResource(ctx, tx, path);
    if (row && !update_if_exists) throw new BadRequest(`there is a resource at ${path} already`);
    requireResourceWrite(ctx, row ?? { path, extra_perms: {} });
    if (row) {
      await tx.update(resources).set(changes).where(whereResource(ctx, path));
      return;
    }
    await tx.insert(resources).values({
      ...changes,
      workspace_id: member.workspace_id,
      path,
      account: null,
      is_oauth: false,
      extra_perms: {},
      created_by: ctx.username,
    });
  });
  return path;
}

/** Updates a resource. @returns its path after the update. @throws NotFound, Forbidden, BadRequest */
export async function updateResource(
  ctx: WorkspaceContext,
  path: string,
  body: EditResource,
): Promise<string> {
  const { member } = ctx.caller;
  const renamed = body.path === undefined ? path : parsePath(body.path);
  if (renamed !== path) requireScope(ctx.caller.identity, { domain: "resources", action: "write" }, renamed);
  const resource_type = body.resource_type === undefined ? undefined : parseTypeName(body.resource_type);
  const parameters: Record<string, string> = renamed === path ? {} : { new_path: renamed };
  return ctx.write({ resource: path, parameters }, async (tx) => {
    // In the same order for all callers, so that two renames never deadlock.
    for (const each of [...new Set([path, renamed])].sort()) {
      await tx.lock(`resource ${member.workspace_id} ${each}`);
    }
    const row = await getResource(ctx, path, tx);
    requireResourceWrite(ctx, row);
    if (renamed !== path) {
      requireManageAccess(member, path, "rename");
      requireResourceWrite(ctx, { path: renamed, extra_perms: {} });
      if (await findResource(ctx, tx, renamed))
        throw new BadRequest(`there is a resource at ${renamed} already`);
    }
    await tx
      .update(resources)
      .set({
        path: renamed,
        value: toJsonColumn(body.value === undefined ? row.value : body.value),
        resource_type: resource_type ?? row.resource_type,
        description: body.description ?? row.description,
        edited_at: ctx.app.clock(),
      })
      .where(whereResource(ctx, path));
    return renamed;
  });
}

/** Deletes the resource at a path. @throws NotFound, Forbidden */
export async function deleteResource(ctx: WorkspaceContext, path: string): Promise<void> {
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`resource ${ctx.caller.member.workspace_id} ${path}`);
    requireResourceWrite(ctx, await getResource(ctx, path, tx));
    await tx.delete(resources).where(whereResource(ctx, path));
  });
}

function requireResourceWrite(ctx: WorkspaceContext, row: Pick<Resource, "path" | "extra_perms">): void {
  if (!canWrite(ctx.caller.member, row.path, row.extra_perms)) {
    throw new Forbidden(`${ctx.username} may not write to ${row.path}`);
  }
}

export interface ResourceFilters {
  /** Only resources of these types. */
  types?: string[] | undefined;
  /** Excludes these types. */
  excluded_types?: string[] | undefined;
  path_start?: string | undefined;
  path?: string | undefined;
  /** Substring of the description, ignoring case. */
  description?: string | undefined;
  /** Predicate on the stored value. */
  value?: ((value: unknown) => boolean) | undefined;
}

/** A resource as lists show it. `linked` is true if a variable has the same path. */
export type ListedResource = Omit<Resource, "value"> & { linked: boolean };

const { value: _, ...withoutValue } = getTableColumns(resources);

const hasVariableAtPath = and(
  eq(variables.workspace_id, resources.workspace_id),
  eq(variables.path, resources.path),
);

function matchesFilters(ctx: WorkspaceContext, { types, excluded_types, path_start, path }: ResourceFilters) {
  const { member } = ctx.caller;
  return and(
    eq(resources.workspace_id, member.workspace_id),
    readableBy(member, resources),
    types ? inArray(resources.resource_type, types) : undefined,
    excluded_types ? notInArray(resources.resource_type, excluded_types) : undefined,
    path_start ? startsWith(resources.path, path_start) : undefined,
    path ? eq(resources.path, path) : undefined,
  );
}

/** Lists the resources the caller may read, with values, by path. */
export async function listResources(ctx: WorkspaceContext, filters: ResourceFilters): Promise<Resource[]> {
  const rows = await ctx.app.db.read
    .select()
    .from(resources)
    .where(matchesFilters(ctx, filters))
    .orderBy(asc(resources.path));
  return rows.filter((row) => matchesContent(row, filters));
}

/** Returns one page for lists. Values, which may be large, are read only if a filter needs them. */
export async function listResourcePage(
  ctx: WorkspaceContext,
  filters: ResourceFilters,
  { offset, limit }: { offset: number; limit: number },
): Promise<ListedResource[]> {
  const { read } = ctx.app.db;
  const picked = filters.value
    ? new Set((await listResources(ctx, filters)).slice(offset, offset + limit).map(({ path }) => path))
    : undefined;
  const all = read
    .select({ ...withoutValue, variable: variables.path, of_variable: variables.account })
    .from(resources)
    .leftJoin(variables, hasVariableAtPath)
    .where(matchesFilters(ctx, filters))
    .orderBy(asc(resources.path));
  const filtered = picked !== undefined || filters.description !== undefined;
  const rows = filtered ? await all : await all.limit(limit).offset(offset);
  const found = rows.filter((row) => (picked ? picked.has(row.path) : matchesContent(row, filters)));
  return (filtered && !picked ? found.slice(offset, offset + limit) : found).map(
    ({ variable, of_variable, ...row }) => ({
      ...row,
      account: row.account ?? of_variable,
      linked: variable !== null,
    }),
  );
}

function matchesContent(
  row: { description: string; value?: unknown },
  { description, value }: ResourceFilters,
): boolean {
  if (description !== undefined && !row.description.toLowerCase().includes(description.toLowerCase()))
    return false;
  return value === undefined || value(row.value);
}

export async function hasResource(ctx: WorkspaceContext, path: string): Promise<boolean> {
  return (await findResource(ctx, ctx.app.db.read, path)) !== undefined;
}
