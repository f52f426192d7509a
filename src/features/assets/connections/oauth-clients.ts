/** OAuth clients: this instance's registrations at providers, from the setting `oauths`. */
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { describeIssues } from "../../../lib/validation-messages.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Provider, WELL_KNOWN_PROVIDERS } from "./well-known-providers.ts";

const ProviderConfig = z.looseObject({
  issuer: optionalField(z.string()),
  auth_url: optionalField(z.string()),
  token_url: optionalField(z.string()),
  userinfo_url: optionalField(z.string()),
  revocation_url: optionalField(z.string()),
  scopes: optionalField(z.array(z.string())),
  extra_params: optionalField(z.record(z.string(), z.string())),
  req_body_auth: optionalField(z.boolean()),
});

const ClientConfig = z.looseObject({
  id: z.string().min(1),
  secret: optionalField(z.string()),
  display_name: optionalField(z.string()),
  /** Issuer of an OpenID provider used for logins and connections, with endpoints from discovery. */
  issuer: optionalField(z.string()),
  /** Replaces `{tenant}` in the issuer of providers that have one per tenant. */
  tenant: optionalField(z.string()),
  /** E-mail domains that may log in; absent: all. */
  allowed_domains: optionalField(z.array(z.string())),
  /** Whether a login creates unknown users. */
  create_user: optionalField(z.boolean()),
  login_config: optionalField(ProviderConfig),
  connect_config: optionalField(ProviderConfig),
});
type ClientConfig = z.output<typeof ClientConfig>;

export type ClientPurpose = "login" | "connect";

/** A client with the configuration of its provider. */
export interface OauthClient {
  name: string;
  id: string;
  secret: string | undefined;
  provider: Provider;
  allowed_domains: string[] | undefined;
  create_user: boolean;
}

/** Names are used in URLs and cookies, and as resource types. */
const CLIENT_NAME = /^[\w-]{1,50}$/;

function resolveProvider(name: string, config: ClientConfig, purpose: ClientPurpose): Provider | undefined {
  const own = purpose === "login" ? config.login_config : config.connect_config;
  const known = WELL_KNOWN_PROVIDERS[name]?.[purpose];
  const issuer = config.issuer ? { issuer: config.issuer } : undefined;
  if (!own && !known && !issuer) return undefined;
  // Configured values override known ones; configured endpoints replace discovery.
  const base = own?.auth_url || issuer ? { scopes: known?.scopes } : known;
  const said = Object.entries(own ?? {}).filter(([, value]) => value !== undefined);
  const provider: Provider = { ...base, ...issuer, ...Object.fromEntries(said) };
  if (own?.auth_url && !own.issuer) delete provider.issuer;
  if (provider.issuer) provider.scopes ??= ["openid", "email", "profile"];
  return provider;
}

/** Parses the configuration of one OAuth client. @throws BadRequest for an invalid configuration */
function parseClientConfig(name: string, value: unknown): ClientConfig {
  const result = ClientConfig.safeParse(value);
  if (result.success) return result.data;
  throw new BadRequest(`setting oauths: client ${name}: ${describeIssues("value", result.error, value)}`);
}

/** Lists the clients for a purpose, by name. Invalid ones are left out; using one reports the error. */
export function listClients(app: App, purpose: ClientPurpose): { name: string; display_name: string }[] {
  const found: { name: string; display_name: string }[] = [];
  for (const [name, value] of Object.entries(app.settings.get("oauths") ?? {})) {
    const parsed = ClientConfig.safeParse(value);
    if (!parsed.success || !CLIENT_NAME.test(name) || !resolveProvider(name, parsed.data, purpose)) continue;
    found.push({
      name,
      display_name: parsed.data.display_name ?? WELL_KNOWN_PROVIDERS[name]?.display_name ?? name,
    });
  }
  return found;
}

/**
 * Returns a client. @throws NotFound if it is not configured for the purpose, BadRequest for an invalid configuration
 */
export function getClient(app: App, name: string, purpose: ClientPurpose): OauthClient {
  const all = app.settings.get("oauths") ?? {};
  const config =
    CLIENT_NAME.test(name) && Object.hasOwn(all, name) ? parseClientConfig(name, all[name]) : undefined;
  const provider = config && resolveProvider(name, config, purpose);
  if (!config || !provider) {
    throw new NotFound(`OAuth client ${name.slice(0, 60)} to ${purpose} with`, {
      hint: "a super admin sets clients up: setting oauths",
    });
  }
  return {
    name,
    id: config.id,
    secret: config.secret || undefined,
    provider: fillInTenant(name, provider, config.tenant),
    allowed_domains: config.allowed_domains?.length ? config.allowed_domains : undefined,
    create_user: config.create_user ?? true,
  };
}

function fillInTenant(name: string, provider: Provider, tenant: string | undefined): Provider {
  if (!provider.issuer?.includes("{tenant}")) return provider;
  if (!tenant) throw new BadRequest(`setting oauths: client ${name}: \`tenant\` is missing`);
  return { ...provider, issuer: provider.issuer.replace("{tenant}", encodeURIComponent(tenant)) };
}
