/**
 * What is said to providers: OAuth 2.0 (RFC 6749) with PKCE (RFC 7636), OpenID Connect where there is an issuer. Every
 * call has limits, and every failure is told as one of two: the provider refused (BadRequest), or it cannot be used now
 * (Unavailable).
 */
import * as oauth from "oauth4webapi";
import type { App } from "../../context.ts";
import { BadRequest, SvcError, Unavailable } from "../../errors.ts";
import { boundedFetch, FetchFailed } from "../../lib/bounded-fetch.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Client } from "./clients.ts";

const BOUNDS = { timeout_ms: 10_000, max_bytes: 1_000_000, max_redirects: 3 };
/** How long a provider's own description is relied upon. */
const DISCOVERY_MS = 3_600_000;
const MAX_TEXT = 300;
/** A century: a moment further off may not be one that can be stored. */
const MAX_LIFETIME_S = 3_155_760_000;

const HTTP = {
  // Which addresses may be plain http is decided in one place: by the fetch.
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: (url: string, init: unknown) => call(url, init as RequestInit),
} as const;

/** @throws FetchFailed, also when the provider says that it has failed itself */
async function call(url: string, init: RequestInit): Promise<Response> {
  const response = await boundedFetch(url, init, BOUNDS);
  if (response.status < 500) return response;
  throw new FetchFailed(`${new URL(url).host} fails (status ${response.status})`);
}

/** What a provider answers to a code or a refresh token. */
export interface Tokens {
  access_token: string;
  refresh_token: string | undefined;
  /** Seconds. */
  expires_in: number | undefined;
  scope: string[] | undefined;
  /** The whole answer, for what providers add to it. */
  body: Record<string, unknown>;
  /** What the ID token says, once it is checked. */
  claims: oauth.IDToken | undefined;
}

/** What a browser takes to the provider and brings back. */
export interface Attempt {
  state: string;
  verifier: string;
  nonce: string;
}

export function newAttempt(): Attempt {
  return {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    nonce: oauth.generateRandomNonce(),
  };
}

interface Known {
  server: Promise<oauth.AuthorizationServer>;
  until: number;
}

const discovered = perApp<App, Map<string, Known>>(() => new Map());

