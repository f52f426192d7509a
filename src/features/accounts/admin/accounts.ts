/** Administration of accounts: passwords, login types, roles and deletion. */
import { and, asc, eq, gte, inArray, or } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { deriveUsername, parseEmail } from "../../../lib/text/paths.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import { toLimitOffset } from "../../../platform/http/operation.ts";
import { createUnfinishedCondition } from "../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { oauthLogins } from "../../assets/account-tables.ts";
import { auditLog } from "../../signals/audit/tables.ts";
import { instanceGroupMembers } from "../../tenancy/people/group-tables.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceInvites, workspaceMembers } from "../../tenancy/workspaces/tables.ts";
import { requireOtherAdmin, requireOtherSuperAdmin } from "../members/last-admin.ts";
import {
  countCanceled,
  finishCanceling,
  type Removal,
  removeMember,
  revokeAccess,
} from "../members/removal.ts";
import { deleteAllTokens, invalidateIdentity, revokeAllSessions } from "../sessions/sessions.ts";
import { hashPassword } from "../users/passwords.ts";
import { getUser, USER_COLUMNS } from "../users/service.ts";

/** The login type of users with a password. */
const PASSWORD_LOGIN = "password";
const LOGIN_TYPE_PATTERN = /^[\w-]{1,50}$/;
/** A user counts as active for this long after their last action. */
const ACTIVE_MS = 30 * 86_400_000;

/**
 * Sets a password and ends all sessions of the user.
 * @returns the caller's new session, if it is their own password and they used a session
 * @throws NotFound; BadRequest for a user who logs in with a provider
 */
export async function changePassword(
  ctx: UserContext,
  given: string,
  password: string,
): Promise<string | undefined> {
  const { app } = ctx;
  const email = parseEmail(given);
  await requirePasswordLogin(app.db.read, email);
  const password_hash = await hashPassword(password);
  return ctx.write({ resource: email }, async (tx) => {
    await requirePasswordLogin(tx, email);
    await tx.update(users).set({ password_hash }).where(eq(users.email, email));
    return revokeAllSessions(app, tx, email, ctx.caller.identity);
  });
}

async function requirePasswordLogin(db: Reader, email: string): Promise<void> {
  const { login_type } = await getUser(db, email);
  if (login_type === PASSWORD_LOGIN) return;
  throw new BadRequest(`${email} logs in with ${login_type} and has no password here`);
}

/**
 * Changes how a user logs in and ends their sessions. The password of a user who logs in with a provider is deleted;
 * one who returns to passwords gets a new one by `changePassword`.
 * @returns the caller's new session, if they changed their own account
 * @throws NotFound, BadRequest
 */
export async function setLoginType(
  ctx: UserContext,
  given: string,
  login_type: string,
): Promise<string | undefined> {
  const email = parseEmail(given);
  if (!LOGIN_TYPE_PATTERN.test(login_type)) {
    throw new BadRequest(
      `body field \`login_type\`: must be "${PASSWORD_LOGIN}" or the name of a login provider, such as "github"`,
    );
  }
  const audited = { resource: email, parameters: { login_type } };
  return ctx.write(audited, async (tx) => {
    const user = await getUser(tx, email);
    if (user.login_type === login_type) return undefined;
    const keeps = login_type === PASSWORD_LOGIN ? {} : { password_hash: null };
    await tx
      .update(users)
      .set({ login_type, ...keeps })
      .where(eq(users.email, email));
    return revokeAllSessions(ctx.app, tx, email, ctx.caller.identity);
  });
}

export interface AccountChange {
  is_super_admin?: boolean | undefined;
  is_devops?: boolean | undefined;
  name?: string | undefined;
}

/**
 * Changes the given fields of an account: super admin, devops, name.
 * @throws NotFound; BadRequest for the last super admin, or without anything to change
 */
export async function updateAccount(ctx: UserContext, given: string, change: AccountChange): Promise<void> {
  const email = parseEmail(given);
  const { is_super_admin: super_admin, is_devops: devops, name } = change;
  const set = {
    ...(super_admin === undefined ? {} : { super_admin }),
    ...(devops === undefined ? {} : { devops }),
    ...(name === undefined ? {} : { name: name || null }),
  };
  if (Object.keys(set).length === 0) {
    throw new BadRequest("nothing to change: give `is_super_admin`, `is_devops` or `name`");
  }
  const parameters = Object.fromEntries(Object.entries(set).map(([key, value]) => [key, String(value)]));
  await ctx.write({ resource: email, parameters }, async (tx) => {
    await getUser(tx, email);
    if (super_admin === false) await requireOtherSuperAdmin(tx, email);
    await tx.update(users).set(set).where(eq(users.email, email));
    await invalidateIdentity(ctx.app, tx, email);
    tx.afterCommit(() => invalidateMembers(ctx.app));
  });
}

/**
 * Deletes an account. The user leaves each workspace (members/removal.ts defines what happens to the items they own
 * there). All their tokens, invites, instance group memberships and provider logins are deleted, and jobs that run as
 * them are canceled. Audit rows stay.
 * @throws NotFound; BadRequest for the last super admin, or the last admin of a workspace
 */
