/** Who somebody is at a provider. */
import * as oauth from "oauth4webapi";
import { BadRequest } from "../../../../lib/errors.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { Client } from "../../../assets/connections/clients.ts";
import type { Tokens } from "../../../assets/connections/provider.ts";
import {
  asking,
  call,
  http,
  MAX_TEXT,
  serverOf,
  toClient,
} from "../../../assets/connections/provider-http.ts";

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
    const profile = server.userinfo_endpoint ? await userInfo(app, server, client, tokens) : undefined;
    if (!claims && !profile) {
      throw new BadRequest(
        `setting oauths: client ${client.name}: \`userinfo_url\` or \`issuer\` is missing`,
      );
    }
    const said: Record<string, unknown> = { ...claims, ...profile };
    const address = await addressOf(app, client, tokens, said);
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
  app: App,
  server: oauth.AuthorizationServer,
  client: Client,
  { access_token, claims }: Tokens,
): Promise<Record<string, unknown>> {
  const response = await oauth.userInfoRequest(server, toClient(client), access_token, http(app, client));
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
  app: App,
  client: Client,
  { access_token }: Tokens,
  said: Record<string, unknown>,
): Promise<Address> {
  const { provider } = client;
  if (provider.emails_url !== undefined) {
    const headers = { authorization: `Bearer ${access_token}`, accept: "application/json" };
    const list: unknown = await (await call(app, client, provider.emails_url, { headers })).json();
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
