/**
 * Login with a provider. A user is identified by the provider's subject, and by e-mail address only at the first login.
 * An account with another login type is never taken over.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { Forbidden, type SvcError } from "../../../../lib/errors.ts";
import { parseNewEmail } from "../../../../lib/text/paths.ts";
import type { Context } from "../../../../platform/app/context.ts";
import { oauthLogins } from "../../../assets/account-tables.ts";
import { getClient, type OauthClient } from "../../../assets/connections/oauth-clients.ts";
import { type AuthorizationResponse, exchangeCode } from "../../../assets/connections/oauth-protocol.ts";
import {
  clearStateCookie,
  consumeState,
  type OauthState,
  readState,
} from "../../../assets/connections/oauth-state.ts";
import { recordAudit } from "../../../signals/audit/service.ts";
import { recordInstanceEvent } from "../../../signals/webhooks/instance-events.ts";
import { users } from "../../../tenancy/people/user-tables.ts";
import { joinByDomain } from "../../members/joining/auto-invite.ts";
import { chooseInstanceUsername } from "../../users/instance-username.ts";
import { insertUser } from "../../users/service.ts";
import { createLoginCookies } from "../cookies.ts";
import { startSession } from "../sessions.ts";
import { type ProviderProfile, readProfile } from "./provider-profile.ts";

const SIGNUP_AUDIT = { operation: "oauth.signup", action_kind: "Create" } as const;
const LOGIN_FAILURE_AUDIT = { operation: "oauth.login_failure", action_kind: "Create" } as const;

/** Returns the redirect URI to which the provider sends the browser back. */
export function createLoginRedirectUri(ctx: Context, client: string): string {
  return `${ctx.app.urls.base}/user/login_callback/${client}`;
}

export interface CompletedLogin {
  token: string;
  oauthState: OauthState;
  /** The session cookies, and one that clears the state cookie. */
  cookies: string[];
}

/**
 * Completes a login this browser has started, and creates the user if needed.
 * @throws BadRequest for a used or foreign state, and if the provider refuses; Forbidden if the user may not log in;
 * Unavailable if the provider cannot be used
 */
export async function completeOauthLogin(
  ctx: Context,
  name: string,
  returned: AuthorizationResponse,
): Promise<CompletedLogin> {
  const { app } = ctx;
  const client = getClient(app, name, "login");
  const oauthState = readState(app, ctx.request, { kind: "login", client: name, state: returned.state });
  await app.db.write((tx) => consumeState(app, tx, oauthState));
  const tokens = await exchangeCode(app, client, oauthState, {
    returned,
    redirect_uri: createLoginRedirectUri(ctx, name),
  });
  const person = await readProfile(app, client, tokens);
  const email = parseNewEmail(person.email);
  try {
    requireAllowedDomain(client, email);
    const { session, user } = await ctx.write({ resource: client.name, actor_email: email }, async (tx) => {
      const user = await findOrCreateUser(ctx, tx, client, { ...person, email });
      await joinByDomain(app, tx, user, await isAddressProven(tx, client, user));
      return { session: await startSession(app, tx, user, null), user };
    });
    const cookies = [
      ...createLoginCookies(app, ctx.request, user, session),
      clearStateCookie(app, oauthState),
    ];
    return { token: session.token, oauthState, cookies };
  } catch (error) {
    if (error instanceof Forbidden) await recordRefusal(ctx, client, email, error);
    throw error;
  }
}

function requireAllowedDomain(client: OauthClient, email: string): void {
  if (!client.allowed_domains || isListedDomain(client, email)) return;
  throw new Forbidden(`addresses at ${domainOf(email)} may not log in with ${client.name}`);
}

function isListedDomain({ allowed_domains = [] }: OauthClient, email: string): boolean {
  return allowed_domains.some((allowed) => allowed.trim().toLowerCase() === domainOf(email));
}

const domainOf = (email: string) => email.slice(email.lastIndexOf("@") + 1);

/**
 * Whether an account may join workspaces by the domain of its address. Some providers do not say whether they have
 * verified an address, and let users choose any: the super admin who lists the domain for the provider vouches for it.
 */
async function isAddressProven(tx: Tx, client: OauthClient, email: string): Promise<boolean> {
  if (isListedDomain(client, email)) return true;
  const [user] = await tx.select({ verified: users.verified }).from(users).where(eq(users.email, email));
  return user?.verified ?? false;
}

