/**
 * Logging in by a provider. Who a person is here is settled by the subject the provider names, and by the e-mail address
 * the first time only. An address that has another way to log in is never taken over.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { Forbidden, type SvcError } from "../../../../lib/errors.ts";
import { checkNewEmail } from "../../../../lib/text/paths.ts";
import type { Context } from "../../../../platform/app/context.ts";
import { oauthLogins } from "../../../assets/account-tables.ts";
import { type Client, clientOf } from "../../../assets/connections/clients.ts";
import { endedCookie, type Journey, journeyOf, useUp } from "../../../assets/connections/oauth-state.ts";
import { exchangeCode, type Returned } from "../../../assets/connections/provider.ts";
import { recordAudit } from "../../../signals/audit/service.ts";
import { recordInstanceEvent } from "../../../signals/webhooks/instance-events.ts";
import { users } from "../../../tenancy/people/user-tables.ts";
import { joinByDomain } from "../../members/joining/auto-invite.ts";
import { instanceUsername } from "../../users/instance-username.ts";
import { insertUser } from "../../users/service.ts";
import { loginCookies } from "../cookies.ts";
import { beginSession } from "../sessions.ts";
import { type Person, personOf } from "./person.ts";

const SIGNED_UP = { operation: "oauth.signup", action_kind: "Create" } as const;
const FAILED = { operation: "oauth.login_failure", action_kind: "Create" } as const;

/** Where a provider sends people back to. */
export function loginRedirect(ctx: Context, client: string): string {
  return `${ctx.app.urls.base}/user/login_callback/${client}`;
}

export interface LoggedIn {
  token: string;
  journey: Journey;
  /** The session's, and one that takes the journey's away. */
  cookies: string[];
}

/**
 * Ends a login that this browser has begun: a session, for a user who may be new.
 * @throws BadRequest for a state that is not this browser's or was used, and for what the provider refuses; Forbidden
 * for who may not log in; Unavailable when the provider cannot be used
 */
export async function finishLogin(ctx: Context, name: string, returned: Returned): Promise<LoggedIn> {
  const { app } = ctx;
  const client = clientOf(app, name, "login");
  const journey = journeyOf(app, ctx.request, { kind: "login", client: name, state: returned.state });
  await app.db.write((tx) => useUp(app, tx, journey));
  const tokens = await exchangeCode(app, client, journey, {
    returned,
    redirect_uri: loginRedirect(ctx, name),
  });
  const person = await personOf(app, client, tokens);
  const email = checkNewEmail(person.email);
  try {
    checkDomain(client, email);
    const { session, user } = await ctx.write({ resource: client.name, by: email }, async (tx) => {
      const user = await admit(ctx, tx, client, { ...person, email });
      await joinByDomain(app, tx, user);
      return { session: await beginSession(app, tx, user, null), user };
    });
    const cookies = [...loginCookies(app, user, session), endedCookie(app, journey)];
    return { token: session.token, journey, cookies };
  } catch (error) {
    if (error instanceof Forbidden) await recordRefusal(ctx, client, email, error);
    throw error;
  }
}

function checkDomain({ name, allowed_domains }: Client, email: string): void {
  const domain = email.slice(email.lastIndexOf("@") + 1);
  if (!allowed_domains || allowed_domains.some((allowed) => allowed.trim().toLowerCase() === domain)) return;
  throw new Forbidden(`addresses at ${domain} may not log in with ${name}`);
}

/** @returns the e-mail address of the user who is logged in: a known one, or one made now */
async function admit(ctx: Context, tx: Tx, client: Client, person: Person): Promise<string> {
  if (person.email_verified === false) {
    throw new Forbidden(`${client.name} has not verified the address ${person.email}`, {
      hint: "confirm the address there first",
    });
  }
  await tx.lock(`oauth login ${client.name} ${person.subject ?? person.email}`);
  const linked = await linkedUser(tx, client, person);
  if (linked) return requireSame(client, linked);
  const [known] = await tx.select().from(users).where(eq(users.email, person.email));
  if (!known) {
    await signUp(ctx, tx, client, person);
    return person.email;
  }
  requireSame(client, known);
  const [other] = await tx
    .select()
    .from(oauthLogins)
    .where(and(eq(oauthLogins.client, client.name), eq(oauthLogins.email, known.email)));
  if (other && person.subject !== other.subject) {
    throw new Forbidden(`${known.email} belongs to another account at ${client.name}`);
  }
  if (!other) await link(tx, client, person);
  return known.email;
}

type User = typeof users.$inferSelect;

async function linkedUser(tx: Tx, client: Client, { subject }: Person): Promise<User | undefined> {
  if (subject === undefined) return undefined;
  const [row] = await tx
    .select({ user: users })
    .from(oauthLogins)
    .innerJoin(users, eq(users.email, oauthLogins.email))
    .where(and(eq(oauthLogins.client, client.name), eq(oauthLogins.subject, subject)));
  return row?.user;
}

/** @throws Forbidden when the user has another way to log in */
function requireSame({ name }: Client, { email, login_type }: User): string {
  if (login_type === name) return email;
  throw new Forbidden(`${email} logs in with ${login_type}, not with ${name}`, {
    hint: "a super admin can change that: POST /api/users/set_login_type/{email}",
  });
}

/** Links an address to the provider's account. The account's earlier link was to a user who is gone. */
async function link(tx: Tx, { name }: Client, { subject, email }: Person): Promise<void> {
  if (subject === undefined) return;
  await tx
    .insert(oauthLogins)
    .values({ client: name, subject, email })
    .onConflictDoUpdate({ target: [oauthLogins.client, oauthLogins.subject], set: { email } });
}

async function signUp(ctx: Context, tx: Tx, client: Client, person: Person): Promise<void> {
  const { app } = ctx;
  if (!client.create_user || app.settings.get("require_preexisting_user_for_oauth")) {
    throw new Forbidden(`there is no user ${person.email}, and a login with ${client.name} makes none`, {
      hint: "a super admin makes users: POST /api/users/create",
    });
  }
  await insertUser(tx, {
    email: person.email,
    password_hash: null,
    login_type: client.name,
    super_admin: false,
    verified: person.email_verified === true,
    name: person.name ?? null,
    company: null,
    username: await instanceUsername(app, tx, person.email),
    first_time_user: true,
    created_at: app.clock(),
  });
  // Links of a user of this address who is gone lead to nobody's account.
  await tx
    .delete(oauthLogins)
    .where(and(eq(oauthLogins.client, client.name), eq(oauthLogins.email, person.email)));
  await link(tx, client, person);
  await recordInstanceEvent(app, tx, { type: "UserSignupOAuth", email: person.email });
  await recordAudit(tx, {
    timestamp: app.clock(),
    workspace_id: "global",
    username: person.email,
    email: person.email,
    audit: SIGNED_UP,
    resource: client.name,
    parameters: undefined,
  });
}

/** Somebody whom the provider knows was turned away: that is worth a row, since nothing else tells of it. */
async function recordRefusal(ctx: Context, client: Client, email: string, error: SvcError): Promise<void> {
  const parameters = { reason: error.message };
  await ctx.write({ resource: client.name, by: email, as: FAILED, parameters }, async () => {});
}
