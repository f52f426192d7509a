import { and, asc, eq, getTableColumns, gt, isNull, or } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import { prepareStatement, type Reader, type Tx } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import { BadRequest, Forbidden, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { canRead, canWrite, readableBy, requireManageAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { toLimitOffset } from "../../../platform/http/operation.ts";
import { findAtEitherPath } from "../../tenancy/people/renamings.ts";
import { mergeUnknownFields, type UnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { createReencrypter, encryptSecret, SECRET_READ_AUDIT } from "../../tenancy/workspaces/secrets.ts";
import { getOwnAccount } from "../connections/accounts.ts";
import { ensureFreshToken } from "../connections/refresh-token.ts";
import { resources } from "../resource-tables.ts";
import { type Variable, variables } from "../variable-tables.ts";
import { recordDisclosure, wasDisclosed } from "./disclosures.ts";
import { maskInJob } from "./mask-in-job.ts";
import { decryptValue } from "./value.ts";

export interface NewVariable {
  path: string;
  value: string;
  is_secret: boolean;
  description: string;
  account?: number | undefined;
  is_oauth?: boolean | undefined;
  expires_at?: Date | undefined;
  /** Fields that this version does not know; see `unknown-fields.ts`. */
  extra?: UnknownFields | undefined;
}

export interface EditVariable {
  path?: string | undefined;
  value?: string | undefined;
  is_secret?: boolean | undefined;
  description?: string | undefined;
  extra?: UnknownFields | undefined;
}

interface WriteOptions {
  /** The given value is already encrypted with this workspace's key. */
  already_encrypted: boolean;
}

const whereVariable = (ctx: WorkspaceContext, path: string) =>
  and(eq(variables.workspace_id, ctx.caller.member.workspace_id), eq(variables.path, path));

const namedParameter = sql.placeholder;

/** A row as the driver returns it. */
interface RawVariable
  extends Omit<Variable, "is_secret" | "is_oauth" | "expires_at" | "extra_perms" | "extra"> {
  is_secret: boolean | number;
  is_oauth: boolean | number;
  expires_at: Date | number | null;
  extra_perms: Record<string, boolean> | string;
  extra: UnknownFields | string | null;
}

/** A prepared statement, since jobs read variables often. */
const byPathStatement = prepareStatement<{ workspace_id: string; path: string }, RawVariable[]>((q) =>
  q
    .select()
    .from(variables)
    .where(
      and(
        eq(variables.workspace_id, namedParameter("workspace_id")),
        eq(variables.path, namedParameter("path")),
      ),
    ),
);

const parseColumn = <T>(given: T | string): T =>
  typeof given === "string" ? (parseSchemaJson(given) as T) : given;
/** Finds a row, unless it has expired. */
async function findVariable(ctx: WorkspaceContext, db: Reader, path: string): Promise<Variable | undefined> {
  const { workspace_id } = ctx.caller.member;
  const at = async (path: string) => (await db.exec(byPathStatement, { workspace_id, path }))[0];
  const raw = await findAtEitherPath(ctx.app, workspace_id, path, at);
  if (!raw) return undefined;
  const { expires_at } = raw;
  const row: Variable = {
    ...raw,
    is_secret: Boolean(raw.is_secret),
    is_oauth: Boolean(raw.is_oauth),
    expires_at: expires_at === null ? null : new Date(expires_at),
    extra_perms: parseColumn(raw.extra_perms),
    extra: parseColumn(raw.extra),
  };
  return row.expires_at !== null && row.expires_at <= ctx.app.clock() ? undefined : row;
}

/** Returns the variable at a path. @throws NotFound, also if the caller may not read it */
export async function getVariable(
  ctx: WorkspaceContext,
  path: string,
  db: Reader = ctx.app.db.read,
): Promise<Variable> {
  const { member } = ctx.caller;
  const row = await findVariable(ctx, db, path);
  if (!row || !canRead(member, row.path, row.extra_perms)) {
    throw new NotFound(`variable ${path} in workspace ${member.workspace_id}`);
  }
  return row;
}

/**
 * Encrypts a value for storage. An already encrypted value is stored unchanged, or re-encrypted if the key was rotated
 * since. One encrypted with an unknown key is kept, but cannot be read.
 */
async function toStoredValue(
  ctx: WorkspaceContext,
  tx: Tx,
  value: string,
  options: WriteOptions,
): Promise<string> {
  const { app, caller } = ctx;
  const { workspace_id, email } = caller.member;
  if (!options.already_encrypted) return encryptSecret(app, tx, workspace_id, value);
  return (await createReencrypter(app, tx, workspace_id))(value, email);
}

/** Creates a variable. @returns its path. @throws BadRequest for an invalid or used path, Forbidden */
export async function createVariable(
  ctx: WorkspaceContext,
  body: NewVariable,
  options: WriteOptions,
): Promise<string> {
  const path = parsePath(body.path);
  const { member } = ctx.caller;
  if (!canWrite(member, path, {})) throw new Forbidden(`${ctx.username} may not write to ${path}`);
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`variable ${member.workspace_id} ${path}`);
    if (await findVariable(ctx, tx, path)) throw new BadRequest(`there is a variable at ${path} already`);
    // Referencing an account gives access to its token.
    if (body.account !== undefined) await getOwnAccount(ctx, tx, body.account);
    const row = {
      workspace_id: member.workspace_id,
      path,
      value: body.is_secret ? await toStoredValue(ctx, tx, body.value, options) : body.value,
      is_secret: body.is_secret,
      description: body.description,
      account: body.account ?? null,
      is_oauth: body.is_oauth ?? false,
      expires_at: body.expires_at ?? null,
      extra: mergeUnknownFields(null, body.extra),
      extra_perms: {},
    };
    // An expired row at the path is replaced.
    await tx
      .insert(variables)
      .values(row)
      .onConflictDoUpdate({ target: [variables.workspace_id, variables.path], set: row });
  });
  return path;
}