async function serverOf(app: App, { provider }: Client): Promise<oauth.AuthorizationServer> {
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
async function asking<T>(client: Client, what: string, ask: () => Promise<T>): Promise<T> {
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

const toClient = ({ id }: Client): oauth.Client => ({ client_id: id });

function authentication({ secret, provider }: Client, server: oauth.AuthorizationServer): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  const methods = server.token_endpoint_auth_methods_supported;
  const inBody =
    provider.req_body_auth ?? (methods !== undefined && !methods.includes("client_secret_basic"));
  return inBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

interface Asked {
  redirect_uri: string;
  /** In place of the configured ones. */
  scopes?: string[] | undefined;
  extra_params?: Record<string, string> | undefined;
}

/** Where the browser is sent. @throws Unavailable, BadRequest when the provider is set up wrongly */
export function authorizationUrl(app: App, client: Client, attempt: Attempt, asked: Asked): Promise<string> {
  return asking(client, "cannot be asked", async () => {
    const server = await serverOf(app, client);
    if (!server.authorization_endpoint || !URL.canParse(server.authorization_endpoint)) {
      throw new BadRequest(`setting oauths: client ${client.name}: \`auth_url\` or \`issuer\` is missing`);
    }
    const url = new URL(server.authorization_endpoint);
    if (url.protocol !== "https:" && url.protocol !== "http:") {
      throw new BadRequest(`setting oauths: client ${client.name}: \`auth_url\` is no web address`);
    }
    const scopes = asked.scopes ?? client.provider.scopes ?? [];
    const parameters = {
      ...client.provider.extra_params,
      ...asked.extra_params,
      client_id: client.id,
      response_type: "code",
      redirect_uri: asked.redirect_uri,
      state: attempt.state,
      code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: "S256",
      ...(scopes.length > 0 && { scope: scopes.join(" ") }),
      ...(scopes.includes("openid") && { nonce: attempt.nonce }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  });
}

/** What the browser brought back: `code` and `state`, with `iss` where the provider says it (RFC 9207). */
export interface Returned {
  code: string;
  state: string;
  iss?: string | undefined;
}

/**
 * Trades the code for tokens.
 * @throws BadRequest when the provider refuses the code, Unavailable when it is down or answers nonsense
 */
export function exchangeCode(
  app: App,
  client: Client,
  attempt: Attempt,
  { returned, redirect_uri }: { returned: Returned; redirect_uri: string },
): Promise<Tokens> {
  return asking(client, "the code cannot be traded for a token", async () => {
    const server = await serverOf(app, client);
    const registered = toClient(client);
    const parameters = new URLSearchParams({ code: returned.code, state: returned.state });
    if (returned.iss !== undefined) parameters.set("iss", returned.iss);
    // Existing clients hand in code and state alone; that each provider has an address of its own to come back to, and
    // the state knows which, is the other defence against mix-ups (RFC 9700 §4.4.2.2).
    const lenient = { ...server, authorization_response_iss_parameter_supported: returned.iss !== undefined };
    const valid = oauth.validateAuthResponse(lenient, registered, parameters, attempt.state);
    const response = await tidied(
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        registered,
        authentication(client, server),
        valid,
        redirect_uri,
        attempt.verifier,
        HTTP,
      ),
    );
    const answer = await oauth.processAuthorizationCodeResponse(server, registered, response, {
      expectedNonce: (await saysWhoItIs(response)) ? attempt.nonce : oauth.expectNoNonce,
      recognizedTokenTypes: OTHER_TYPES,
    });
    return toTokens(answer);
  });
}

/** Some providers call a token that is used like any other by a name of their own. */
const OTHER_TYPES: oauth.RecognizedTokenTypes = { bot: () => {}, user: () => {}, token: () => {} };

async function saysWhoItIs(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === "object" && body !== null && "id_token" in body;
}

/**
 * Brings what providers without an issuer answer into the standard's form: errors that come with status 200, tokens
 * without a type, lists of scopes as arrays, and ID tokens that nothing here can check.
 */
async function tidied({ provider }: Client, response: Response): Promise<Response> {
  if (provider.issuer !== undefined || response.status !== 200) return response;
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (typeof body !== "object" || body === null || Array.isArray(body)) return response;
  const { id_token: _, ...rest } = body as Record<string, unknown>;
  const status = typeof rest.error === "string" ? 400 : 200;
  if (status === 200) rest.token_type ??= "bearer";
  if (Array.isArray(rest.scope)) rest.scope = rest.scope.join(" ");
  if (rest.expires_in === null) delete rest.expires_in;
  if (rest.refresh_token === null) delete rest.refresh_token;
  return Response.json(rest, { status });
}

function toTokens(answer: oauth.TokenEndpointResponse): Tokens {
  return {
    access_token: answer.access_token,
    refresh_token: answer.refresh_token,
    expires_in:
      answer.expires_in === undefined ? undefined : Math.min(Math.floor(answer.expires_in), MAX_LIFETIME_S),
    scope: answer.scope?.split(/[ ,]+/).filter((name) => name !== ""),
    body: answer,
    claims: oauth.getValidatedIdTokenClaims(answer),
  };
}

/** @throws BadRequest when the provider refuses the refresh token, Unavailable when it is down or answers nonsense */
export function refreshTokens(app: App, client: Client, refresh_token: string): Promise<Tokens> {
  return asking(client, "the token cannot be refreshed", async () => {
    const server = await serverOf(app, client);
    const registered = toClient(client);
    const response = await oauth.refreshTokenGrantRequest(
      server,
      registered,
      authentication(client, server),
      refresh_token,
      HTTP,
    );
    const options = { recognizedTokenTypes: OTHER_TYPES };
    return toTokens(
      await oauth.processRefreshTokenResponse(server, registered, await tidied(client, response), options),
    );
  });
}

/**
 * Tells the provider that a token is not wanted any more (RFC 7009).
 * @returns false when the provider knows no such call
 */
export function revokeToken(app: App, client: Client, token: string): Promise<boolean> {
  return asking(client, "the token cannot be revoked", async () => {
    const server = await serverOf(app, client);
    if (!server.revocation_endpoint) return false;
    const how = authentication(client, server);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, toClient(client), how, token, HTTP),
    );
    return true;
  });
}

/** What a provider says of a person. */
export interface Person {
  subject: string | undefined;
  email: string;
  /** Undefined: the provider does not say. */
  email_verified: boolean | undefined;
  name: string | undefined;
}

/** @throws BadRequest when no e-mail address is told, Unavailable */
export function personOf(app: App, client: Client, tokens: Tokens): Promise<Person> {
  return asking(client, "who logs in cannot be read", async () => {
    const server = await serverOf(app, client);
    const { claims } = tokens;
    const profile = server.userinfo_endpoint ? await userInfo(server, client, tokens) : undefined;
    if (!claims && !profile) {
      throw new BadRequest(
        `setting oauths: client ${client.name}: \`userinfo_url\` or \`issuer\` is missing`,
      );
    }
    const said: Record<string, unknown> = { ...claims, ...profile };
    const address = await addressOf(client, tokens, said);
    if (address.email === undefined) {
      throw new BadRequest(`${client.name} tells no e-mail address of who logs in`, {
        hint: "make one public there, or have a super admin ask for more scopes",
      });
    }
    const subject = said.sub ?? said.id;
    const name = said.name ?? said.login;
    return {
      subject: typeof subject === "string" || typeof subject === "number" ? String(subject) : undefined,
      email: address.email,
      email_verified: address.verified,
      name: typeof name === "string" ? name.slice(0, MAX_TEXT) : undefined,
    };
  });
}

async function userInfo(
  server: oauth.AuthorizationServer,
  client: Client,
  { access_token, claims }: Tokens,
): Promise<Record<string, unknown>> {
  const response = await oauth.userInfoRequest(server, toClient(client), access_token, HTTP);
  if (!claims) return readObject(response);
  return oauth.processUserInfoResponse(server, toClient(client), claims.sub, response);
}

/** An object a provider without an issuer answers. */
async function readObject(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json();
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new Error("no object");
  return body as Record<string, unknown>;
}

interface Address {
  email: string | undefined;
  verified: boolean | undefined;
}

async function addressOf(
  { provider }: Client,
  { access_token }: Tokens,
  said: Record<string, unknown>,
): Promise<Address> {
  if (provider.emails_url !== undefined) {
    const headers = { authorization: `Bearer ${access_token}`, accept: "application/json" };
    const list: unknown = await (await call(provider.emails_url, { headers })).json();
    const addresses = Array.isArray(list)
      ? (list as { email?: unknown; primary?: unknown; verified?: unknown }[])
      : [];
    const found = addresses.find((entry) => entry?.primary === true);
    return { email: text(found?.email), verified: found?.verified === true };
  }
  const verified = said.email_verified ?? said.verified;
  const isVerified = typeof verified === "string" ? verified === "true" : verified;
  return { email: text(said.email), verified: typeof isVerified === "boolean" ? isVerified : undefined };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
