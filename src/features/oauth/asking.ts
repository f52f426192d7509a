/** Asking a provider: where it is, within which limits, and how its failures are told. */
import * as oauth from "oauth4webapi";
import type { App } from "../../context.ts";
import { BadRequest, SvcError, Unavailable } from "../../errors.ts";
import { boundedFetch, FetchFailed } from "../../lib/bounded-fetch.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Client } from "./clients.ts";

const BOUNDS = { timeout_ms: 10_000, max_bytes: 1_000_000, max_redirects: 3 };
/** How long a provider's own description is relied upon. */
const DISCOVERY_MS = 3_600_000;
/** Most characters that are kept of what a provider says. */
export const MAX_TEXT = 300;

/** How the library calls. */
export const HTTP = {
  // Which addresses may be plain http is decided in one place: by the fetch.
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: (url: string, init: unknown) => call(url, init as RequestInit),
} as const;

/** @throws FetchFailed, also when the provider says that it has failed itself */
export async function call(url: string, init: RequestInit): Promise<Response> {
  const response = await boundedFetch(url, init, BOUNDS);
  if (response.status < 500) return response;
  throw new FetchFailed(`${new URL(url).host} fails (status ${response.status})`);
}

interface Known {
  server: Promise<oauth.AuthorizationServer>;
  until: number;
}

const discovered = perApp<App, Map<string, Known>>(() => new Map());

/** What is known of a provider's endpoints. */
export async function serverOf(app: App, { provider }: Client): Promise<oauth.AuthorizationServer> {
  if (provider.issuer === undefined) return toServer(provider);
  const known = discovered(app);
  const now = app.clock().getTime();
  const before = known.get(provider.issuer);
  if (before && before.until > now) return before.server;
  const server = discover(provider.issuer);
  known.set(provider.issuer, { server, until: now + DISCOVERY_MS });
  server.catch(() => known.delete(provider.issuer!));
  return server;
}

function toServer(provider: Client["provider"]): oauth.AuthorizationServer {
  const { auth_url, token_url, userinfo_url, revocation_url } = provider;
  return {
    issuer: auth_url ?? "",
    ...(auth_url && { authorization_endpoint: auth_url }),
    ...(token_url && { token_endpoint: token_url }),
    ...(userinfo_url && { userinfo_endpoint: userinfo_url }),
    ...(revocation_url && { revocation_endpoint: revocation_url }),
  };
}

async function discover(issuer: string): Promise<oauth.AuthorizationServer> {
  if (!URL.canParse(issuer))
    throw new BadRequest(`setting oauths: "${issuer.slice(0, MAX_TEXT)}" is no issuer`);
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(
    url,
    await oauth.discoveryRequest(url, { algorithm: "oidc", ...HTTP }),
  );
}

/** Runs what asks a provider, and tells its failures in this service's words. */
export async function asking<T>(client: Client, what: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw toError(client, what, cause);
  }
}

function toError({ name }: Client, what: string, cause: unknown): SvcError {
  if (cause instanceof SvcError) return cause;
  if (cause instanceof FetchFailed) return new Unavailable(`${name}: ${what}: ${cause.message}`, { cause });
  if (cause instanceof oauth.AuthorizationResponseError || cause instanceof oauth.ResponseBodyError) {
    const said = [cause.error, cause.error_description].filter(Boolean).join(": ").slice(0, MAX_TEXT);
    return new BadRequest(`${name}: ${what}: the provider answers ${said}`, { cause });
  }
  // What is wrong is told, never what was sent: the library's causes hold whole answers, tokens included.
  const reason = cause instanceof Error ? cause.message.slice(0, MAX_TEXT) : "unknown";
  return new Unavailable(`${name}: ${what}: the provider's answer makes no sense (${reason})`);
}

export const toClient = ({ id }: Client): oauth.Client => ({ client_id: id });
