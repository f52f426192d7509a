/**
 * Resource types: a name and the JSON Schema of the values. A workspace sees its own, those of the workspace `admins`,
 * and the well-known ones, in this order of precedence.
 */
import { and, eq, inArray } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type ResourceType, resourceTypes } from "../resource-tables.ts";
import { wellKnownTypes } from "./well-known.ts";

export interface NewResourceType {
  name: string;
  schema?: unknown;
  description: string;
  format_extension: string | undefined;
  is_fileset: boolean;
}

export interface EditResourceType {
  schema?: unknown;
  description?: string | undefined;
  format_extension?: string | undefined;
  is_fileset?: boolean | undefined;
}

/** Where types live that all workspaces see. */
const SHARED = "admins";

const TYPE_NAME = /^[\w-]{1,50}$/;

/** @throws BadRequest when the text cannot name a resource type */
export function checkTypeName(name: string): string {
  // Clients look types up in objects of their own, where these would be found without being there.
  if (name in {})
    throw new BadRequest(`"${name}" cannot be a resource type: every object has one of that name`);
  if (TYPE_NAME.test(name)) return name;
  throw new BadRequest(
    `"${name.slice(0, 60)}" cannot be a resource type: use letters, digits, _ and -, 50 characters at most`,
  );
}

const EXTENSION = /^[a-z0-9]{1,20}(\.[a-z0-9]{1,20}){0,3}$/;

/** Whether files of resources may end in it. What was stored without being asked is not followed. */
export function isExtension(text: unknown): text is string {
  return typeof text === "string" && EXTENSION.test(text);
}

/** @throws BadRequest for what no file's name may end in; empty means none */
function checkExtension(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  if (EXTENSION.test(text)) return text;
  throw new BadRequest(
    `\`format_extension\`: ${JSON.stringify(text.slice(0, 60))} cannot be the extension of a file: use small letters and digits, as in \`json\` or \`tar.gz\``,
  );
}

/** All that the caller's workspace sees, by name. */
export async function listTypes(ctx: WorkspaceContext): Promise<ResourceType[]> {
  const { workspace_id } = ctx.caller.member;
  const rows = await ctx.app.db.read
    .select()
    .from(resourceTypes)
    .where(inArray(resourceTypes.workspace_id, [workspace_id, SHARED]));
  const own = rows.filter((row) => row.workspace_id === workspace_id);
  const byName = new Map([...wellKnownTypes, ...rows, ...own].map((type) => [type.name, type]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The one that a name means in the caller's workspace. */
export async function findType(
  ctx: WorkspaceContext,
  name: string,
  db: Reader = ctx.app.db.read,
): Promise<ResourceType | undefined> {
  return (
    (await findRow(db, ctx.caller.member.workspace_id, name)) ??
    (await findRow(db, SHARED, name)) ??
    wellKnownTypes.find((type) => type.name === name)
  );
}

async function findRow(db: Reader, workspace_id: string, name: string): Promise<ResourceType | undefined> {
  const [row] = await db
    .select()
    .from(resourceTypes)
    .where(and(eq(resourceTypes.workspace_id, workspace_id), eq(resourceTypes.name, name)));
  return row;
}

/** @throws NotFound */
export async function getType(ctx: WorkspaceContext, name: string, db?: Reader): Promise<ResourceType> {
  const type = await findType(ctx, name, db);
  if (!type) throw new NotFound(`resource type ${name} in workspace ${ctx.caller.member.workspace_id}`);
  return type;
}

/** @throws BadRequest for a bad name or one that the workspace has already */
export async function createType(ctx: WorkspaceContext, body: NewResourceType): Promise<void> {
  const name = checkTypeName(body.name);
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(`resource type ${workspace_id} ${name}`);
    if (await findRow(tx, workspace_id, name)) {
      throw new BadRequest(`there is a resource type ${name} already`);
    }
    await tx.insert(resourceTypes).values(toRow(ctx, name, body));
  });
}

/**
 * Changes a type of the workspace. One that it only sees is not touched: the workspace gets one of its own by that name.
 * @throws NotFound, Forbidden
 */
export async function updateType(ctx: WorkspaceContext, name: string, body: EditResourceType): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(`resource type ${workspace_id} ${name}`);
    const own = await findRow(tx, workspace_id, name);
    if (own) requireMaker(ctx, own);
    const type = own ?? (await getType(ctx, name, tx));
    const row = toRow(ctx, name, {
      schema: body.schema === undefined ? type.schema : body.schema,
      description: body.description ?? type.description,
      format_extension:
        body.format_extension ?? (isExtension(type.format_extension) ? type.format_extension : ""),
      is_fileset: body.is_fileset ?? type.is_fileset,
    });
    await tx
      .insert(resourceTypes)
      .values(row)
      .onConflictDoUpdate({
        target: [resourceTypes.workspace_id, resourceTypes.name],
        set: { ...row, created_by: type.created_by },
      });
  });
}

/** @throws NotFound when the workspace has none of its own by that name, Forbidden */
export async function deleteType(ctx: WorkspaceContext, name: string): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: name }, async (tx) => {
    const row = await findRow(tx, workspace_id, name);
    if (!row) throw new NotFound(`resource type ${name} among those of workspace ${workspace_id} itself`);
    requireMaker(ctx, row);
    await tx
      .delete(resourceTypes)
      .where(and(eq(resourceTypes.workspace_id, workspace_id), eq(resourceTypes.name, name)));
  });
}

/** A type has no path that says whose it is: who made it may change it, and admins. */
function requireMaker(ctx: WorkspaceContext, type: ResourceType): void {
  if (ctx.caller.member.is_admin || type.created_by === ctx.username) return;
  throw new Forbidden(`resource type ${type.name} may be changed by ${type.created_by} and by admins`);
}

function toRow(ctx: WorkspaceContext, name: string, body: Omit<NewResourceType, "name">): ResourceType {
  return {
    workspace_id: ctx.caller.member.workspace_id,
    name,
    schema: body.schema ?? null,
    description: body.description,
    format_extension: checkExtension(body.format_extension),
    is_fileset: body.is_fileset,
    created_by: ctx.username,
    edited_at: ctx.app.clock(),
  };
}
