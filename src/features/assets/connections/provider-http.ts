/** HTTP requests to OAuth providers: endpoints, limits, and conversion of errors. */
import * as oauth from "oauth4webapi";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest, SvcError, Unavailable } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { allowConfiguredUrls } from "../../../platform/outgoing/configured-targets.ts";
import { OutgoingError } from "../../../platform/outgoing/connect.ts";
import { sendRequest } from "../../../platform/outgoing/request.ts";
import type { OauthClient } from "./oauth-clients.ts";

const REQUEST_LIMITS = {
  max_bytes: 1_000_000,
  oversize: "refused",
  requires_https: true,
} as const;
/** A refresh of a token, which may send several requests, ends before its lease does. */
const MAX_TIMEOUT_S = 10;
const MAX_REDIRECTS = 3;
/** How long a discovery document is cached. */
const DISCOVERY_CACHE_MS = 3_600_000;
/** Upper limit of text from a provider in names and errors, in characters. */
export const MAX_PROVIDER_TEXT_CHARS = 300;

/** Creates the options that make the OAuth library send requests through this server's HTTP client. */
export function createHttpOptions(app: App, client: OauthClient) {
  return {
    // `sendRequest` decides which targets may use plain http.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: unknown) => fetchProvider(app, client, url, init as RequestInit),
  } as const;
}

/** Sends a request to a provider. @throws OutgoingError, also for a response with status 5xx */
export async function fetchProvider(
  app: App,
  client: OauthClient,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const { issuer, auth_url, token_url, userinfo_url, emails_url, revocation_url } = client.provider;
  if (!URL.canParse(url)) throw new OutgoingError(`"${url.slice(0, MAX_PROVIDER_TEXT_CHARS)}" is not a URL`);
  const sent = new Request(url, init);
  const method = sent.method === "POST" ? "POST" : "GET";
  const answer = await sendRequest({
    url,
    method,
    headers: Object.fromEntries(sent.headers),
    ...(method === "POST" && { body: await sent.text() }),
    targets: allowConfiguredUrls(app, [
      issuer,
      auth_url,
      token_url,
      userinfo_url,
      emails_url,
      revocation_url,
    ]),
    // POST requests contain secrets, so they are not redirected.
    max_redirects: method === "GET" ? MAX_REDIRECTS : 0,
    ...REQUEST_LIMITS,
    timeout_ms: Math.min(app.config.outgoing_timeout_s, MAX_TIMEOUT_S) * 1_000,
  });
  const { status, headers, body } = answer;
  if (method === "GET" && headers.has("location")) {
    throw new OutgoingError(`${new URL(url).host} redirected more than ${MAX_REDIRECTS} times`);
  }
  if (status >= 500) throw new OutgoingError(`${new URL(url).host} failed (status ${status})`);
  // `Response` allows no body for these statuses.
  return new Response([204, 205, 304].includes(status) ? null : new Uint8Array(body), { status, headers });
}

const MAX_CACHED_PROVIDERS = 1_000;
const discoveryCache = memoizePerApp(
  (app: App) =>
    new Cache<oauth.AuthorizationServer>({
      max: MAX_CACHED_PROVIDERS,
      ttl_ms: DISCOVERY_CACHE_MS,
      now: () => app.clock().getTime(),
    }),
);

/** Returns a provider's endpoints, from the configuration or by discovery. */
export async function getProviderServer(app: App, client: OauthClient): Promise<oauth.AuthorizationServer> {
  const { provider } = client;
  if (provider.issuer === undefined) return toServer(provider);
  const { issuer } = provider;
  const cache = discoveryCache(app);
  return cache.get(issuer) ?? cache.load(issuer, () => fetchDiscovery(app, client, issuer));
}

function toServer(provider: OauthClient["provider"]): oauth.AuthorizationServer {
  const { auth_url, token_url, userinfo_url, revocation_url } = provider;
  return {
    issuer: auth_url ?? "",
    ...(auth_url && { authorization_endpoint: auth_url }),
    ...(token_url && { token_endpoint: token_url }),
    ...(userinfo_url && { userinfo_endpoint: userinfo_url }),
    ...(revocation_url && { revocation_endpoint: revocation_url }),
  };
}

async function fetchDiscovery(
  app: App,
  client: OauthClient,
  issuer: string,
): Promise<oauth.AuthorizationServer> {
  if (!URL.canParse(issuer))
    throw new BadRequest(`setting oauths: "${issuer.slice(0, MAX_PROVIDER_TEXT_CHARS)}" is not an issuer`);
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(
    url,
    await oauth.discoveryRequest(url, { algorithm: "oidc", ...createHttpOptions(app, client) }),
  );
}

/** Runs a request to a provider and converts its errors to errors of this service. */
export async function withProviderErrors<T>(
  client: OauthClient,
  what: string,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw toProviderError(client, what, cause);
  }
}

function toProviderError({ name }: OauthClient, what: string, cause: unknown): SvcError {
  if (cause instanceof SvcError) return cause;
  if (cause instanceof OutgoingError) return new Unavailable(`${name}: ${what}: ${cause.message}`, { cause });
  if (cause instanceof oauth.AuthorizationResponseError || cause instanceof oauth.ResponseBodyError) {
    const said = [cause.error, cause.error_description]
      .filter(Boolean)
      .join(": ")
      .slice(0, MAX_PROVIDER_TEXT_CHARS);
    return new BadRequest(`${name}: ${what}: the provider answered ${said}`, { cause });
  }
  // Only the message is used: causes from the library contain whole responses, with tokens.
  const reason = cause instanceof Error ? cause.message.slice(0, MAX_PROVIDER_TEXT_CHARS) : "unknown";
  return new Unavailable(`${name}: ${what}: the provider's answer is invalid (${reason})`);
}

export const toClient = ({ id }: OauthClient): oauth.Client => ({ client_id: id });
