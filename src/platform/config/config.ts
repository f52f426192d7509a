/**
 * Every setting of the process, in one table: its name, environment variable, default and meaning. `svc serve --help`
 * and `svc config` print it. Flags win over the environment, the environment over the default.
 */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { BadRequest } from "../../lib/errors.ts";

interface Setting {
  variable: string;
  kind: "text" | "number" | "secret";
  default: string | number | undefined;
  meaning: string;
  /** The least that a number may be; left out, 0. */
  least?: number;
  /** The only values there are; left out, any text will do. */
  oneOf?: readonly string[];
}

const cores = availableParallelism();

export const SETTINGS = {
  data_dir: {
    variable: "SVC_DATA_DIR",
    kind: "text",
    default: ".svc",
    meaning: "folder that holds everything the server keeps",
  },
  database_url: {
    variable: "DATABASE_URL",
    kind: "secret",
    default: undefined,
    meaning: "postgres://… to keep the data in PostgreSQL instead of the embedded database",
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
    meaning: "public address of the instance, where it differs from host and port",
  },
  secret_key: {
    variable: "SVC_SECRET_KEY",
    kind: "secret",
    default: undefined,
    meaning: "key that wraps the workspaces' keys; default: the file instance.key in the data directory",
  },
  workers: {
    variable: "SVC_WORKERS",
    kind: "number",
    // More than there are cores: most scripts wait for something, and short ones for the server's next word.
    default: Math.max(4, cores * 4),
    meaning: "jobs that run at once",
  },
  worker_tags: {
    variable: "SVC_WORKER_TAGS",
    kind: "text",
    default: undefined,
    meaning: "tags, comma separated, of the only jobs that this process runs; default: its group's, else all",
  },
  worker_group: {
    variable: "SVC_WORKER_GROUP",
    kind: "text",
    default: "default",
    meaning: "group of workers that this process belongs to",
  },
  lease_s: {
    variable: "SVC_LEASE_S",
    kind: "number",
    default: 30,
    least: 1,
    meaning: "seconds without a sign of life after which a worker's jobs are given to another (PostgreSQL)",
  },
  max_children: {
    variable: "SVC_MAX_CHILDREN",
    kind: "number",
    default: Math.max(8, cores * 8),
    meaning: "script processes kept, running or warm",
  },
  blank_children: {
    variable: "SVC_BLANK_CHILDREN",
    kind: "number",
    default: 2,
    meaning: "script processes started ahead",
  },
  child_idle_s: {
    variable: "SVC_CHILD_IDLE_S",
    kind: "number",
    default: 300,
    meaning: "seconds after which an idle warm process ends",
  },
  job_timeout_s: {
    variable: "TIMEOUT",
    kind: "number",
    default: 3600,
    meaning: "seconds a job may run when nothing else is said",
  },
  max_timeout_s: {
    variable: "MAX_TIMEOUT",
    kind: "number",
    default: 604_800,
    meaning: "most seconds a job may ask for",
  },
  wait_result_s: {
    variable: "TIMEOUT_WAIT_RESULT",
    kind: "number",
    default: 600,
    meaning: "seconds a synchronous call waits",
  },
  max_waiting_calls: {
    variable: "SVC_MAX_WAITING_CALLS",
    kind: "number",
    default: 2_000,
    meaning: "synchronous calls that may wait for a free slot; more are told to come back later (503)",
  },
  queue_limit: {
    variable: "QUEUE_LIMIT_WAIT_RESULT",
    kind: "number",
    default: 0,
    meaning: "queued jobs beyond which synchronous calls are refused; 0 means no limit",
  },
  retention_s: {
    variable: "JOB_RETENTION_SECS",
    kind: "number",
    default: 2_592_000,
    meaning: "seconds for which completed jobs are kept with their logs; 0 keeps them for good",
  },
  audit_retention_s: {
    variable: "SVC_AUDIT_RETENTION_S",
    kind: "number",
    default: 31_536_000,
    meaning: "seconds for which audit rows are kept; 0 keeps them for good",
  },
  drain_s: {
    variable: "SVC_DRAIN_S",
    kind: "number",
    default: 10,
    meaning: "seconds running jobs get to finish at shutdown before they go back to the queue",
  },
  drain_delay_s: {
    variable: "SVC_DRAIN_DELAY_S",
    kind: "number",
    default: 0,
    meaning:
      "seconds at shutdown in which health fails and all else goes on, for load balancers to send calls elsewhere",
  },
  job_proxy_credentials: {
    variable: "SVC_JOB_PROXY_CREDENTIALS",
    kind: "text",
    default: "off",
    oneOf: ["on", "off"],
    meaning:
      "on gives scripts the user and password that http_proxy and https_proxy hold; else they get the rest",
  },
  max_body_mb: {
    variable: "REQUEST_SIZE_LIMIT",
    kind: "number",
    default: 200,
    meaning: "largest request body, in MB",
  },
  max_upload_mb: {
    variable: "SVC_MAX_UPLOAD_MB",
    kind: "number",
    default: 0,
    meaning: "largest file sent to the object storage, in MB; 0 means no limit",
  },
  max_log_mb: {
    variable: "SVC_MAX_LOG_MB",
    kind: "number",
    default: 10,
    meaning: "largest log kept of one job, in MB",
  },
  max_result_mb: {
    variable: "SVC_MAX_RESULT_MB",
    kind: "number",
    default: 64,
    meaning: "largest result of one job, in MB",
  },
  max_stream_mb: {
    variable: "SVC_MAX_STREAM_MB",
    kind: "number",
    default: 64,
    meaning: "largest result stream of one job, in MB; a job that streams more fails",
  },
  sandbox: {
    variable: "SVC_SANDBOX",
    kind: "text",
    default: "auto",
    oneOf: ["auto", "required", "off", "bwrap"],
    meaning:
      "walls around scripts: auto (what this machine offers), required (no job runs without Landlock), bwrap (own processes and mounts too), off",
  },
  sandbox_read: {
    variable: "SVC_SANDBOX_READ",
    kind: "text",
    default: "",
    meaning: "folders beside the system's that scripts may read, with commas",
  },
  sandbox_write: {
    variable: "SVC_SANDBOX_WRITE",
    kind: "text",
    default: "",
    meaning: "folders beside their own that scripts may write, with commas",
  },
  sandbox_ports: {
    variable: "SVC_SANDBOX_PORTS",
    kind: "text",
    default: "",
    meaning: "the only TCP ports scripts may connect to, with commas; default: any (Linux 6.7 or newer)",
  },
  job_uids: {
    variable: "SVC_JOB_UIDS",
    kind: "text",
    default: "",
    meaning:
      "user ids scripts run under when the server is root, first-last; default: a range that is free; off: as root (Linux)",
  },
  job_memory_mb: {
    variable: "SVC_JOB_MEMORY_MB",
    kind: "number",
    default: 1_024,
    meaning: "memory a job may use when its script says nothing else, in MB; 0 means no limit (Linux)",
  },
  job_processes: {
    variable: "SVC_JOB_PROCESSES",
    kind: "number",
    default: 256,
    meaning: "processes a job may run at once; 0 means no limit (Linux)",
  },
  job_cpu_s: {
    variable: "SVC_JOB_CPU_S",
    kind: "number",
    default: 0,
    meaning: "seconds of processor time a job may take, all its processes together; 0 means no limit (Linux)",
  },
  job_disk_mb: {
    variable: "SVC_JOB_DISK_MB",
    kind: "number",
    default: 4_096,
    meaning: "room a job's folder and each file it writes may take, in MB; 0 means no limit (Linux)",
  },
  max_database_mb: {
    variable: "SVC_MAX_DATABASE_MB",
    kind: "number",
    default: 0,
    meaning: "quota of the embedded database, in MB; 0 means none",
  },
  min_free_mb: {
    variable: "SVC_MIN_FREE_MB",
    kind: "number",
    default: 1_000,
    meaning: "free room on the data directory's disk, in MB, below which an alert is raised",
  },
  database_connections: {
    variable: "SVC_DATABASE_CONNECTIONS",
    kind: "number",
    default: 10,
    meaning: "connections to PostgreSQL",
  },
  allowed_targets: {
    variable: "SVC_ALLOWED_TARGETS",
    kind: "text",
    default: "",
    meaning:
      "private hosts, addresses and ranges the server may call for its users, with commas; all: any. Otherwise webhooks, WebSockets and buckets reach only the public internet, and what a super admin names in a setting that host beside it",
  },
  webhook_retention_s: {
    variable: "SVC_WEBHOOK_RETENTION_S",
    kind: "number",
    default: 2_592_000,
    meaning: "seconds for which workspace events and the record of their deliveries are kept; a day at least",
  },
  instance_events_webhook: {
    variable: "INSTANCE_EVENTS_WEBHOOK",
    kind: "secret",
    default: undefined,
    meaning: "URL that is told of users who come to the instance and its workspaces (Enterprise Edition)",
  },
  instance_error_handler: {
    variable: "GLOBAL_ERROR_HANDLER_PATH_IN_ADMINS_WORKSPACE",
    kind: "text",
    default: undefined,
    meaning: "script of the workspace admins (flow/<path>: a flow) that hears of failures in all workspaces",
  },
  session_s: {
    variable: "MAX_SESSION_VALIDITY_SECONDS",
    kind: "number",
    default: 259_200,
    meaning: "seconds a login lasts",
  },
  invalidate_old_sessions: {
    variable: "INVALIDATE_OLD_SESSIONS",
    kind: "text",
    default: "false",
    meaning: "true ends a person's other sessions when they log in",
  },
  job_view_audit_logs: {
    variable: "JOB_VIEW_AUDIT_LOGS",
    kind: "text",
    default: "false",
    meaning: "true leaves an audit row of who reads which job, once a minute",
  },
  cookie_domain: {
    variable: "COOKIE_DOMAIN",
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
    meaning: "addresses or CIDR ranges, comma separated, whose X-Forwarded-* headers are believed",
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
    meaning: "refused credentials of one address in a minute after which each answer takes 2 s; 0: never",
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
    meaning: "bearer token that reads /api/metrics and nothing else",
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
} as const satisfies Record<string, Setting>;

type Value<S extends Setting> = S["kind"] extends "number"
  ? number
  : S["default"] extends undefined
    ? string | undefined
    : string;

type Values = { readonly [K in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[K]> };
export type ConfigName = keyof Values;
export type ConfigOverrides = { [K in ConfigName]?: Values[K] | undefined };

/** Who said what a setting is. */
export type ConfigSource = "flag" | "environment" | "default";

export type Config = Values & { readonly sources: Readonly<Record<ConfigName, ConfigSource>> };

/**
 * Settles every setting: `overrides` (flags), then `environment`, then the default.
 * @throws BadRequest that lists all wrong values at once
 */
export function loadConfig(
  overrides: ConfigOverrides = {},
  environment: Record<string, string | undefined> = process.env,
): Config {
  const problems: string[] = [];
  const config: Record<string, string | number | undefined> = {};
  const sources = {} as Record<ConfigName, ConfigSource>;
  for (const [name, setting] of Object.entries(SETTINGS) as [ConfigName, Setting][]) {
    const text = environment[setting.variable] || undefined;
    const given = overrides[name] ?? text ?? setting.default;
    sources[name] = overrides[name] !== undefined ? "flag" : text !== undefined ? "environment" : "default";
    config[name] = setting.kind === "number" ? Number(given) : given;
    const { least = 0 } = setting;
    if (setting.kind === "number" && !(Number.isFinite(config[name]) && Number(config[name]) >= least)) {
      problems.push(`${setting.variable}=${given}: must be a number, ${least} or more (${setting.meaning})`);
    }
    if (setting.oneOf && !setting.oneOf.includes(String(given))) {
      problems.push(`${setting.variable}=${given}: must be one of ${setting.oneOf.join(", ")}`);
    }
  }
  if (problems.length > 0) throw new BadRequest(`bad settings:\n${problems.join("\n")}`);
  config.data_dir = resolve(String(config.data_dir));
  return Object.freeze({ ...config, sources }) as Config;
}
