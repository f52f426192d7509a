/**
 * What is said to providers: OAuth 2.0 (RFC 6749) with PKCE (RFC 7636), OpenID Connect where there is an issuer. Every
 * call has limits, and every failure is told as one of two: the provider refused (BadRequest), or it cannot be used now
 * (Unavailable).
 */
import * as oauth from "oauth4webapi";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Client } from "./clients.ts";
import { asking, http, serverOf, toClient } from "./provider-http.ts";

/** A century: a moment further off may not be one that can be stored. */
const MAX_LIFETIME_S = 3_155_760_000;

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
        http(app, client),
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
      http(app, client),
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
      await oauth.revocationRequest(server, toClient(client), how, token, http(app, client)),
    );
    return true;
  });
}
