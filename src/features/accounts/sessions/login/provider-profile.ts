/** Reads the profile of the user who logs in from the provider. */
import * as oauth from "oauth4webapi";
import { BadRequest } from "../../../../lib/errors.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { OauthClient } from "../../../assets/connections/oauth-clients.ts";
import type { ProviderTokens } from "../../../assets/connections/oauth-protocol.ts";
import {
  createHttpOptions,
  fetchProvider,
  getProviderServer,
  MAX_PROVIDER_TEXT_CHARS,
  toClient,
  withProviderErrors,
} from "../../../assets/connections/provider-http.ts";

/** A user's profile at a provider. */
export interface ProviderProfile {
  subject: string | undefined;
  email: string;
  /** Undefined if the provider does not say. */
  email_verified: boolean | undefined;
  name: string | undefined;
}

/** Reads the profile. @throws BadRequest if there is no e-mail address, Unavailable */
export function readProfile(app: App, client: OauthClient, tokens: ProviderTokens): Promise<ProviderProfile> {
  return withProviderErrors(client, "who logs in cannot be read", async () => {
    const server = await getProviderServer(app, client);
    const { claims } = tokens;
    const profile = server.userinfo_endpoint ? await fetchUserInfo(app, server, client, tokens) : undefined;
    if (!claims && !profile) {
      throw new BadRequest(
        `setting oauths: client ${client.name}: \`userinfo_url\` or \`issuer\` is missing`,
      );
    }
    const said: Record<string, unknown> = { ...claims, ...profile };
    const address = await findEmail(app, client, tokens, said);
    if (address.email === undefined) {
      throw new BadRequest(`${client.name} does not return the e-mail address of the user`, {
        hint: "make one public there, or have a super admin request more scopes",
      });
    }
    const subject = said.sub ?? said.id;
    const name = said.name ?? said.login;
    return {
      subject: typeof subject === "string" || typeof subject === "number" ? String(subject) : undefined,
      email: address.email,
      email_verified: address.verified,
      name: typeof name === "string" ? name.slice(0, MAX_PROVIDER_TEXT_CHARS) : undefined,
    };
  });
}

async function fetchUserInfo(
  app: App,
  server: oauth.AuthorizationServer,
  client: OauthClient,
  { access_token, claims }: ProviderTokens,
): Promise<Record<string, unknown>> {
  const response = await oauth.userInfoRequest(
    server,
    toClient(client),
    access_token,
    createHttpOptions(app, client),
  );
  if (!claims) return readJsonObject(response);
  return oauth.processUserInfoResponse(server, toClient(client), claims.sub, response);
}

/** Reads the JSON object with which a provider without an issuer responds. */
async function readJsonObject(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json();
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new Error("no object");
  return body as Record<string, unknown>;
}

interface EmailAddress {
  email: string | undefined;
  verified: boolean | undefined;
}

async function findEmail(
  app: App,
  client: OauthClient,
  { access_token }: ProviderTokens,
  said: Record<string, unknown>,
): Promise<EmailAddress> {
  const { provider } = client;
  if (provider.emails_url !== undefined) {
    const headers = { authorization: `Bearer ${access_token}`, accept: "application/json" };
    const list: unknown = await (await fetchProvider(app, client, provider.emails_url, { headers })).json();
    const addresses = Array.isArray(list)
      ? (list as { email?: unknown; primary?: unknown; verified?: unknown }[])
      : [];
    const found = addresses.find((entry) => entry?.primary === true);
    return { email: nonEmptyString(found?.email), verified: found?.verified === true };
  }
  const verified = said.email_verified ?? said.verified;
  const isVerified = typeof verified === "string" ? verified === "true" : verified;
  return {
    email: nonEmptyString(said.email),
    verified: typeof isVerified === "boolean" ? isVerified : undefined,
  };
}

function nonEmptyString(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
