import * as z from "../../../lib/zod/z.ts";
import type { Context } from "../../../platform/app/context.ts";
import { type Operation, operation, queryInteger, responds } from "../../../platform/http/operation.ts";
import { createDiscoveryDocument, issueIdToken } from "./id-tokens.ts";
import { KEYS_CACHE_MS, listPublicKeys } from "./signing-keys.ts";

/** Creates a JSON response that verifiers may cache. */
function createCacheableResponse(value: object): Response {
  return new Response(JSON.stringify(value), {
    headers: {
      "content-type": "application/json",
      "cache-control": `public, max-age=${KEYS_CACHE_MS / 1000}`,
    },
  });
}

const serveDiscovery = (ctx: Context) => createDiscoveryDocument(ctx.app).then(createCacheableResponse);

export const getIdToken = operation({
  name: "getOidcToken",
  method: "POST",
  path: "/w/{workspace}/oidc/token/{audience}",
  access: "member",
  summary: "Issue an identity token for the calling job, for use at another service (EE)",
  query: z.object({ expires_in: queryInteger.optional() }),
  responds: responds.text("the token: a JWT signed with RS256, or EdDSA where that is set"),
  audit: { operation: "oidc.token", action_kind: "Create" },
  run: (ctx, { audience, query }) => issueIdToken(ctx, audience, query.expires_in),
});

export const getIssuer = operation({
  name: "getOidcIssuer",
  method: "GET",
  path: "/oidc/.well-known/openid-configuration",
  access: "anyone",
  scope: false,
  cors: true,
  summary: "Metadata of the issuer of jobs' identity tokens (OpenID Connect Discovery)",
  responds: responds.raw("application/json", "the issuer's metadata"),
  run: serveDiscovery,
});

export const getIssuerAtRoot = operation({
  name: "getOidcIssuerAtRoot",
  method: "GET",
  path: "/.well-known/openid-configuration",
  access: "anyone",
  scope: false,
  cors: true,
  page: true,
  summary: "Metadata of the issuer, at the root of the host",
  responds: responds.raw("application/json", "the issuer's metadata"),
  run: serveDiscovery,
});

export const getIssuerKeys = operation({
  name: "getOidcKeys",
  method: "GET",
  path: "/oidc/jwks",
  access: "anyone",
  scope: false,
  cors: true,
  summary: "The public keys that verify jobs' identity tokens (RFC 7517)",
  responds: responds.raw("application/json", "a JSON Web Key Set"),
  run: async ({ app }) => createCacheableResponse({ keys: await listPublicKeys(app) }),
});

export const oidcOperations: Operation[] = [getIdToken, getIssuer, getIssuerAtRoot, getIssuerKeys];
