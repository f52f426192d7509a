/**
 * The OAuth 2.0 protocol (RFC 6749) with PKCE (RFC 7636), and OpenID Connect for providers with an issuer. All requests
 * have limits. Errors are either BadRequest (the provider refused) or Unavailable (it cannot be used now).
 */
import * as oauth from "oauth4webapi";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import type { OauthClient } from "./oauth-clients.ts";
import { createHttpOptions, getProviderServer, toClient, withProviderErrors } from "./provider-http.ts";

/** Upper limit of a token's lifetime: a century. Later dates may not be storable. */
const MAX_LIFETIME_S = 3_155_760_000;

/** Tokens from an authorization code or a refresh token. */
export interface ProviderTokens {
  access_token: string;
  refresh_token: string | undefined;
  /** Lifetime of the access token, in seconds. */
  expires_in: number | undefined;
  scope: string[] | undefined;
  /** The whole token response, which may have provider-specific fields. */
  body: Record<string, unknown>;
  /** The validated claims of the ID token. */
  claims: oauth.IDToken | undefined;
}

/** Random values that protect one authorization request. */
export interface AuthorizationSecrets {
  state: string;
  verifier: string;
  nonce: string;
}

export function createAuthorizationSecrets(): AuthorizationSecrets {
  return {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    nonce: oauth.generateRandomNonce(),
  };
}

function createClientAuth(
  { secret, provider }: OauthClient,
  server: oauth.AuthorizationServer,
): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  const methods = server.token_endpoint_auth_methods_supported;
  const inBody =
    provider.req_body_auth ?? (methods !== undefined && !methods.includes("client_secret_basic"));
  return inBody ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

interface AuthorizationRequest {
  redirect_uri: string;
  /** Replace the configured scopes. */
  scopes?: string[] | undefined;
  extra_params?: Record<string, string> | undefined;
}

/** Returns the URL that starts the authorization. @throws Unavailable, BadRequest for an invalid configuration */
export function createAuthorizationUrl(
  app: App,
  client: OauthClient,
  attempt: AuthorizationSecrets,
  asked: AuthorizationRequest,
): Promise<string> {
  return withProviderErrors(client, "cannot be asked", async () => {
    const server = await getProviderServer(app, client);
    if (!server.authorization_endpoint || !URL.canParse(server.authorization_endpoint)) {
      throw new BadRequest(`setting oauths: client ${client.name}: \`auth_url\` or \`issuer\` is missing`);
    }
    const url = new URL(server.authorization_endpoint);
    if (url.protocol !== "https:" && url.protocol !== "http:") {
      throw new BadRequest(`setting oauths: client ${client.name}: \`auth_url\` is not a web address`);
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

/** The provider's redirect parameters: `code` and `state`, and `iss` if it sends it (RFC 9207). */
export interface AuthorizationResponse {
  code: string;
  state: string;
  iss?: string | undefined;
}

/**
 * Exchanges an authorization code for tokens.
 * @throws BadRequest if the provider refuses the code, Unavailable if it is down or sends an invalid response
 */
export function exchangeCode(
  app: App,
  client: OauthClient,
  attempt: AuthorizationSecrets,
  { returned, redirect_uri }: { returned: AuthorizationResponse; redirect_uri: string },
): Promise<ProviderTokens> {
  return withProviderErrors(client, "the code cannot be traded for a token", async () => {
    const server = await getProviderServer(app, client);
    const registered = toClient(client);
    const parameters = new URLSearchParams({ code: returned.code, state: returned.state });
    if (returned.iss !== undefined) parameters.set("iss", returned.iss);
    // Existing clients send code and state only, without `iss`. Mix-up attacks are prevented by the other defence: each
    // provider has its own redirect URI, which the state is bound to (RFC 9700 §4.4.2.2).
    const lenient = { ...server, authorization_response_iss_parameter_supported: returned.iss !== undefined };
    const valid = oauth.validateAuthResponse(lenient, registered, parameters, attempt.state);
    const response = await normalizeResponse(
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        registered,
        createClientAuth(client, server),
        valid,
        redirect_uri,
        attempt.verifier,
        createHttpOptions(app, client),
      ),
    );
    const answer = await oauth.processAuthorizationCodeResponse(server, registered, response, {
      expectedNonce: (await hasIdToken(response)) ? attempt.nonce : oauth.expectNoNonce,
      recognizedTokenTypes: VENDOR_TOKEN_TYPES,
    });
    return toProviderTokens(answer);
  });
}

/** Provider-specific names of token types that are used like bearer tokens. */
const VENDOR_TOKEN_TYPES: oauth.RecognizedTokenTypes = { bot: () => {}, user: () => {}, token: () => {} };

async function hasIdToken(response: Response): Promise<boolean> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === "object" && body !== null && "id_token" in body;
}

/**
 * Converts responses of providers without an issuer to the standard form. They may send errors with status 200, tokens
 * without a type, scopes as arrays, and ID tokens that cannot be validated.
 */
async function normalizeResponse({ provider }: OauthClient, response: Response): Promise<Response> {
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

function toProviderTokens(answer: oauth.TokenEndpointResponse): ProviderTokens {
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

/**
 * Refreshes the tokens. @throws BadRequest if the provider refuses the refresh token, Unavailable if it is down or
 * sends an invalid response
 */
export function refreshTokens(app: App, client: OauthClient, refresh_token: string): Promise<ProviderTokens> {
  return withProviderErrors(client, "the token cannot be refreshed", async () => {
    const server = await getProviderServer(app, client);
    const registered = toClient(client);
    const response = await oauth.refreshTokenGrantRequest(
      server,
      registered,
      createClientAuth(client, server),
      refresh_token,
      createHttpOptions(app, client),
    );
    const options = { recognizedTokenTypes: VENDOR_TOKEN_TYPES };
    return toProviderTokens(
      await oauth.processRefreshTokenResponse(
        server,
        registered,
        await normalizeResponse(client, response),
        options,
      ),
    );
  });
}

/** Revokes a token at the provider (RFC 7009). @returns false if the provider has no revocation endpoint */
export function revokeProviderToken(app: App, client: OauthClient, token: string): Promise<boolean> {
  return withProviderErrors(client, "the token cannot be revoked", async () => {
    const server = await getProviderServer(app, client);
    if (!server.revocation_endpoint) return false;
    const how = createClientAuth(client, server);
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, toClient(client), how, token, createHttpOptions(app, client)),
    );
    return true;
  });
}
