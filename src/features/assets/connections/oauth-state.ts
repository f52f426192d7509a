/**
 * The way to a provider and back: what a browser set out with stands in a sealed cookie of its own, is good for ten
 * minutes and for one return (RFC 6749 §10.12, RFC 9700 §2.1).
 */
import { eq, lte } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { seal, unseal } from "../../../lib/crypto/seal.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { oauthUsedStates } from "../account-tables.ts";
import { type Attempt, newAttempt } from "./provider.ts";

const GOOD_FOR_S = 600;
const BOUND = "oauth attempt";

export type AttemptKind = "login" | "connect";

/** What is remembered between going and coming back. */
export interface Journey extends Attempt {
  kind: AttemptKind;
  client: string;
  /** Milliseconds since 1970. */
  until: number;
  /** Where a login leads to, below this instance. */
  rd?: string | undefined;
  /** Where what is connected shall stand, when that was said at the beginning. */
  workspace?: string | undefined;
  path?: string | undefined;
}

/** One journey of a kind and a provider at a time: the newest. */
const cookieName = (kind: AttemptKind, client: string) => `oauth_${kind}_${client}`;

/** @returns the journey, and the cookie (RFC 6265 §4.1) that the browser takes along */
export function begin(
  app: App,
  journey: Omit<Journey, keyof Attempt | "until">,
): { journey: Journey; cookie: string } {
  const until = app.clock().getTime() + GOOD_FOR_S * 1000;
  const begun: Journey = { ...journey, ...newAttempt(), until };
  const sealed = Buffer.from(seal(app.instanceKey, JSON.stringify(begun), BOUND)).toString("base64url");
  return { journey: begun, cookie: cookieWith(app, begun, sealed, GOOD_FOR_S) };
}

/** The cookie that takes a journey's cookie away. */
export function endedCookie(app: App, journey: Pick<Journey, "kind" | "client">): string {
  return cookieWith(app, journey, "", 0);
}

function cookieWith(
  app: App,
  { kind, client }: Pick<Journey, "kind" | "client">,
  value: string,
  seconds: number,
): string {
  const attributes = [`${cookieName(kind, client)}=${value}`, "HttpOnly", "Path=/", "SameSite=Lax"];
  if (app.urls.base.startsWith("https:")) attributes.push("Secure");
  return [...attributes, `Max-Age=${seconds}`].join("; ");
}

/**
 * The journey this browser is on.
 * @throws BadRequest when it set out on none, too long ago, or comes back with another state
 */
export function journeyOf(
  app: App,
  request: Request,
  { kind, client, state }: Pick<Journey, "kind" | "client" | "state">,
): Journey {
  const value = readCookie(request, cookieName(kind, client));
  const text = value && unseal(app.instanceKey, Buffer.from(value, "base64url").toString(), BOUND);
  const journey = text ? (JSON.parse(text) as Journey) : undefined;
  const isThis = journey?.kind === kind && journey.client === client && journey.state === state;
  if (!journey || !isThis || journey.until <= app.clock().getTime()) {
    throw new BadRequest("the state does not belong to this browser, or is older than ten minutes", {
      hint: `begin again at /api/oauth/${kind}/${client}`,
    });
  }
  return journey;
}

function readCookie(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** Uses a state up, whichever server it comes back to. @throws BadRequest when that has been done before */
export async function useUp(app: App, tx: Tx, journey: Journey): Promise<void> {
  const state = sha256(journey.state);
  await tx.lock(`oauth state ${state}`);
  await tx.delete(oauthUsedStates).where(lte(oauthUsedStates.expires_at, app.clock()));
  const [used] = await tx.select().from(oauthUsedStates).where(eq(oauthUsedStates.state, state));
  if (used) throw new BadRequest("the state has been used already", { hint: "begin again" });
  await tx.insert(oauthUsedStates).values({ state, expires_at: new Date(journey.until) });
}
