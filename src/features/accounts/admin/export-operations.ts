/** Exports and replaces all users with their password hashes, to move them between instances. */
import { asc, inArray } from "drizzle-orm";
import { BadRequest } from "../../../lib/errors.ts";
import { parseEmail, parseUsername } from "../../../lib/text/paths.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { UserContext } from "../../../platform/app/context.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { oauthLogins } from "../../assets/account-tables.ts";
import { recordInstanceEvent } from "../../signals/webhooks/instance-events.ts";
import { requireLicense } from "../../tenancy/license/service.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { invalidateAllTokens } from "../../tenancy/tokens/cache.ts";
import { revokeSessions } from "../../tenancy/tokens/service.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { requireUnrestricted } from "../sessions/sessions.ts";

/** Accepted hashes: argon2 (PHC string) or bcrypt. */
const PASSWORD_HASH_PATTERN = /^\$(argon2(id|i|d)\$v=\d+\$|2[aby]\$\d\d\$)[\w+/=.,$-]{20,300}$/;

const ExportedUser = z.object({
  email: z.string(),
  super_admin: z.boolean(),
  verified: z.boolean(),
  first_time_user: z.boolean(),
  password_hash: optionalField(z.string().regex(PASSWORD_HASH_PATTERN, "must be a hash by argon2 or bcrypt")),
  name: optionalField(z.string()),
  company: optionalField(z.string()),
  username: optionalField(z.string()),
  /** `password`, or the provider they log in with. */
  login_type: optionalField(z.string().min(1).max(50)),
  devops: optionalField(z.boolean()),
});
type ExportedUser = z.output<typeof ExportedUser>;

export const exportUsers = operation({
  name: "globalUsersExport",
  method: "GET",
  path: "/users/export",
  access: "superAdmin",
  // Needs write scope, since weak passwords can be recovered from hashes.
  scope: { domain: "users", action: "write" },
  summary: "Export all users of the instance with their password hashes",
  responds: responds.json(z.array(ExportedUser)),
  audit: { operation: "users.export", action_kind: "Execute" },
  run: async (ctx) => {
    await requireLicense(ctx.app);
    await ctx.write({}, async () => {});
    return ctx.app.db.read
      .select({
        email: users.email,
        super_admin: users.super_admin,
        verified: users.verified,
        first_time_user: users.first_time_user,
        password_hash: users.password_hash,
        name: users.name,
        company: users.company,
        username: users.username,
        login_type: users.login_type,
        devops: users.devops,
      })
      .from(users)
      .orderBy(asc(users.email));
  },
});

export const overwriteUsers = operation({
  name: "globalUsersOverwrite",
  method: "POST",
  path: "/users/overwrite",
  access: "superAdmin",
  summary: "Replace all users of the instance by the given ones",
  body: z.array(ExportedUser).max(100_000),
  responds: responds.text("confirmation"),
  audit: { operation: "users.overwrite", action_kind: "Update" },
  run: async (ctx, { body }) => {
    await requireLicense(ctx.app);
    requireUnrestricted(ctx, "replaces no users");
    const gone = await replaceUsers(ctx, body);
    return `there are ${body.length} users now; ${gone} of those before are gone`;
  },
});

type UserRow = typeof users.$inferInsert;

/**
 * Replaces all users. Remaining users keep creation date and tokens; their sessions end if the password or login type
 * changed. Removed users lose tokens and provider logins; their workspace memberships stay, in case they return.
 * @returns the number of removed users
 * @throws BadRequest for a duplicate user or username, an invalid name, or a list without a usable super admin
 */
async function replaceUsers(ctx: UserContext, given: ExportedUser[]): Promise<number> {
  const { app } = ctx;
  const rows = parseUserRows(given, app.clock());
  const parameters = { users: String(rows.size) };
  return ctx.write({ parameters }, async (tx) => {
    await tx.lock("all users");
    const before = await tx
      .select({ email: users.email, password_hash: users.password_hash, login_type: users.login_type })
      .from(users);
    const gone = before.map(({ email }) => email).filter((email) => !rows.has(email));
    for (let at = 0; at < gone.length; at += BATCH_SIZE) {
      const some = gone.slice(at, at + BATCH_SIZE);
      for (const table of [tokens, oauthLogins, users])
        await tx.delete(table).where(inArray(table.email, some));
    }
    for (const was of before) {
      const is = rows.get(was.email);
      const isSame = is?.password_hash === was.password_hash && is?.login_type === was.login_type;
      if (is && !isSame) await revokeSessions(app, tx, was.email, undefined);
      if (!isSame) tx.afterCommit(() => retireProcesses(app, { email: was.email }));
    }
    const known = new Set(before.map(({ email }) => email));
    for (const row of rows.values()) {
      const { created_at: _, ...set } = row;
      await tx.insert(users).values(row).onConflictDoUpdate({ target: users.email, set });
      if (!known.has(row.email)) await recordInstanceEvent(app, tx, { type: "UserAdded", email: row.email });
    }
    // Cached identities include rights, which may have changed.
    tx.afterCommit(() => invalidateAllTokens(app));
    return gone.length;
  });
}

/** Values in one statement; SQLite allows 32,766 (SQLITE_MAX_VARIABLE_NUMBER). */
const BATCH_SIZE = 10_000;

function parseUserRows(given: ExportedUser[], now: Date): Map<string, UserRow> {
  const rows = new Map<string, UserRow>();
  const names = new Map<string, string>();
  for (const user of given) {
    const email = parseEmail(user.email);
    if (rows.has(email)) throw new BadRequest(`${email} is in the list twice`);
    const username = user.username ? parseUsername(user.username) : null;
    const other = username === null ? undefined : names.get(username);
    if (other)
      throw new BadRequest(`the username ${username} is in the list twice: of ${other} and ${email}`);
    if (username) names.set(username, email);
    rows.set(email, {
      email,
      password_hash: user.password_hash ?? null,
      login_type: user.login_type ?? "password",
      super_admin: user.super_admin,
      devops: user.devops ?? false,
      verified: user.verified,
      name: user.name || null,
      company: user.company || null,
      username,
      first_time_user: user.first_time_user,
      created_at: now,
    });
  }
  const canAdminister = (row: UserRow) =>
    row.super_admin && (row.login_type !== "password" || row.password_hash);
  if (![...rows.values()].some(canAdminister)) {
    throw new BadRequest("the list has no super admin who can log in: nobody could administer the instance");
  }
  return rows;
}

export const userExportOperations: Operation[] = [exportUsers, overwriteUsers];
