/** A licensed server, and scripts that request identity tokens. */
import { afterAll, beforeAll } from "bun:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { allowInsecureRequests, discoveryRequest, processDiscoveryResponse } from "oauth4webapi";
import { createKeyPair, signLicense } from "../../../../src/features/tenancy/license/signed-license.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
export const AUDIENCE = "sts.example.org";

export let server: TestServer;
export let ask: Ask;

export async function license(to: TestServer): Promise<void> {
  const keys = await createKeyPair();
  const key = await signLicense(
    {
      id: "lic-1",
      customer: "Acme",
      issued_at: new Date(),
      expires_at: new Date(Date.now() + 400 * DAY_MS),
    },
    keys.private_pem,
  );
  for (const [name, value] of [
    ["license_public_key", keys.public_key],
    ["license_key", key],
  ]) {
    await expectOk(to.operator("POST", `/settings/global/${name}`, { value }));
  }
}

/** Requests a token as the SDK does. */
export const SCRIPT = `export async function main(audience: string, query = "") {
  const { BASE_INTERNAL_URL, WM_WORKSPACE, WM_TOKEN } = process.env;
  const url = BASE_INTERNAL_URL + "/api/w/" + WM_WORKSPACE + "/oidc/token/" + encodeURIComponent(audience) + query;
  const answer = await fetch(url, { method: "POST", headers: { authorization: "Bearer " + WM_TOKEN } });
  return { status: answer.status, text: await answer.text(), job: process.env.WM_JOB_ID };
}`;

export async function idToken(
  args: object = {},
  by = ask,
): Promise<{ status: number; text: string; job: string }> {
  const path = "/w/acme/jobs/run_wait_result/p/u/admin/identity";
  return (await expectOk(by("POST", path, { audience: AUDIENCE, ...args }))).json();
}

/**
 * Verifies an identity token as a relying party: discovers the issuer's keys, and checks signature, issuer,
 * audience and times.
 */
export async function verify(token: string, more: object = {}, of = server) {
  const issuer = new URL(`${of.url}/api/oidc/`);
  const insecure = { [allowInsecureRequests]: true };
  const found = await processDiscoveryResponse(issuer, await discoveryRequest(issuer, insecure));
  const keys = createRemoteJWKSet(new URL(found.jwks_uri!));
  return jwtVerify(token, keys, {
    issuer: issuer.href,
    audience: AUDIENCE,
    algorithms: found.id_token_signing_alg_values_supported as string[],
    ...more,
  });
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpIdentity(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    await license(server);
    await deploy(ask, "acme", "u/admin/identity", SCRIPT);
  });
  afterAll(() => server.stop());
}
