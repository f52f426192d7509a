import { and, asc, eq, getTableColumns, gt, isNull, or } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import { type Reader, statement, type Tx } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import { BadRequest, Forbidden, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { parseFields } from "../../../lib/json/json.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { canRead, canWrite, readableBy, requireManage } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { toWindow } from "../../../platform/http/operation.ts";
import { checkScopes } from "../../tenancy/tokens/scopes.ts";
import { encryptSecret, renewing, SECRET_READ } from "../../tenancy/workspaces/secrets.ts";
import { ownAccount } from "../connections/accounts.ts";
import { withFreshToken } from "../connections/refresh.ts";
import { resources } from "../resource-tables.ts";
import { type Variable, variables } from "../variable-tables.ts";
import { rememberTold, wasTold } from "./disclosures.ts";
import { maskFor } from "./mask-in-job.ts";
import { openValue } from "./value.ts";

export interface NewVariable {
  path: string;
  value: string;
  is_secret: boolean;
  description: string;
  account?: number | undefined;
  is_oauth?: boolean | undefined;
  expires_at?: Date | undefined;
}

export interface EditVariable {
  path?: string | undefined;
  value?: string | undefined;
  is_secret?: boolean | undefined;
  description?: string | undefined;
}

interface Options {
  /** The value is ciphertext of this workspace already. */
  already_encrypted: boolean;
}

const at = (ctx: WorkspaceContext, path: string) =>
  and(eq(variables.workspace_id, ctx.caller.member.workspace_id), eq(variables.path, path));

const p = sql.placeholder;

/** A row as the database gives it. */
interface Raw extends Omit<Variable, "is_secret" | "is_oauth" | "expires_at" | "extra_perms"> {
  is_secret: boolean | number;
  is_oauth: boolean | number;
  expires_at: Date | number | null;
  extra_perms: Record<string, boolean> | string;
}

/** Scripts read variables while somebody waits for them: the query is made once. */
const byPath = statement<{ workspace_id: string; path: string }, Raw[]>((q) =>
  q
    .select()
    .from(variables)
    .where(and(eq(variables.workspace_id, p("workspace_id")), eq(variables.path, p("path")))),
);

/** One row, unless it is gone by its own date. */
async function find(ctx: WorkspaceContext, db: Reader, path: string): Promise<Variable | undefined> {
  const [raw] = await db.exec(byPath, { workspace_id: ctx.caller.member.workspace_id, path });
  if (!raw) return undefined;
  const { expires_at, extra_perms } = raw;
  const row: Variable = {
    ...raw,
    is_secret: Boolean(raw.is_secret),
    is_oauth: Boolean(raw.is_oauth),
    expires_at: expires_at === null ? null : new Date(expires_at),
    extra_perms:
      typeof extra_perms === "string" ? (parseFields(extra_perms) as Record<string, boolean>) : extra_perms,
  };
  return row.expires_at !== null && row.expires_at <= ctx.app.clock() ? undefined : row;
}

/** @throws NotFound, also when the caller may not read it */
export async function getVariable(
  ctx: WorkspaceContext,
  path: string,
  db: Reader = ctx.app.db.read,
): Promise<Variable> {
  const { member } = ctx.caller;
  const row = await find(ctx, db, path);
  if (!row || !canRead(member, path, row.extra_perms)) {
    throw new NotFound(`variable ${path} in workspace ${member.workspace_id}`);
  }
  return row;
}

/**
 * Sealed for storage. What claims to be sealed already is stored as it is, unless the key was exchanged since. What was
 * sealed elsewhere, with a key that is not here, is kept: it cannot be read until it is set anew.
 */
async function toStored(ctx: WorkspaceContext, tx: Tx, value: string, options: Options): Promise<string> {
  const { app, caller } = ctx;
  const { workspace_id, email } = caller.member;
  if (!options.already_encrypted) return encryptSecret(app, tx, workspace_id, value);
  return (await renewing(app, tx, workspace_id))(value, email);
}

/** @returns the path it stands at. @throws BadRequest for a bad or taken path, Forbidden */
export async function createVariable(
  ctx: WorkspaceContext,
  body: NewVariable,
  options: Options,
): Promise<string> {
  const path = checkPath(body.path);
  const { member } = ctx.caller;
  if (!canWrite(member, path, {})) throw new Forbidden(`${ctx.username} may not write to ${path}`);
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`variable ${member.workspace_id} ${path}`);
    if (await find(ctx, tx, path)) throw new BadRequest(`there is a variable at ${path} already`);
    // Whoever names an account reads its token.
    if (body.account !== undefined) await ownAccount(ctx, tx, body.account);
    const row = {
      workspace_id: member.workspace_id,
      path,
      value: body.is_secret ? await toStored(ctx, tx, body.value, options) : body.value,
      is_secret: body.is_secret,
      description: body.description,
      account: body.account ?? null,
      is_oauth: body.is_oauth ?? false,
      expires_at: body.expires_at ?? null,
      extra_perms: {},
    };
    // A row whose time has passed counts as gone, and is replaced.
    await tx
      .insert(variables)
      .values(row)
      .onConflictDoUpdate({ target: [variables.workspace_id, variables.path], set: row });
  });
  return path;
}

