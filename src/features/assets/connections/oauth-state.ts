/**
 * OAuth state: binds an authorization request to the browser that started it. It is stored in an encrypted cookie, and
 * valid for ten minutes and one use (RFC 6749 §10.12, RFC 9700 §2.1).
 *
 * From this cookie the browser goes to the provider and returns to accounts/sessions/login/oauth-login.ts (logins) or
 * assets/connecting/connect.ts (connected accounts). `oauth-protocol.ts` and `provider-http.ts` make all requests to
 * providers.
 */
import { eq, lte } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { decryptText, encryptText } from "../../../lib/crypto/seal.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { oauthUsedStates } from "../account-tables.ts";
import { type AuthorizationSecrets, createAuthorizationSecrets } from "./oauth-protocol.ts";

const STATE_LIFETIME_S = 600;
const STATE_PURPOSE = "oauth attempt";

export type StateKind = "login" | "connect";

/** The content of the state cookie. */
export interface OauthState extends AuthorizationSecrets {
  kind: StateKind;
  client: string;
  /** Expiry, in milliseconds since 1970. */
  until: number;
  /** Local path to redirect to after a login. */
  rd?: string | undefined;
  /** E-mail of the user who started to connect an account, and who alone completes it. */
  email?: string | undefined;
  /** Workspace and path to store the connection at, if given at the start. */
  workspace?: string | undefined;
  path?: string | undefined;
}

/** Returns the name of the state cookie, one per kind and client: a new state replaces the previous one. */
const getStateCookieName = (kind: StateKind, client: string) => `oauth_${kind}_${client}`;

/** Creates a state. @returns it with the cookie (RFC 6265 §4.1) to set */
export function createState(
  app: App,
  request: Omit<OauthState, keyof AuthorizationSecrets | "until">,
): { oauthState: OauthState; cookie: string } {
  const until = app.clock().getTime() + STATE_LIFETIME_S * 1000;
  const oauthState: OauthState = { ...request, ...createAuthorizationSecrets(), until };
  const sealed = Buffer.from(
    encryptText(app.instanceKey, JSON.stringify(oauthState), STATE_PURPOSE),
  ).toString("base64url");
  return { oauthState, cookie: formatStateCookie(app, oauthState, sealed, STATE_LIFETIME_S) };
}

/** Returns the cookie that clears the state cookie. */
export function clearStateCookie(app: App, oauthState: Pick<OauthState, "kind" | "client">): string {
  return formatStateCookie(app, oauthState, "", 0);
}

function formatStateCookie(
  app: App,
  { kind, client }: Pick<OauthState, "kind" | "client">,
  value: string,
  seconds: number,
): string {
  const attributes = [`${getStateCookieName(kind, client)}=${value}`, "HttpOnly", "Path=/", "SameSite=Lax"];
  if (app.urls.base.startsWith("https:")) attributes.push("Secure");
  return [...attributes, `Max-Age=${seconds}`].join("; ");
}

/**
 * Reads the state from the browser's cookie.
 * @throws BadRequest if there is none, it has expired, or the `state` parameter differs
 */
export function readState(
  app: App,
  request: Request,
  { kind, client, state }: Pick<OauthState, "kind" | "client" | "state">,
): OauthState {
  const value = readCookie(request, getStateCookieName(kind, client));
  const text =
    value && decryptText(app.instanceKey, Buffer.from(value, "base64url").toString(), STATE_PURPOSE);
  const oauthState = text ? (JSON.parse(text) as OauthState) : undefined;
  const isThis = oauthState?.kind === kind && oauthState.client === client && oauthState.state === state;
  if (!oauthState || !isThis || oauthState.until <= app.clock().getTime()) {
    throw new BadRequest("the state does not belong to this browser, or is older than ten minutes", {
      hint: `start again at /api/oauth/${kind}/${client}`,
    });
  }
  return oauthState;
}

function readCookie(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Marks a state as used, on all servers. @throws BadRequest if it was used before */
export async function consumeState(app: App, tx: Tx, oauthState: OauthState): Promise<void> {
  const state = sha256(oauthState.state);
  await tx.lock(`oauth state ${state}`);
  await tx.delete(oauthUsedStates).where(lte(oauthUsedStates.expires_at, app.clock()));
  const [used] = await tx.select().from(oauthUsedStates).where(eq(oauthUsedStates.state, state));
  if (used) throw new BadRequest("the state has been used already", { hint: "begin again" });
  await tx.insert(oauthUsedStates).values({ state, expires_at: new Date(oauthState.until) });
}
