import { eq, sql } from "drizzle-orm";
import type { App, Context, UserContext } from "../../context.ts";
import type { Tx } from "../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../errors.ts";
import { checkEmail, checkUsername } from "../../lib/paths.ts";
import { perApp } from "../../lib/per-app.ts";
import { issueToken, revokeSessions } from "../tokens/service.ts";
import { checkAttempt, recordFailure } from "./attempts.ts";
import { users } from "./tables.ts";

/** OWASP's first recommendation for argon2id that a small server bears: 19 MiB, 2 passes. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

export function hashPassword(password: string): Promise<string> {
  if (password === "") throw new BadRequest("body field `password`: must not be empty");
  return Bun.password.hash(password, ARGON2ID);
}

/** A hash nobody has the password of: an unknown e-mail takes as long to refuse as a wrong password. */
const dummyHash = perApp<App, Promise<string>>(() => Bun.password.hash(crypto.randomUUID(), ARGON2ID));

export interface NewUser {
  email: string;
  password: string;
  super_admin: boolean;
  name?: string | undefined;
  company?: string | undefined;
  username?: string | undefined;
}

/** @throws BadRequest for a bad or taken e-mail */
export async function createUser(ctx: Context, body: NewUser): Promise<void> {
  const email = checkEmail(body.email);
  const row = await toRow(ctx.app, { ...body, email });
  await ctx.write({ resource: email }, (tx) => insertUser(tx, row));
}

type UserRow = typeof users.$inferInsert;

export async function toRow(app: App, body: NewUser): Promise<UserRow> {
  return {
    email: body.email,
    password_hash: await hashPassword(body.password),
    login_type: "password",
    super_admin: body.super_admin,
    verified: true,
    name: body.name || null,
    company: body.company || null,
    username: body.username ? checkUsername(body.username) : null,
    first_time_user: false,
    created_at: app.clock(),
  };
}

export async function insertUser(tx: Tx, row: UserRow): Promise<void> {
  await tx.lock(`user ${row.email}`);
  const [taken] = await tx.select({ email: users.email }).from(users).where(eq(users.email, row.email));
  if (taken) throw new BadRequest(`there is a user with e-mail ${row.email} already`);
  await tx.insert(users).values(row);
}

/**
 * Checks the password and opens a session.
 * @returns the session token
 * @throws BadRequest with one text for a wrong password and an unknown e-mail, TooManyRequests
 */
export async function login(
  ctx: Context,
  body: { email: string; password: string },
  address: string,
): Promise<string> {
  const { app } = ctx;
  const email = body.email.trim().toLowerCase();
  checkAttempt(app, email, address);
  const [user] = await app.db.read.select().from(users).where(eq(users.email, email));
  const hash = user?.login_type === "password" ? user.password_hash : null;
  const right = await Bun.password.verify(body.password, hash ?? (await dummyHash(app)));
  // Guesses sent all at once have all passed the first check: what this one found stays unsaid too.
  checkAttempt(app, email, address);
  if (!right || hash === null) {
    recordFailure(app, email, address);
    throw new BadRequest("Invalid login");
  }
  return ctx.write({ resource: email, by: email }, (tx) => openSession(app, tx, email));
}

/** Stores a session token that lasts as long as the configuration says. */
export function openSession(app: App, tx: Tx, email: string): Promise<string> {
  const expiration = new Date(app.clock().getTime() + app.config.session_s * 1000);
  return issueToken(app, tx, { email, label: "session", expiration, kind: "session" });
}

/** RFC 6265 §4.1. */
export function sessionCookie(app: App, token: string): string {
  const { config, urls } = app;
  return [
    `token=${token}`,
    "HttpOnly",
    "Path=/",
    "SameSite=Lax",
    token === "" ? "Max-Age=0" : `Max-Age=${config.session_s}`,
    ...(urls.base.startsWith("https:") ? ["Secure"] : []),
    ...(config.cookie_domain ? [`Domain=${config.cookie_domain}`] : []),
  ].join("; ");
}

export async function setPassword(ctx: UserContext, password: string): Promise<void> {
  const { app } = ctx;
  const { email, token } = ctx.caller.identity;
  if (token?.scopes?.length) throw new Forbidden("a token bound to scopes changes no password");
  const user = await getUser(app, email);
  if (user.login_type !== "password") {
    throw new BadRequest(`${email} logs in with ${user.login_type} and has no password here`);
  }
  const password_hash = await hashPassword(password);
  await ctx.write({ resource: email }, async (tx) => {
    await tx.update(users).set({ password_hash }).where(eq(users.email, email));
    await revokeSessions(app, tx, email, token?.hash);
  });
}

/**
 * What may be told of a user: never the password's hash.
 * @throws NotFound
 */
export async function getUser(app: App, email: string) {
  const [user] = await app.db.read
    .select({
      email: users.email,
      login_type: users.login_type,
      super_admin: users.super_admin,
      devops: users.devops,
      verified: users.verified,
      name: users.name,
      company: users.company,
      username: users.username,
      first_time_user: users.first_time_user,
    })
    .from(users)
    .where(eq(users.email, email));
  if (!user) throw new NotFound(`user ${email}`);
  return user;
}

export async function countUsers(db: Pick<Tx, "select">): Promise<number> {
  const [row] = await db.select({ n: sql<number>`count(*)` }).from(users);
  return Number(row?.n ?? 0);
}