/** Finds or creates the user. @returns their e-mail address */
async function findOrCreateUser(
  ctx: Context,
  tx: Tx,
  client: OauthClient,
  person: ProviderProfile,
): Promise<string> {
  if (person.email_verified === false) {
    throw new Forbidden(`${client.name} has not verified the address ${person.email}`, {
      hint: "confirm the address there first",
    });
  }
  await tx.lock(`oauth login ${client.name} ${person.subject ?? person.email}`);
  const linked = await findLinkedUser(tx, client, person);
  if (linked) return storeVerification(tx, person, requireSameLoginType(client, linked));
  const [known] = await tx.select().from(users).where(eq(users.email, person.email));
  if (!known) {
    await signUpUser(ctx, tx, client, person);
    return person.email;
  }
  requireSameLoginType(client, known);
  const [other] = await tx
    .select()
    .from(oauthLogins)
    .where(and(eq(oauthLogins.client, client.name), eq(oauthLogins.email, known.email)));
  if (other && person.subject !== other.subject) {
    throw new Forbidden(`${known.email} belongs to another account at ${client.name}`);
  }
  if (!other) await linkAccount(tx, client, person);
  return known.email;
}

/** Stores that the provider has verified the address meanwhile. @returns the address of the account */
async function storeVerification(tx: Tx, person: ProviderProfile, email: string): Promise<string> {
  if (person.email_verified === true && person.email === email)
    await tx
      .update(users)
      .set({ verified: true })
      .where(and(eq(users.email, email), eq(users.verified, false)));
  return email;
}

type UserRow = typeof users.$inferSelect;

async function findLinkedUser(
  tx: Tx,
  client: OauthClient,
  { subject }: ProviderProfile,
): Promise<UserRow | undefined> {
  if (subject === undefined) return undefined;
  const [row] = await tx
    .select({ user: users })
    .from(oauthLogins)
    .innerJoin(users, eq(users.email, oauthLogins.email))
    .where(and(eq(oauthLogins.client, client.name), eq(oauthLogins.subject, subject)));
  return row?.user;
}

/** Checks that an account logs in with this provider. @throws Forbidden if the user has another login type */
function requireSameLoginType({ name }: OauthClient, { email, login_type }: UserRow): string {
  if (login_type === name) return email;
  throw new Forbidden(`${email} logs in with ${login_type}, not with ${name}`, {
    hint: "a super admin can change that: POST /api/users/set_login_type/{email}",
  });
}

/** Links an address to the provider's account. An existing link of that account belongs to a deleted user. */
async function linkAccount(
  tx: Tx,
  { name }: OauthClient,
  { subject, email }: ProviderProfile,
): Promise<void> {
  if (subject === undefined) return;
  await tx
    .insert(oauthLogins)
    .values({ client: name, subject, email })
    .onConflictDoUpdate({ target: [oauthLogins.client, oauthLogins.subject], set: { email } });
}

async function signUpUser(ctx: Context, tx: Tx, client: OauthClient, person: ProviderProfile): Promise<void> {
  const { app } = ctx;
  if (!client.create_user || app.settings.get("require_preexisting_user_for_oauth")) {
    throw new Forbidden(`there is no user ${person.email}, and a login with ${client.name} creates none`, {
      hint: "a super admin creates users: POST /api/users/create",
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
    username: await chooseInstanceUsername(app, tx, person.email),
    first_time_user: true,
    created_at: app.clock(),
  });
  // Links of a deleted user with this address are stale.
  await tx
    .delete(oauthLogins)
    .where(and(eq(oauthLogins.client, client.name), eq(oauthLogins.email, person.email)));
  await linkAccount(tx, client, person);
  await recordInstanceEvent(app, tx, { type: "UserSignupOAuth", email: person.email });
  await recordAudit(tx, {
    timestamp: app.clock(),
    workspace_id: "global",
    username: person.email,
    email: person.email,
    audit: SIGNUP_AUDIT,
    resource: client.name,
    parameters: undefined,
  });
}

/** Records in the audit log that a user known to the provider was refused. */
async function recordRefusal(
  ctx: Context,
  client: OauthClient,
  email: string,
  error: SvcError,
): Promise<void> {
  const parameters = { reason: error.message };
  await ctx.write(
    { resource: client.name, actor_email: email, action: LOGIN_FAILURE_AUDIT, parameters },
    async () => {},
  );
}
