/**
 * Password reset by a link in a mail. The link contains a ticket that the server signed together with the current
 * password hash. Nothing is stored, and a ticket becomes invalid as soon as the password changes.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { runInBackground } from "../../../lib/async/background.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import { BadRequest, Forbidden, TooManyRequests } from "../../../lib/errors.ts";
import { toNetwork } from "../../../lib/network.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { createMailMessage } from "../../signals/mail/mail-message.ts";
import { isMailConfigured, sendMail } from "../../signals/mail/send.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { revokeAllSessions } from "../sessions/sessions.ts";
import { hashPassword } from "../users/passwords.ts";

const LIFETIME_MS = 3_600_000;
const WINDOW_MS = 3_600_000;
/** Maximum mails per account, and requests per network, within the window. */
const MAILS_PER_ACCOUNT = 3;
const REQUESTS_PER_NETWORK = 30;
const MAX_TRACKED = 20_000;
/** A mail is sent after the response, at a time that cannot be foretold: else its work would show in the response's. */
const MIN_MAIL_DELAY_MS = 50;
const MAX_ADDED_DELAY_MS = 500;

const counters = memoizePerApp<App, Cache<{ taken: number }>>(
  (app) => new Cache({ max: MAX_TRACKED, now: () => app.clock().getTime() }),
);

/** Counts one more. @returns whether the count is within the limit */
function take(app: App, key: string, limit: number): boolean {
  const counted = counters(app);
  let window = counted.get(key);
  if (!window) {
    window = { taken: 0 };
    counted.set(key, window, WINDOW_MS);
  }
  window.taken++;
  return window.taken <= limit;
}

function sign(app: App, email: string, ends: number, hash: string): Buffer {
  return createHmac("sha256", app.instanceKey).update(`password reset\n${email}\n${ends}\n${hash}`).digest();
}

function createTicket(app: App, email: string, hash: string): string {
  const ends = app.clock().getTime() + LIFETIME_MS;
  const parts = [Buffer.from(email).toString("base64url"), ends.toString(36)];
  return [...parts, sign(app, email, ends, hash).toString("base64url")].join(".");
}

function readTicket(ticket: string): { email: string; ends: number; signature: Buffer } {
  const [email = "", ends = "", signature = ""] = ticket.split(".");
  return {
    email: Buffer.from(email, "base64url").toString(),
    ends: Number.parseInt(ends, 36),
    signature: Buffer.from(signature, "base64url"),
  };
}

function requirePasswordLogins(app: App): void {
  if (!app.settings.get("disable_password_login")) return;
  throw new Forbidden("logins with a password are disabled (setting disable_password_login)");
}

/** Reads the current password hash of an account that logs in with a password. */
async function findHash(app: App, email: string): Promise<string | undefined> {
  const [user] = await app.db.read.select().from(users).where(eq(users.email, email));
  return user?.login_type === "password" ? (user.password_hash ?? undefined) : undefined;
}

/**
 * Mails a reset link to the account if it exists and has a password. The response and its timing are the same for any
 * address, so that the caller learns nothing.
 * @param address the client's network address
 * @throws BadRequest without a mail server, Forbidden, TooManyRequests
 */
export async function requestPasswordReset(ctx: Context, given: string, address: string): Promise<void> {
  const { app } = ctx;
  requirePasswordLogins(app);
  if (!isMailConfigured(app)) {
    throw new BadRequest("this server has no mail server configured, so it cannot mail links", {
      hint: "a super admin sets another password: People, or svc user set-password",
    });
  }
  if (!take(app, `network ${toNetwork(address)}`, REQUESTS_PER_NETWORK)) {
    throw new TooManyRequests(
      "too many links requested from this address: try again in an hour",
      WINDOW_MS / 1_000,
    );
  }
  const email = given.trim().toLowerCase();
  const hash = await findHash(app, email);
  if (hash === undefined || !take(app, `account ${sha256(email)}`, MAILS_PER_ACCOUNT)) return;
  runInBackground(
    app,
    async () => {
      await sleep(MIN_MAIL_DELAY_MS + Math.random() * MAX_ADDED_DELAY_MS);
      await sendMail(app, email, createResetLetter(app, createTicket(app, email, hash)));
    },
    (cause) =>
      app.log.warn(
        { email, error: String(cause) },
        "the mail with a link to a new password could not be sent",
      ),
  );
}

function createResetLetter(app: App, ticket: string) {
  const { base } = app.urls;
  // In the URL's fragment, which browsers never send to a server.
  const way =
    app.config.console === "on"
      ? ["To choose another, open:", { code: `${base}/reset#${ticket}` }]
      : [
          `To choose another, send it as new_password to ${base}/api/auth/reset_password, with this token:`,
          { code: ticket },
        ];
  return createMailMessage("Another password", [
    `Somebody, you we hope, forgot the password of your account at ${base}.`,
    ...way,
    "The link works once, within an hour. If it was not you, do nothing: the password stays as it is.",
  ]);
}

/**
 * Sets a new password and ends all sessions of the account.
 * @throws BadRequest for a ticket that is no longer valid
 */
export async function resetPassword(ctx: Context, ticket: string, password: string): Promise<void> {
  const { app } = ctx;
  requirePasswordLogins(app);
  const { email, ends, signature } = readTicket(ticket);
  const hash = await findHash(app, email);
  const expected = sign(app, email, ends, hash ?? "");
  const isSigned = signature.length === expected.length && timingSafeEqual(signature, expected);
  const isValid = hash !== undefined && isSigned && ends > app.clock().getTime();
  const ended = () =>
    new BadRequest("this link is no longer valid: it works once, within an hour", {
      hint: "request another one on the login page",
    });
  if (!isValid) throw ended();
  const password_hash = await hashPassword(password, "new_password");
  await ctx.write({ resource: email, actor_email: email }, async (tx) => {
    const changed = await tx
      .update(users)
      .set({ password_hash })
      .where(and(eq(users.email, email), eq(users.password_hash, hash)))
      .returning({ email: users.email });
    // Another request used the same link at the same time.
    if (changed.length === 0) throw ended();
    await revokeAllSessions(app, tx, email);
  });
}
