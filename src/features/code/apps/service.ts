/** Deploys, reads and deletes apps. */
import { and, asc, desc, eq, ne } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { canRead, canWrite, requireManageAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { deleteDraftRow, deleteDraftRows, moveDraftRows } from "../drafts/service.ts";
import { moveStars } from "../favorites/service.ts";
import type { Policy } from "./policy.ts";
import type { EditApp, NewApp } from "./records.ts";
import { type AppRow, type AppVersion, apps, appVersions, type Bundle } from "./tables.ts";

/** An app with one of its versions. */
export interface AppWithVersion {
  app: AppRow;
  version: AppVersion;
}

const whereApp = (workspace_id: string, path: string) =>
  and(eq(apps.workspace_id, workspace_id), eq(apps.path, path));

/**
 * Creates an app, replacing one that exists as a draft only.
 * @returns the path
 * @throws BadRequest for an invalid or used path, Forbidden
 */
export async function createApp(ctx: WorkspaceContext, body: NewApp & { bundle?: Bundle }): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const path = parsePath(body.path);
  const draft_only = body.draft_only ?? false;
  return ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`app ${workspace_id} ${path}`);
    const previous = await findApp(tx, workspace_id, path);
    requireAppWrite(ctx, path, previous?.extra_perms);
    if (previous && !previous.draft_only) {
      throw new BadRequest(`there is an app at ${path} already: update it to deploy a new version`);
    }
    // Drafts are not part of the app's history.
    if (previous) await deleteAppRows(tx, previous.id);
    const custom_path = await parseCustomPath(ctx, tx, body.custom_path);
    const [row] = await tx
      .insert(apps)
      .values({
        workspace_id,
        path,
        version: 0,
        summary: body.summary,
        policy: setPublisher(ctx, body.policy),
        custom_path: custom_path ?? null,
        draft_only,
        raw_app: body.bundle !== undefined,
        extra_perms: previous?.extra_perms ?? {},
      })
      .returning({ id: apps.id });
    const version = await insertVersion(ctx, tx, row!.id, body);
    await tx.update(apps).set({ version }).where(eq(apps.id, row!.id));
    if (!draft_only) await deleteDraftRow(tx, { workspace_id, kind: "app", path, created_by: ctx.username });
    return path;
  });
}

/**
 * Updates the given fields; a value creates a new version.
 * @returns the path after the update
 * @throws NotFound, Forbidden, BadRequest for an invalid or used path
 */
export async function updateApp(
  ctx: WorkspaceContext,
  old: string,
  body: EditApp & { bundle?: Bundle },
): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const path = body.path === undefined ? old : parsePath(body.path);
  if (path !== old) requireScope(ctx.caller.identity, { domain: "apps", action: "write" }, path);
  return ctx.write({ resource: path, parameters: path === old ? {} : { old_path: old } }, async (tx) => {
    // Always in the same order, to avoid deadlocks between two renames.
    for (const each of [...new Set([old, path])].sort()) await tx.lock(`app ${workspace_id} ${each}`);
    const app = requireReadable(ctx, await findApp(tx, workspace_id, old), `app ${old}`);
    requireAppWrite(ctx, old, app.extra_perms);
    if (path !== old) {
      requireManageAccess(ctx.caller.member, old, "rename");
      requireAppWrite(ctx, path, {});
      if (await findApp(tx, workspace_id, path)) throw new BadRequest(`there is an app at ${path} already`);
    }
    const deploys = body.value !== undefined;
    const custom_path = await parseCustomPath(ctx, tx, body.custom_path, app);
    await tx
      .update(apps)
      .set({
        path,
        version: deploys ? await insertVersion(ctx, tx, app.id, body) : app.version,
        summary: body.summary ?? app.summary,
        // New content runs with the rights of the user who deployed it, not of the earlier deployer.
        policy: body.policy || deploys ? setPublisher(ctx, body.policy ?? app.policy) : app.policy,
        custom_path: custom_path === undefined ? app.custom_path : custom_path,
        draft_only: app.draft_only && !deploys,
        raw_app: deploys ? body.bundle !== undefined : app.raw_app,
      })
      .where(eq(apps.id, app.id));
    await deleteDraftRow(tx, { workspace_id, kind: "app", path: old, created_by: ctx.username });
    if (path !== old) {
      await moveDraftRows(tx, { workspace_id, kind: "app", path: old }, path);
      await moveStars(tx, workspace_id, { kind: "app", path: old }, path);
    }
    return path;
  });
}

/** Sets the deployer as the person components run as, if the policy uses publisher rights. */
function setPublisher(ctx: WorkspaceContext, policy: Policy): Policy {
  const { email, username } = ctx.caller.member;
  return { ...policy, on_behalf_of: `u/${username}`, on_behalf_of_email: email };
}

const CUSTOM_PATH_PATTERN = /^[\w-]+(\/[\w-]+)*$/;

/**
 * Validates a new custom path.
 * @returns the path; null to remove it, undefined to leave it unchanged
 * @throws Forbidden unless the caller is an admin, BadRequest for an invalid or used path
 */
async function parseCustomPath(
  ctx: WorkspaceContext,
  tx: Tx,
  given: string | undefined,
  app?: AppRow,
): Promise<string | null | undefined> {
  if (given === undefined || given === (app?.custom_path ?? "")) return undefined;
  if (!ctx.caller.member.is_admin) throw new Forbidden("only admins of the workspace set a custom path");
  if (given === "") return null;
  if (given.length > 255 || !CUSTOM_PATH_PATTERN.test(given)) {
    throw new BadRequest(
      `body field \`custom_path\`: "${given.slice(0, 80)}" must be words of letters, digits, _ and -, with / between them`,
    );
  }
  await tx.lock(`custom path ${given}`);
  const [taken] = await tx
    .select({ id: apps.id })
    .from(apps)
    .where(and(eq(apps.custom_path, given), app && ne(apps.id, app.id)));
  if (taken) throw new BadRequest(`body field \`custom_path\`: another app has ${given} already`);
  return given;
}

