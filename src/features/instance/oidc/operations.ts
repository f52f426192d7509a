import { z } from "zod";
import type { Context } from "../../../platform/app/context.ts";
import { type Operation, operation, responds, wholeNumber } from "../../../platform/http/operation.ts";
import { publicKeys, SHOWN_MS } from "./keys.ts";
import { discoveryDocument, issueIdToken } from "./service.ts";

/** Verifiers read these on their own, and may keep them for a while. */
function toRead(value: object): Response {
  return new Response(JSON.stringify(value), {
    headers: {
      "content-type": "application/json",
      "cache-control": `public, max-age=${SHOWN_MS / 1000}`,
    },
  });
}

const describeIssuer = (ctx: Context) => discoveryDocument(ctx.app).then(toRead);

export const getIdToken = operation({
  name: "getOidcToken",
  method: "POST",
  path: "/w/{workspace}/oidc/token/{audience}",
  access: "member",
  summary: "Sign an identity token for the job that asks, to show to another service (EE)",
  query: z.object({ expires_in: wholeNumber.optional() }),
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
  summary: "Who signs the identity tokens of jobs, and where its keys are (OpenID Connect Discovery)",
  responds: responds.raw("application/json", "the issuer's metadata"),
  run: describeIssuer,
});

export const getIssuerAtRoot = operation({
  name: "getOidcIssuerAtRoot",
  method: "GET",
  path: "/.well-known/openid-configuration",
  access: "anyone",
  scope: false,
  cors: true,
  page: true,
  summary: "The same, where a host is asked for it",
  responds: responds.raw("application/json", "the issuer's metadata"),
  run: describeIssuer,
});

export const getIssuerKeys = operation({
  name: "getOidcKeys",
  method: "GET",
  path: "/oidc/jwks",
  access: "anyone",
  scope: false,
  cors: true,
  summary: "The public keys that identity tokens of jobs are checked with (RFC 7517)",
  responds: responds.raw("application/json", "a JSON Web Key Set"),
  run: async ({ app }) => toRead({ keys: await publicKeys(app) }),
});

export const oidcOperations: Operation[] = [getIdToken, getIssuer, getIssuerAtRoot, getIssuerKeys];
