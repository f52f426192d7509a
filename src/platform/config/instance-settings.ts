/**
 * All known settings of the instance in one table: allowed values, default, meaning and secret parts. Unknown keys are
 * stored as given, for clients that know them.
 */
import { removeTrailingSlashes } from "../../lib/text/slashes.ts";
import * as z from "../../lib/zod/z.ts";
import type { Config, ConfigName } from "./config.ts";
import {
  ChatConnection,
  CriticalChannels,
  integerBetween,
  OauthClients,
  ObjectStoreCache,
  SmtpSettings,
  textListSchema,
  textSchema,
} from "./setting-schemas.ts";

export interface SettingDefinition {
  schema: z.ZodType;
  /** Allowed values in words, completing "must be …". */
  allowed: string;
  meaning: string;
  default?: unknown;
  /** The process setting (`config.ts`) with the same meaning: its flag, variable and default apply here too. */
  config?: ConfigName;
  /** A second name of its environment variable, for existing installations. */
  also?: string;
  /**
   * True: the whole value is secret; else the paths of secrets in it, such as `password`, `*.secret` or
   * `*.channel:url`. Any secret makes the whole value stored encrypted.
   */
  secret?: true | readonly string[];
  /** Readable by all users, not only by super admins. */
  open?: true;
}

const STORED_FOR_CLIENTS = "stored for clients; svc itself does not use it";
const storedForClients = (meaning: string) => `${meaning} (${STORED_FOR_CLIENTS})`;

const booleanSetting = (meaning: string, more: { default?: boolean; open?: true } = {}) =>
  ({ schema: z.boolean(), allowed: "true or false", meaning, ...more }) as const;

const textSetting = (meaning: string, allowed = "a text") =>
  ({ schema: textSchema, allowed, meaning }) as const;
const secretSetting = (meaning: string, allowed?: string) =>
  ({ ...textSetting(meaning, allowed), secret: true }) as const;

const httpUrl = z.url({ protocol: /^https?$/, error: "is not a URL" }).transform(removeTrailingSlashes);

