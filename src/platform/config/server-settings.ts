/** Process settings for the server: data directory, addresses and trusted proxies. */
import type { Setting } from "./setting.ts";

/** The settings listed first: the data directory and the server's addresses. */
export const ADDRESS_SETTINGS = {
  data_dir: {
    variable: "SVC_DATA_DIR",
    kind: "text",
    default: ".svc",
    meaning: "folder for all data of the server",
  },
  database_url: {
    variable: "DATABASE_URL",
    kind: "secret",
    default: undefined,
    meaning: "postgres://… to store the data in PostgreSQL instead of the embedded database",
  },
  host: { variable: "SVC_HOST", kind: "text", default: "127.0.0.1", meaning: "address to listen on" },
  port: {
    variable: "SVC_PORT",
    kind: "number",
    default: 8000,
    meaning: "port to listen on; 0 picks a free one",
  },
  base_url: {
    variable: "SVC_BASE_URL",
    kind: "text",
    default: undefined,
    meaning: "public address of the instance, if it differs from host and port",
  },
  secret_key: {
    variable: "SVC_SECRET_KEY",
    kind: "secret",
    default: undefined,
    meaning: "key that wraps the workspaces' keys; default: the file instance.key in the data directory",
  },
} as const satisfies Record<string, Setting>;

/** Settings for the database, outgoing requests, sessions, rate limits, metrics and the log. */
export const SERVER_SETTINGS = {
  max_database_mb: {
    variable: "SVC_MAX_DATABASE_MB",
    kind: "number",
    default: 0,
    meaning: "size limit of the embedded database, in MB; 0 means none",
  },
  min_free_mb: {
    variable: "SVC_MIN_FREE_MB",
    kind: "number",
    default: 1_000,
    meaning: "free space on the data directory's disk, in MB, below which an alert is raised",
  },
  database_connections: {
    variable: "SVC_DATABASE_CONNECTIONS",
    kind: "number",
    least: 1,
    default: 10,
    meaning: "connections to PostgreSQL, at most; further ones open while all are in use",
  },
  allowed_targets: {
    variable: "SVC_ALLOWED_TARGETS",
    kind: "text",
    default: "",
    meaning:
      "private hosts, addresses and ranges the server may call for its users, with commas; all: any. Otherwise webhooks, WebSockets and buckets reach only the public internet, and what a super admin names in a setting that host beside it",
  },
  outgoing_timeout_s: {
    variable: "SVC_OUTGOING_TIMEOUT_S",
    kind: "number",
    least: 1,
    default: 10,
    meaning: "timeout of mail servers, alert channels and OAuth providers (10 at most), in seconds",
  },
  webhook_retention_s: {
    variable: "SVC_WEBHOOK_RETENTION_S",
    kind: "number",
    default: 2_592_000,
    meaning: "seconds for which workspace events and their deliveries are kept; at least a day",
  },
  instance_events_webhook: {
    variable: "SVC_INSTANCE_EVENTS_WEBHOOK",
    also: "INSTANCE_EVENTS_WEBHOOK",
    kind: "secret",
    default: undefined,
    meaning: "URL that receives events about users of the instance (Enterprise Edition)",
  },
  instance_error_handler: {
    variable: "SVC_GLOBAL_ERROR_HANDLER_PATH_IN_ADMINS_WORKSPACE",
    also: "GLOBAL_ERROR_HANDLER_PATH_IN_ADMINS_WORKSPACE",
    kind: "text",
    default: undefined,
    meaning:
      "script (flow/<path>: a flow) of the workspace admins that is started for failures in all workspaces",
  },
  session_s: {
    variable: "SVC_MAX_SESSION_VALIDITY_SECONDS",
    also: "MAX_SESSION_VALIDITY_SECONDS",
    kind: "number",
    default: 259_200,
    meaning: "seconds a login lasts",
  },
  invalidate_old_sessions: {
    variable: "SVC_INVALIDATE_OLD_SESSIONS",
    also: "INVALIDATE_OLD_SESSIONS",
    kind: "text",
    default: "false",
    meaning: "true ends a user's other sessions when they log in",
  },
  job_view_audit_logs: {
    variable: "SVC_JOB_VIEW_AUDIT_LOGS",
    also: "JOB_VIEW_AUDIT_LOGS",
    kind: "text",
    default: "false",
    meaning: "true records reads of jobs in the audit log, at most one per minute, user and job",
  },
  cookie_domain: {
    variable: "SVC_COOKIE_DOMAIN",
    also: "COOKIE_DOMAIN",
    kind: "text",
    default: undefined,
    meaning: "domain of the session cookie",
  },
  tls_cert: {
    variable: "SVC_TLS_CERT",
    kind: "text",
    default: undefined,
    meaning: "file with the certificate chain (PEM): the server then speaks https",
  },
  tls_key: {
    variable: "SVC_TLS_KEY",
    kind: "text",
    default: undefined,
    meaning: "file with the certificate's key (PEM)",
  },
  trusted_proxies: {
    variable: "SVC_TRUSTED_PROXIES",
    kind: "text",
    default: undefined,
    meaning: "addresses or CIDR ranges, comma separated, whose X-Forwarded-* headers are trusted",
  },
  anonymous_rate: {
    variable: "SVC_ANONYMOUS_RATE",
    kind: "number",
    default: 3_000,
    meaning: "calls without credentials that one address may make in a minute; 0 means no limit",
  },
  failed_auth_rate: {
    variable: "SVC_FAILED_AUTH_RATE",
    kind: "number",
    default: 10_000,
    meaning: "rejected credentials of one address in a minute after which each response takes 2 s; 0: never",
  },
  console: {
    variable: "SVC_CONSOLE",
    kind: "text",
    default: "on",
    oneOf: ["on", "off"],
    meaning: "on or off: whether browsers get the console at /",
  },
  metrics: {
    variable: "SVC_METRICS",
    kind: "text",
    default: "on",
    oneOf: ["on", "off"],
    meaning: "on or off: whether /api/metrics is served",
  },
  metrics_token: {
    variable: "SVC_METRICS_TOKEN",
    kind: "secret",
    default: undefined,
    meaning: "bearer token for reading /api/metrics only",
  },
  log_level: {
    variable: "SVC_LOG_LEVEL",
    kind: "text",
    default: "info",
    oneOf: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    meaning: "debug (with a line for each request), info, warn, error or silent",
  },
  log_format: {
    variable: "SVC_LOG_FORMAT",
    kind: "text",
    default: "auto",
    oneOf: ["auto", "json", "pretty"],
    meaning: "json, pretty, or auto: pretty on a terminal",
  },
  log_dir: {
    variable: "SVC_LOG_DIR",
    kind: "text",
    default: undefined,
    meaning: "folder for log files, kept for two weeks, which super admins can read and search",
  },
} as const satisfies Record<string, Setting>;
