/** Asking a provider: where it is, within which limits, and how its failures are told. */
import * as oauth from "oauth4webapi";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest, SvcError, Unavailable } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { OutgoingError } from "../../../platform/outgoing/connect.ts";
import { sendRequest } from "../../../platform/outgoing/request.ts";
import { targetsNamedIn } from "../../../platform/outgoing/settings.ts";
import type { Client } from "./clients.ts";

const BOUNDS = { timeout_ms: 10_000, max_bytes: 1_000_000, longer: "refused", confidential: true } as const;
const MAX_REDIRECTS = 3;
/** How long a provider's own description is relied upon. */
const DISCOVERY_MS = 3_600_000;
/** Most characters that are kept of what a provider says. */
export const MAX_TEXT = 300;

/** How the library calls: the way of everything that this server sends. */
export function http(app: App, client: Client) {
  return {
    // Which addresses may be plain http is decided where the request is sent.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: unknown) => call(app, client, url, init as RequestInit),
  } as const;
}

/** @throws OutgoingError, also when the provider says that it has failed itself */
export async function call(app: App, client: Client, url: string, init: RequestInit): Promise<Response> {
  const { issuer, auth_url, token_url, userinfo_url, emails_url, revocation_url } = client.provider;
  if (!URL.canParse(url)) throw new OutgoingError(`"${url.slice(0, MAX_TEXT)}" is no URL`);
  const sent = new Request(url, init);
  const method = sent.method === "POST" ? "POST" : "GET";
  const answer = await sendRequest({
    url,
    method,
    headers: Object.fromEntries(sent.headers),
    ...(method === "POST" && { body: await sent.text() }),
    targets: targetsNamedIn(app, [issuer, auth_url, token_url, userinfo_url, emails_url, revocation_url]),
    // What is sent by POST is meant for one address.
    max_redirects: method === "GET" ? MAX_REDIRECTS : 0,
    ...BOUNDS,
  });
  const { status, headers, body } = answer;
  if (method === "GET" && headers.has("location")) {
    throw new OutgoingError(`${new URL(url).host} redirects more than ${MAX_REDIRECTS} times`);
  }
  if (status >= 500) throw new OutgoingError(`${new URL(url).host} fails (status ${status})`);
  // A response with such a status may have no body, not even an empty one.
  return new Response([204, 205, 304].includes(status) ? null : new Uint8Array(body), { status, headers });
}

interface Known {
  server: Promise<oauth.AuthorizationServer>;
  until: number;
}

const discovered = perApp<App, Map<string, Known>>(() => new Map());

/** What is known of a provider's endpoints. */
export async function serverOf(app: App, client: Client): Promise<oauth.AuthorizationServer> {
  const { provider } = client;
  if (provider.issuer === undefined) return toServer(provider);
  const known = discovered(app);
  const now = app.clock().getTime();
  const before = known.get(provider.issuer);
  if (before && before.until > now) return before.server;
  const server = discover(app, client, provider.issuer);
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

async function discover(app: App, client: Client, issuer: string): Promise<oauth.AuthorizationServer> {
  if (!URL.canParse(issuer))
    throw new BadRequest(`setting oauths: "${issuer.slice(0, MAX_TEXT)}" is no issuer`);
  const url = new URL(issuer);
  return oauth.processDiscoveryResponse(
    url,
    await oauth.discoveryRequest(url, { algorithm: "oidc", ...http(app, client) }),
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
  if (cause instanceof OutgoingError) return new Unavailable(`${name}: ${what}: ${cause.message}`, { cause });
  if (cause instanceof oauth.AuthorizationResponseError || cause instanceof oauth.ResponseBodyError) {
    const said = [cause.error, cause.error_description].filter(Boolean).join(": ").slice(0, MAX_TEXT);
    return new BadRequest(`${name}: ${what}: the provider answers ${said}`, { cause });
  }
  // What is wrong is told, never what was sent: the library's causes hold whole answers, tokens included.
  const reason = cause instanceof Error ? cause.message.slice(0, MAX_TEXT) : "unknown";
  return new Unavailable(`${name}: ${what}: the provider's answer makes no sense (${reason})`);
}

export const toClient = ({ id }: Client): oauth.Client => ({ client_id: id });