export const INSTANCE_SETTINGS = {
  base_url: {
    schema: httpUrl,
    allowed: "a URL that begins with http:// or https://",
    meaning: "public address of the instance: in links, mails and jobs",
    config: "base_url",
    open: true,
  },
  email_domain: { ...textSetting(STORED_FOR_CLIENTS), open: true },
  retention_period_secs: {
    schema: integerBetween(0, 3_155_760_000),
    allowed: "a whole number of seconds, 0 (forever) to 3155760000",
    meaning: "seconds for which completed jobs are kept with their logs; 0 keeps them forever",
    config: "retention_s",
  },
  job_default_timeout: {
    schema: integerBetween(1, 3_155_760_000),
    allowed: "a whole number of seconds, 1 to 3155760000",
    meaning: "default timeout of jobs, in seconds",
    config: "job_timeout_s",
  },
  timeout_wait_result: {
    schema: integerBetween(0, 86_400),
    allowed: "a whole number of seconds, 0 to 86400",
    meaning:
      "seconds a synchronous call waits before it cancels its job; existing clients set 0 for the shortest wait, which is 2",
    config: "wait_result_s",
  },
  job_search_index: {
    schema: integerBetween(0, 10_000_000),
    allowed: "a whole number, 0 (no index) to 10000000",
    meaning:
      "number of completed jobs, newest first, in the full-text index of the job search; without the index, a search reads jobs one by one for five seconds",
    default: 100_000,
  },
  error_status: booleanSetting(
    "synchronous calls whose script fails return 500 instead of 200, unless the call's query sets error_status",
    { default: false },
  ),
  open_description: booleanSetting(
    "version, description and reference of the interface are public; false requires a login",
    { default: true },
  ),
  newest_version_url: {
    schema: httpUrl,
    allowed: "a URL that begins with http:// or https://",
    meaning:
      "URL from which GET /api/uptodate reads the newest version, as text or as JSON with version or tag_name; default: unknown",
  },
  instance_events_webhook: {
    schema: z.url({ protocol: /^https?$/, error: "is not a URL" }).max(2_000),
    allowed: "a URL that begins with http:// or https://, of 2000 characters at most",
    meaning: "URL that receives events about users of the instance (Enterprise Edition); default: none",
    config: "instance_events_webhook",
    secret: true,
  },
  request_size_limit_mb: {
    schema: integerBetween(1, 100_000),
    allowed: "a whole number of MB, 1 to 100000",
    meaning: "largest request body, in MB",
    config: "max_body_mb",
  },
  smtp_settings: {
    schema: SmtpSettings,
    allowed:
      "an object with smtp_host, smtp_port and smtp_from, and where needed smtp_username, smtp_password, smtp_tls_implicit, smtp_disable_tls and smtp_ca",
    meaning: "the mail server; without it no mail is sent",
    secret: ["smtp_password"],
  },
  critical_error_channels: {
    schema: CriticalChannels,
    allowed: "an array of objects with email, chat_channel and webhook_url, one of them or several",
    meaning: "where critical alerts are sent",
    default: [],
    secret: ["*.chat_channel:url", "*.slack_channel:url", "*.webhook_url"],
  },
  critical_alert_mute_ui: { ...booleanSetting("clients do not show critical alerts"), open: true },
  critical_alerts_on_token_expiry: booleanSetting("a token that expires is a critical alert too", {
    default: false,
  }),
  max_token_lifetime_secs: {
    schema: integerBetween(60, 3_155_760_000),
    allowed: "a whole number of seconds, 60 to 3155760000",
    meaning: "maximum age of all tokens in seconds, including sessions and existing tokens",
  },
  oidc_token_lifetime_secs: {
    schema: integerBetween(60, 86_400),
    allowed: "a whole number of seconds, 60 to 86400",
    meaning: "maximum and default lifetime of jobs' identity tokens, in seconds",
    default: 3_600,
  },
  oidc_token_algorithm: {
    schema: z.enum(["RS256", "EdDSA"]),
    allowed: "RS256 or EdDSA",
    meaning:
      "signature algorithm of jobs' identity tokens; after a change, the previous keys sign for two more hours",
    default: "RS256",
  },
  chat: {
    schema: ChatConnection,
    allowed: "an object with access_token or bot.bot_access_token, and where needed api_url",
    meaning: "the chat connection for alerts to a named channel",
    secret: ["access_token", "bot.bot_access_token"],
  },
  license_key: secretSetting(
    "the license, as issued by svc license issue or its distributor",
    "the text of a license",
  ),
  license_public_key: textSetting(
    "public key that verifies licenses, as svc license keygen prints it",
    "a public key of licenses, or several with spaces between them",
  ),
  uid: textSetting("what this instance is called in statistics and renewals of the license"),
  disable_stats: booleanSetting("no statistics are sent; false switches them on", { default: true }),
  stats_url: {
    schema: httpUrl,
    allowed: "a URL that begins with http:// or https://",
    meaning: "URL that receives statistics if they are enabled; default: none",
  },
  automate_username_creation: {
    ...booleanSetting("new users get one username for all workspaces, derived from the e-mail address", {
      default: false,
    }),
    open: true,
  },
  require_preexisting_user_for_oauth: booleanSetting("a login elsewhere makes no new users", {
    default: false,
  }),
  disable_password_login: booleanSetting(
    "disables logins with a password; logins by providers and tokens keep working",
    {
      default: false,
    },
  ),
  oauths: {
    schema: OauthClients,
    allowed: "an object of clients, each with id, and secret where it has one",
    meaning: "OAuth clients for logins and for connecting resources",
    secret: ["*.secret", "*.signing_secret"],
  },
  saml_metadata: textSetting(
    storedForClients("metadata of the SAML identity provider"),
    "metadata as XML, or its URL",
  ),
  scim_token: secretSetting(storedForClients("token of the directory that manages users")),
  jwt_secret: secretSetting(STORED_FOR_CLIENTS),
  create_workspace_require_superadmin: {
    ...booleanSetting(
      "only super admins create workspaces; false allows it to all users except those who are operators everywhere",
      {
        default: true,
        open: true,
      },
    ),
    also: "CREATE_WORKSPACE_REQUIRE_SUPERADMIN",
  },
  root_route_workspaces: {
    schema: textListSchema,
    allowed: "an array of workspace ids, or * for all",
    meaning: "workspaces whose admins may create routes directly below /api/r/, without the workspace's id",
    default: [],
  },
  custom_tags: {
    schema: textListSchema,
    allowed: "an array of texts",
    meaning:
      "tags that jobs may have besides the built-in ones: gpu for all, gpu(acme+shop) in some workspaces, gpu(^acme) in all others; super admins may use any",
    default: [],
  },
  default_tags_per_workspace: booleanSetting(STORED_FOR_CLIENTS),
  default_tags_workspaces: {
    schema: textListSchema,
    allowed: "an array of workspace ids",
    meaning: STORED_FOR_CLIENTS,
  },
  hub_base_url: {
    schema: httpUrl,
    allowed: "a URL that begins with http:// or https://",
    meaning: STORED_FOR_CLIENTS,
    open: true,
  },
  hub_api_secret: secretSetting(STORED_FOR_CLIENTS),
  object_store_cache_config: {
    schema: ObjectStoreCache,
    allowed: "an object with a type, such as S3 with bucket, region, access_key and secret_key",
    meaning: STORED_FOR_CLIENTS,
    secret: ["secret_key", "accessKey", "secretKey"],
  },
  monitor_logs_on_s3: booleanSetting(STORED_FOR_CLIENTS),
  expose_metrics: booleanSetting("false switches /api/metrics off, as SVC_METRICS=off does for good"),
  expose_debug_metrics: booleanSetting(STORED_FOR_CLIENTS),
  keep_job_dir: booleanSetting(STORED_FOR_CLIENTS),
  dev_instance: booleanSetting(STORED_FOR_CLIENTS),
  bunfig_install_scopes: secretSetting(STORED_FOR_CLIENTS),
  npm_config_registry: {
    schema: z
      .string()
      .max(10_000)
      .regex(/^https?:\/\/[^\s/:]\S*$/, "is not a URL"),
    allowed: "a URL that begins with http:// or https://, followed by :_authToken= and a token if needed",
    meaning: "npm registry of scripts' packages; default: from the server's environment",
    secret: true,
  },
  pip_index_url: secretSetting("index of Python packages (PEP 503); default: from the server's environment"),
  pip_extra_index_url: secretSetting("further indexes of Python packages, with commas or spaces"),
  pip_trusted_host: textSetting(
    "hosts of Python indexes whose certificates are not checked, with commas or spaces",
  ),
  pip_find_links: textSetting("folder of the server with wheels, or address of a page that lists them"),
  instance_python_version: textSetting("default Python version of scripts, such as 3.11; otherwise python3"),
} as const satisfies Record<string, SettingDefinition>;

export type SettingKey = keyof typeof INSTANCE_SETTINGS;

type Known<K extends SettingKey> = (typeof INSTANCE_SETTINGS)[K];
type Output<K extends SettingKey> = z.output<Known<K>["schema"]>;

/** Type of the value that `settings.get` returns; undefined only for keys without a default. */
export type SettingValue<K extends SettingKey> =
  Known<K> extends { config: infer C extends ConfigName }
    ? Config[C]
    : Known<K> extends { default: unknown }
      ? Output<K>
      : Output<K> | undefined;

export function findDefinition(key: string): SettingDefinition | undefined {
  return Object.hasOwn(INSTANCE_SETTINGS, key) ? INSTANCE_SETTINGS[key as SettingKey] : undefined;
}

/** Returns the environment variable of a known key: that of the process setting, or SVC_ and the key. */
export function getEnvironmentVariable(
  key: string,
  configVariables: Record<ConfigName, { variable: string }>,
): string {
  const { config } = findDefinition(key) ?? {};
  return config ? configVariables[config].variable : `SVC_${key.toUpperCase()}`;
}