/** Updates a variable. @throws NotFound, Forbidden, BadRequest if a secret would become readable without a new value */
export async function updateVariable(
  ctx: WorkspaceContext,
  path: string,
  body: EditVariable,
  options: WriteOptions,
): Promise<string> {
  const { member } = ctx.caller;
  const renamed = body.path === undefined ? path : parsePath(body.path);
  if (renamed !== path) requireScope(ctx.caller.identity, { domain: "variables", action: "write" }, renamed);
  const parameters: Record<string, string> = renamed === path ? {} : { new_path: renamed };
  return ctx.write({ resource: path, parameters }, async (tx) => {
    // In the same order for all callers, so that two renames never deadlock.
    for (const each of [...new Set([path, renamed])].sort())
      await tx.lock(`variable ${member.workspace_id} ${each}`);
    const row = await getVariable(ctx, path, tx);
    requireVariableWrite(ctx, row);
    if (renamed !== path) {
      requireManageAccess(member, path, "rename");
      if (!canWrite(member, renamed, {})) throw new Forbidden(`${ctx.username} may not write to ${renamed}`);
      if (await findVariable(ctx, tx, renamed))
        throw new BadRequest(`there is a variable at ${renamed} already`);
      // Only an expired row can still be at the new path.
      await tx.delete(variables).where(whereVariable(ctx, renamed));
    }
    const is_secret = body.is_secret ?? row.is_secret;
    if (row.is_secret && !is_secret && body.value === undefined) {
      throw new BadRequest(
        "body field `value`: a secret can only be made readable together with a new value",
      );
    }
    let value = body.value ?? row.value;
    if (is_secret && (body.value !== undefined || !row.is_secret)) {
      value = await toStoredValue(
        ctx,
        tx,
        value,
        body.value === undefined ? { already_encrypted: false } : options,
      );
    }
    await tx
      .update(variables)
      .set({
        path: renamed,
        value,
        is_secret,
        description: body.description ?? row.description,
        extra: mergeUnknownFields(row.extra, body.extra),
      })
      .where(whereVariable(ctx, path));
    return renamed;
  });
}

