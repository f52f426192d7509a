/** The clients that this instance is registered as at providers: the setting `oauths`. */
import { z } from "zod";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { explain } from "../../../lib/validation-messages.ts";
import { optional } from "../../../lib/zod.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Provider, WELL_KNOWN } from "./well-known.ts";

const ProviderConfig = z.looseObject({
  issuer: optional(z.string()),
  auth_url: optional(z.string()),
  token_url: optional(z.string()),
  userinfo_url: optional(z.string()),
  revocation_url: optional(z.string()),
  scopes: optional(z.array(z.string())),
  extra_params: optional(z.record(z.string(), z.string())),
  req_body_auth: optional(z.boolean()),
});

const ClientConfig = z.looseObject({
  id: z.string().min(1),
  secret: optional(z.string()),
  display_name: optional(z.string()),
  /** An OpenID provider that serves for logins and connections alike, found by discovery. */
  issuer: optional(z.string()),
  /** Of providers that have an issuer per tenant. */
  tenant: optional(z.string()),
  /** Who may log in: all, when it is left out. */
  allowed_domains: optional(z.array(z.string())),
  /** Whether a login makes a user who is not known yet. */
  create_user: optional(z.boolean()),
  login_config: optional(ProviderConfig),
  connect_config: optional(ProviderConfig),
});
type ClientConfig = z.output<typeof ClientConfig>;

export type Purpose = "login" | "connect";

/** A client with all that is known of its provider. */
export interface Client {
  name: string;
  id: string;
  secret: string | undefined;
  provider: Provider;
  allowed_domains: string[] | undefined;
  create_user: boolean;
}

/** Names stand in URLs, in cookies and as types of resources. */
const NAME = /^[\w-]{1,50}$/;

function providerOf(name: string, config: ClientConfig, purpose: Purpose): Provider | undefined {
  const own = purpose === "login" ? config.login_config : config.connect_config;
  const known = WELL_KNOWN[name]?.[purpose];
  const issuer = config.issuer ? { issuer: config.issuer } : undefined;
  if (!own && !known && !issuer) return undefined;
  // What is said of a provider replaces what is known of it; endpoints of its own replace discovery.
  const base = own?.auth_url || issuer ? { scopes: known?.scopes } : known;
  const said = Object.entries(own ?? {}).filter(([, value]) => value !== undefined);
  const provider: Provider = { ...base, ...issuer, ...Object.fromEntries(said) };
  if (own?.auth_url && !own.issuer) delete provider.issuer;
  if (provider.issuer) provider.scopes ??= ["openid", "email", "profile"];
  return provider;
}

/** @throws BadRequest when the setting says nothing sensible of it */
function parse(name: string, value: unknown): ClientConfig {
  const result = ClientConfig.safeParse(value);
  if (result.success) return result.data;
  throw new BadRequest(`setting oauths: client ${name}: ${explain("value", result.error, value)}`);
}

/** The clients that serve a purpose, by name. What is set wrongly is left out: it is told to who uses it. */
export function clientsFor(app: App, purpose: Purpose): { name: string; display_name: string }[] {
  const found: { name: string; display_name: string }[] = [];
  for (const [name, value] of Object.entries(app.settings.get("oauths") ?? {})) {
    const parsed = ClientConfig.safeParse(value);
    if (!parsed.success || !NAME.test(name) || !providerOf(name, parsed.data, purpose)) continue;
    found.push({ name, display_name: parsed.data.display_name ?? WELL_KNOWN[name]?.display_name ?? name });
  }
  return found;
}

/** @throws NotFound for a client that is not set up for this, BadRequest for one that is set up wrongly */
export function clientOf(app: App, name: string, purpose: Purpose): Client {
  const all = app.settings.get("oauths") ?? {};
  const config = NAME.test(name) && Object.hasOwn(all, name) ? parse(name, all[name]) : undefined;
  const provider = config && providerOf(name, config, purpose);
  if (!config || !provider) {
    throw new NotFound(`OAuth client ${name.slice(0, 60)} to ${purpose} with`, {
      hint: "a super admin sets clients up: setting oauths",
    });
  }
  return {
    name,
    id: config.id,
    secret: config.secret || undefined,
    provider: withTenant(name, provider, config.tenant),
    allowed_domains: config.allowed_domains?.length ? config.allowed_domains : undefined,
    create_user: config.create_user ?? true,
  };
}

function withTenant(name: string, provider: Provider, tenant: string | undefined): Provider {
  if (!provider.issuer?.includes("{tenant}")) return provider;
  if (!tenant) throw new BadRequest(`setting oauths: client ${name}: \`tenant\` is missing`);
  return { ...provider, issuer: provider.issuer.replace("{tenant}", encodeURIComponent(tenant)) };
}
