/**
 * Resource types: a name and a JSON Schema of the values. A workspace sees its own types, those of the workspace
 * `admins`, and the well-known ones, in this order of precedence.
 */
import { and, eq, inArray } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { mergeUnknownFields, type UnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { type ResourceType, resourceTypes } from "../resource-tables.ts";
import { WELL_KNOWN_TYPES } from "./well-known-types.ts";

export interface NewResourceType {
  name: string;
  schema?: unknown;
  description: string;
  format_extension: string | undefined;
  is_fileset: boolean;
  /** Fields that this version does not know; see `unknown-fields.ts`. */
  extra?: UnknownFields | undefined;
}

export interface EditResourceType {
  schema?: unknown;
  description?: string | undefined;
  format_extension?: string | undefined;
  is_fileset?: boolean | undefined;
  extra?: UnknownFields | undefined;
}

/** The workspace whose types are visible in all workspaces. */
const SHARED_WORKSPACE_ID = "admins";

const TYPE_NAME_PATTERN = /^[\w-]{1,50}$/;

/** Validates the name of a type. @throws BadRequest */
export function parseTypeName(name: string): string {
  // Clients look types up in plain objects, where inherited names would be found.
  if (name in {})
    throw new BadRequest(`"${name}" cannot be a resource type: every object has one of that name`);
  if (TYPE_NAME_PATTERN.test(name)) return name;
  throw new BadRequest(
    `"${name.slice(0, 60)}" cannot be a resource type: use letters, digits, _ and -, 50 characters at most`,
  );
}

const EXTENSION_PATTERN = /^[a-z0-9]{1,20}(\.[a-z0-9]{1,20}){0,3}$/;

/** Whether the text is a valid file extension; older rows were stored unvalidated. */
export function isFileExtension(text: unknown): text is string {
  return typeof text === "string" && EXTENSION_PATTERN.test(text);
}

/** Validates a file extension; empty means none. @throws BadRequest */
function parseFileExtension(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  if (EXTENSION_PATTERN.test(text)) return text;
  throw new BadRequest(
    `\`format_extension\`: ${JSON.stringify(text.slice(0, 60))} cannot be the extension of a file: use lowercase letters and digits, as in \`json\` or \`tar.gz\``,
  );
}

/** Lists all types visible in the caller's workspace, by name. */
export async function listResourceTypes(ctx: WorkspaceContext): Promise<ResourceType[]> {
  const { workspace_id } = ctx.caller.member;
  const rows = await ctx.app.db.read
    .select()
    .from(resourceTypes)
    .where(inArray(resourceTypes.workspace_id, [workspace_id, SHARED_WORKSPACE_ID]));
  const own = rows.filter((row) => row.workspace_id === workspace_id);
  const byName = new Map([...WELL_KNOWN_TYPES, ...rows, ...own].map((type) => [type.name, type]));
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Finds the type that a name refers to in the caller's workspace. */
export async function findResourceType(
  ctx: WorkspaceContext,
  name: string,
  db: Reader = ctx.app.db.read,
): Promise<ResourceType | undefined> {
  return (
    (await findTypeRow(db, ctx.caller.member.workspace_id, name)) ??
    (await findTypeRow(db, SHARED_WORKSPACE_ID, name)) ??
    WELL_KNOWN_TYPES.find((type) => type.name === name)
  );
}

async function findTypeRow(
  db: Reader,
  workspace_id: string,
  name: string,
): Promise<ResourceType | undefined> {
  const [row] = await db
    .select()
    .from(resourceTypes)
    .where(and(eq(resourceTypes.workspace_id, workspace_id), eq(resourceTypes.name, name)));
  return row;
}

/** Returns a resource type. @throws NotFound */
export async function getResourceType(
  ctx: WorkspaceContext,
  name: string,
  db?: Reader,
): Promise<ResourceType> {
  const type = await findResourceType(ctx, name, db);
  if (!type) throw new NotFound(`resource type ${name} in workspace ${ctx.caller.member.workspace_id}`);
  return type;
}

/** Creates a resource type in the workspace. @throws BadRequest for an invalid name, or one used in the workspace */
export async function createResourceType(ctx: WorkspaceContext, body: NewResourceType): Promise<void> {
  const name = parseTypeName(body.name);
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(`resource type ${workspace_id} ${name}`);
    if (await findTypeRow(tx, workspace_id, name)) {
      throw new BadRequest(`there is a resource type ${name} already`);
    }
    await tx.insert(resourceTypes).values(createTypeRow(ctx, name, body));
  });
}

/**
 * Updates a type. A shared or well-known type is not changed: the workspace gets its own type with that name.
 * @throws NotFound, Forbidden
 */
export async function updateResourceType(
  ctx: WorkspaceContext,
  name: string,
  body: EditResourceType,
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(`resource type ${workspace_id} ${name}`);
    const own = await findTypeRow(tx, workspace_id, name);
    if (own) requireTypeAuthor(ctx, own);
    const type = own ?? (await getResourceType(ctx, name, tx));
    const row = createTypeRow(ctx, name, {
      schema: body.schema === undefined ? type.schema : body.schema,
      description: body.description ?? type.description,
      format_extension:
        body.format_extension ?? (isFileExtension(type.format_extension) ? type.format_extension : ""),
      is_fileset: body.is_fileset ?? type.is_fileset,
      extra: { ...type.extra, ...body.extra },
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

/** Deletes a type of the workspace. @throws NotFound if the workspace itself has none with this name, Forbidden */
export async function deleteResourceType(ctx: WorkspaceContext, name: string): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(`resource type ${workspace_id} ${name}`);
    const row = await findTypeRow(tx, workspace_id, name);
    if (!row) throw new NotFound(`resource type ${name} among those of workspace ${workspace_id} itself`);
    requireTypeAuthor(ctx, row);
    await tx
      .delete(resourceTypes)
      .where(and(eq(resourceTypes.workspace_id, workspace_id), eq(resourceTypes.name, name)));
  });
}

/** Checks that the caller is the type's author or an admin; a type has no path with an owner. */
function requireTypeAuthor(ctx: WorkspaceContext, type: ResourceType): void {
  if (ctx.caller.member.is_admin || type.created_by === ctx.username) return;
  throw new Forbidden(`resource type ${type.name} may be changed by ${type.created_by} and by admins`);
}

function createTypeRow(
  ctx: WorkspaceContext,
  name: string,
  body: Omit<NewResourceType, "name">,
): ResourceType {
  return {
    workspace_id: ctx.caller.member.workspace_id,
    name,
    schema: body.schema ?? null,
    description: body.description,
    format_extension: parseFileExtension(body.format_extension),
    is_fileset: body.is_fileset,
    extra: mergeUnknownFields(null, body.extra),
    created_by: ctx.username,
    edited_at: ctx.app.clock(),
  };
}