export async function deleteVariable(ctx: WorkspaceContext, path: string): Promise<void> {
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`variable ${ctx.caller.member.workspace_id} ${path}`);
    requireVariableWrite(ctx, await getVariable(ctx, path, tx));
    await tx.delete(variables).where(whereVariable(ctx, path));
  });
}

function requireVariableWrite(ctx: WorkspaceContext, row: Variable): void {
  if (!canWrite(ctx.caller.member, row.path, row.extra_perms)) {
    throw new Forbidden(`${ctx.username} may not write to ${row.path}`);
  }
}

/**
 * Returns the plain value. Reading a secret writes an audit row that is durable before the secret is disclosed; when a
 * job reads the same secret again, the write is not awaited. Operators may read secrets only in jobs. Secrets given to
 * a job are masked in its log.
 */
export async function readVariableValue(ctx: WorkspaceContext, stored: Variable): Promise<string> {
  const { member, identity } = ctx.caller;
  if (stored.is_secret && member.operator && !member.is_admin && !identity.token?.job) {
    throw new Forbidden("operators do not read secrets directly");
  }
  const row = await ensureFreshToken(ctx.app, stored);
  if (!row.is_secret) return row.value;
  const job = identity.token?.job;
  const lazy = job !== undefined && wasDisclosed(ctx.app, job.id, row);
  const audited = { resource: row.path, action: SECRET_READ_AUDIT, lazy };
  const value = await ctx.write(audited, (tx) => decryptValue(ctx.app, row, tx));
  if (!job) return value;
  if (!(await maskInJob(ctx.app, job.id, value))) {
    throw new Unauthorized("the job that asks for the secret has ended, or its machine cannot mask it", {
      hint: "a job asks for secrets at BASE_INTERNAL_URL, which is on its own machine",
    });
  }
  if (!lazy) recordDisclosure(ctx.app, job.id, row);
  return value;
}

/** A variable as lists show it. `linked` is true if a resource has the same path. */
export type ShownVariable = Variable & { linked: boolean };

const hasResourceAtPath = and(
  eq(resources.workspace_id, variables.workspace_id),
  eq(resources.path, variables.path),
);

/** Returns a variable's row and `linked`. @throws NotFound, also if the caller may not read it */
export async function getShownVariable(ctx: WorkspaceContext, path: string): Promise<ShownVariable> {
  const row = await getVariable(ctx, path);
  const [resource] = await ctx.app.db.read
    .select({ path: resources.path })
    .from(resources)
    .where(and(eq(resources.workspace_id, row.workspace_id), eq(resources.path, path)));
  return { ...row, linked: resource !== undefined };
}

export async function listVariables(
  ctx: WorkspaceContext,
  query: { path_start?: string | undefined; page: number; per_page: number },
): Promise<ShownVariable[]> {
  const { member } = ctx.caller;
  const { offset, limit } = toLimitOffset(query);
  const rows = await ctx.app.db.read
    .select({ ...getTableColumns(variables), resource: resources.path })
    .from(variables)
    .leftJoin(resources, hasResourceAtPath)
    .where(
      and(
        eq(variables.workspace_id, member.workspace_id),
        readableBy(member, variables),
        or(isNull(variables.expires_at), gt(variables.expires_at, ctx.app.clock())),
        query.path_start ? startsWith(variables.path, query.path_start) : undefined,
      ),
    )
    .orderBy(asc(variables.path))
    .limit(limit)
    .offset(offset);
  return rows.map(({ resource, ...row }) => ({ ...row, linked: resource !== null }));
}

export async function hasVariable(ctx: WorkspaceContext, path: string): Promise<boolean> {
  return (await findVariable(ctx, ctx.app.db.read, path)) !== undefined;
}