export async function deleteAccount(ctx: UserContext, given: string): Promise<void> {
  const { app } = ctx;
  const email = parseEmail(given);
  const removals = await app.db.write(async (tx) => {
    await getUser(tx, email);
    await requireOtherSuperAdmin(tx, email);
    const removals: Removal[] = [];
    for (const place of await listMemberships(tx, email)) {
      await requireOtherAdmin(tx, place.workspace_id, email);
      removals.push(await removeMember(app, tx, { ...place, email }, ctx.username));
    }
    removals.push(...(await markSuperAdminRuns(app, tx, email, ctx.username)));
    for (const table of [workspaceInvites, instanceGroupMembers, oauthLogins]) {
      await tx.delete(table).where(eq(table.email, email));
    }
    const deleted = await deleteAllTokens(app, tx, email);
    await tx.delete(users).where(eq(users.email, email));
    tx.afterCommit(() => retireProcesses(app, { email }));
    const kept = removals.map(({ person }) => `${person.workspace_id}:u/${person.username}/`);
    const parameters = {
      kept_for_admins: kept.join(" "),
      canceled_runs: countCanceled(removals),
      deleted_tokens: String(removals.reduce((sum, { tokens }) => sum + tokens, deleted)),
    };
    await ctx.audit(tx, { resource: email, parameters });
    return removals;
  });
  await finishCanceling(ctx, removals);
}

function listMemberships(db: Reader, email: string) {
  return db
    .select({ workspace_id: workspaceMembers.workspace_id, username: workspaceMembers.username })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.email, email))
    .orderBy(asc(workspaceMembers.workspace_id));
}

/** Marks runs of a super admin in workspaces they are not a member of. */
async function markSuperAdminRuns(app: App, tx: Tx, email: string, by: string): Promise<Removal[]> {
  const found = await tx
    .selectDistinct({ workspace_id: jobs.workspace_id })
    .from(jobs)
    .where(createUnfinishedCondition(eq(jobs.permissioned_as, `u/${email}`)));
  const removals: Removal[] = [];
  for (const { workspace_id } of found) {
    const person = { workspace_id, username: email, email };
    const work = await revokeAccess(app, tx, person, { by, reason: "its owner's account was deleted" });
    removals.push({ ...work, person, tokens: 0 });
  }
  return removals;
}

/** Returns a user's username in the instance and in each workspace. @throws NotFound */
export async function getUsernameInfo(app: App, given: string) {
  const email = parseEmail(given);
  const { username } = await getUser(app.db.read, email);
  return {
    username: username ?? deriveUsername(email),
    workspace_usernames: await listMemberships(app.db.read, email),
  };
}

/**
 * Lists users by e-mail.
 * @param query `active_only` leaves out users without activity for 30 days, and adds `operator_only`
 */
export async function listAccounts(
  app: App,
  query: { page: number; per_page: number; active_only: boolean },
) {
  const { offset, limit } = toLimitOffset(query);
  const since = new Date(app.clock().getTime() - ACTIVE_MS);
  const { read } = app.db;
  const used = read.select({ email: tokens.email }).from(tokens).where(gte(tokens.last_used_at, since));
  // Includes logins whose sessions have ended.
  const seen = read
    .select({ email: auditLog.email })
    .from(auditLog)
    .where(and(eq(auditLog.workspace_id, "global"), gte(auditLog.timestamp, since)));
  const found = await read
    .select(USER_COLUMNS)
    .from(users)
    .where(query.active_only ? or(inArray(users.email, used), inArray(users.email, seen)) : undefined)
    .orderBy(asc(users.email))
    .limit(limit)
    .offset(offset);
  if (!query.active_only) return found;
  const operators = await listPureOperators(read);
  return found.map((user) => ({ ...user, operator_only: operators.has(user.email) }));
}

/** Returns users who are members of at least one workspace, and operators in all of theirs. */
async function listPureOperators(db: Reader): Promise<Set<string>> {
  const rows = await db
    .selectDistinct({ email: workspaceMembers.email, operator: workspaceMembers.operator })
    .from(workspaceMembers);
  const more = new Set(rows.filter(({ operator }) => !operator).map(({ email }) => email));
  return new Set(rows.map(({ email }) => email).filter((email) => !more.has(email)));
}

/** Returns the tutorial progress of a user, as the bits that clients store. @throws NotFound */
export async function getTutorialProgress(app: App, email: string): Promise<number> {
  const [row] = await app.db.read
    .select({ progress: users.tutorial_progress })
    .from(users)
    .where(eq(users.email, email));
  if (!row) throw new NotFound(`user ${email}`);
  return row.progress;
}

export async function setTutorialProgress(ctx: UserContext, tutorial_progress: number): Promise<void> {
  const { email } = ctx.caller.identity;
  await ctx.write({ resource: email }, async (tx) => {
    const set = await tx
      .update(users)
      .set({ tutorial_progress })
      .where(eq(users.email, email))
      .returning({ email: users.email });
    if (set.length === 0) throw new NotFound(`user ${email}`);
  });
}