/** @throws NotFound, Forbidden, BadRequest when a secret would be opened without a new value */
export async function updateVariable(
  ctx: WorkspaceContext,
  path: string,
  body: EditVariable,
  options: Options,
): Promise<string> {
  const { member } = ctx.caller;
  const renamed = body.path === undefined ? path : checkPath(body.path);
  if (renamed !== path) checkScopes(ctx.caller.identity, { domain: "variables", action: "write" }, renamed);
  const parameters: Record<string, string> = renamed === path ? {} : { new_path: renamed };
  return ctx.write({ resource: path, parameters }, async (tx) => {
    // In one order for all, so that two renames never wait for each other.
    for (const each of [...new Set([path, renamed])].sort()) {
      await tx.lock(`variable ${member.workspace_id} ${each}`);
    }
    const row = await getVariable(ctx, path, tx);
    requireWrite(ctx, row);
    if (renamed !== path) {
      requireManage(member, path, "rename");
      if (!canWrite(member, renamed, {})) throw new Forbidden(`${ctx.username} may not write to ${renamed}`);
      if (await find(ctx, tx, renamed)) throw new BadRequest(`there is a variable at ${renamed} already`);
      // What may still stand there is gone by its own date.
      await tx.delete(variables).where(at(ctx, renamed));
    }
    const is_secret = body.is_secret ?? row.is_secret;
    if (row.is_secret && !is_secret && body.value === undefined) {
      throw new BadRequest(
        "body field `value`: a secret can only be made readable together with a new value",
      );
    }
    let value = body.value ?? row.value;
    if (is_secret && (body.value !== undefined || !row.is_secret)) {
      value = await toStored(
        ctx,
        tx,
        value,
        body.value === undefined ? { already_encrypted: false } : options,
      );
    }
    await tx
      .update(variables)
      .set({ path: renamed, value, is_secret, description: body.description ?? row.description })
      .where(at(ctx, path));
    return renamed;
  });
}

export async function deleteVariable(ctx: WorkspaceContext, path: string): Promise<void> {
  await ctx.write({ resource: path }, async (tx) => {
    requireWrite(ctx, await getVariable(ctx, path, tx));
    await tx.delete(variables).where(at(ctx, path));
  });
}

function requireWrite(ctx: WorkspaceContext, row: Variable): void {
  if (!canWrite(ctx.caller.member, row.path, row.extra_perms)) {
    throw new Forbidden(`${ctx.username} may not write to ${row.path}`);
  }
}

/**
 * The plain value. Each reading of a secret leaves an audit row, which is on disk before the secret is told; when a job
 * reads again what it has been told, only the row of the first time is waited for. Operators read secrets only through the jobs they run. What a
 * job is told is masked in its log from then on.
 */
export async function readValue(ctx: WorkspaceContext, stored: Variable): Promise<string> {
  const { member, identity } = ctx.caller;
  if (stored.is_secret && member.operator && !member.is_admin && !identity.token?.job) {
    throw new Forbidden("operators do not read secrets directly");
  }
  const row = await withFreshToken(ctx.app, stored);
  if (!row.is_secret) return row.value;
  const job = identity.token?.job;
  const lazy = job !== undefined && wasTold(ctx.app, job.id, row);
  const audited = { resource: row.path, as: SECRET_READ, lazy };
  const value = await ctx.write(audited, (tx) => openValue(ctx.app, row, tx));
  if (!job) return value;
  if (!(await maskFor(ctx.app, job.id, value))) {
    throw new Unauthorized("the job that asks for the secret has ended, or its machine cannot mask it", {
      hint: "a job asks for secrets at BASE_INTERNAL_URL, which is on its own machine",
    });
  }
  if (!lazy) rememberTold(ctx.app, job.id, row);
  return value;
}

/** As lists show it: `linked` says that a resource stands at the same path. */
export type ShownVariable = Variable & { linked: boolean };

const besideResource = and(
  eq(resources.workspace_id, variables.workspace_id),
  eq(resources.path, variables.path),
);

/** @throws NotFound, also when the caller may not read it */
export async function showVariable(ctx: WorkspaceContext, path: string): Promise<ShownVariable> {
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
  const { offset, limit } = toWindow(query);
  const rows = await ctx.app.db.read
    .select({ ...getTableColumns(variables), resource: resources.path })
    .from(variables)
    .leftJoin(resources, besideResource)
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

export async function variableExists(ctx: WorkspaceContext, path: string): Promise<boolean> {
  return (await find(ctx, ctx.app.db.read, path)) !== undefined;
}