async function insertVersion(
  ctx: WorkspaceContext,
  tx: Tx,
  app_id: number,
  body: { value?: unknown; bundle?: Bundle; deployment_message?: string | undefined },
): Promise<number> {
  const [row] = await tx
    .insert(appVersions)
    .values({
      workspace_id: ctx.caller.member.workspace_id,
      app_id,
      value: body.value,
      bundle: body.bundle ?? null,
      created_by: ctx.username,
      created_at: ctx.app.clock(),
      deployment_msg: body.deployment_message ?? null,
    })
    .returning({ id: appVersions.id });
  return row!.id;
}

/** Deletes an app with its history. @throws NotFound, Forbidden */
export async function deleteApp(ctx: WorkspaceContext, path: string): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`app ${workspace_id} ${path}`);
    const app = requireReadable(ctx, await findApp(tx, workspace_id, path), `app ${path}`);
    requireAppWrite(ctx, path, app.extra_perms);
    await deleteAppRows(tx, app.id);
    await deleteDraftRows(tx, { workspace_id, kind: "app", path });
  });
}

async function deleteAppRows(tx: Tx, id: number): Promise<void> {
  await tx.delete(appVersions).where(eq(appVersions.app_id, id));
  await tx.delete(apps).where(eq(apps.id, id));
}

/** Finds the row, without checking the caller's rights. */
export async function findApp(db: Reader, workspace_id: string, path: string): Promise<AppRow | undefined> {
  const [row] = await db.select().from(apps).where(whereApp(workspace_id, path));
  return row;
}

/** Whether callers without a login may use an app. One that exists as a draft only is not deployed for them. */
export function isOpenToAnybody({ policy, draft_only }: AppRow): boolean {
  return policy.execution_mode === "anonymous" && !draft_only;
}

/** Returns the newest version of an app. @throws NotFound, also if the caller may not read it */
export async function getApp(ctx: WorkspaceContext, path: string): Promise<AppWithVersion> {
  const { app, caller } = ctx;
  const row = requireReadable(
    ctx,
    await findApp(app.db.read, caller.member.workspace_id, path),
    `app ${path}`,
  );
  return getNewestVersion(app.db.read, row);
}

export async function getNewestVersion(db: Reader, app: AppRow): Promise<AppWithVersion> {
  const [version] = await db.select().from(appVersions).where(eq(appVersions.id, app.version));
  return { app, version: version! };
}

/** Returns a version by its id. @throws NotFound, also if the caller may not read it */
export async function getAppVersion(ctx: WorkspaceContext, number: string): Promise<AppWithVersion> {
  const [found] = /^\d{1,15}$/.test(number)
    ? await ctx.app.db.read
        .select({ app: apps, version: appVersions })
        .from(appVersions)
        .innerJoin(apps, eq(apps.id, appVersions.app_id))
        .where(and(eq(appVersions.id, Number(number)), eq(apps.workspace_id, ctx.caller.member.workspace_id)))
    : [];
  const what = `app version ${number.slice(0, 30)}`;
  return { app: requireReadable(ctx, found?.app, what), version: found!.version };
}

/** Lists the ids of an app's versions, oldest first. */
export async function listVersionIds(db: Reader, app: AppRow): Promise<number[]> {
  const rows = await db
    .select({ id: appVersions.id })
    .from(appVersions)
    .where(eq(appVersions.app_id, app.id))
    .orderBy(asc(appVersions.id));
  return rows.map(({ id }) => id);
}

/** Lists the history of an app, newest version first. @throws NotFound */
export async function listAppHistory(ctx: WorkspaceContext, path: string) {
  const { app } = await getApp(ctx, path);
  return ctx.app.db.read
    .select({ version: appVersions.id, deployment_msg: appVersions.deployment_msg })
    .from(appVersions)
    .where(eq(appVersions.app_id, app.id))
    .orderBy(desc(appVersions.id));
}

/** Sets the deployment message of a version. @throws NotFound, Forbidden */
export async function setAppDeploymentMessage(
  ctx: WorkspaceContext,
  { id, version }: { id: string; version: string },
  message: string | undefined,
): Promise<void> {
  const found = await getAppVersion(ctx, version);
  if (String(found.app.id) !== id) throw new NotFound(`version ${version} of app ${id.slice(0, 30)}`);
  requireAppWrite(ctx, found.app.path, found.app.extra_perms);
  await ctx.write({ resource: found.app.path }, async (tx) => {
    await tx
      .update(appVersions)
      .set({ deployment_msg: message ?? null })
      .where(eq(appVersions.id, found.version.id));
  });
}

export function requireReadable<T extends Pick<AppRow, "path" | "extra_perms">>(
  ctx: WorkspaceContext,
  row: T | undefined,
  what: string,
): T {
  const { member } = ctx.caller;
  if (!row || !canRead(member, row.path, row.extra_perms)) {
    throw new NotFound(`${what} in workspace ${member.workspace_id}`);
  }
  return row;
}

export function requireAppWrite(
  ctx: WorkspaceContext,
  path: string,
  extra_perms: AppRow["extra_perms"] = {},
): void {
  if (!canWrite(ctx.caller.member, path, extra_perms)) {
    throw new Forbidden(`${ctx.username} may not write to ${path}`);
  }
}
