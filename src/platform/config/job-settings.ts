/** Process settings for jobs: concurrency, duration, resource limits and the sandbox. */
import { availableParallelism } from "node:os";
import type { Setting } from "./setting.ts";

const cores = availableParallelism();

export const JOB_SETTINGS = {
  workers: {
    variable: "SVC_WORKERS",
    kind: "number",
    // More slots than cores: most scripts wait for input and output, and short ones wait for the server.
    default: Math.max(4, cores * 4),
    meaning: "maximum number of concurrent jobs",
  },
  builds: {
    variable: "SVC_BUILDS",
    kind: "number",
    default: Math.max(2, cores),
    least: 1,
    meaning:
      "compilers that may run at once; of package clients, twice as many; one that takes over 10 s is not counted, up to 3 times the limit",
  },
  worker_tags: {
    variable: "SVC_WORKER_TAGS",
    kind: "text",
    default: undefined,
    meaning: "tags of the jobs that this process runs, comma separated; default: its group's, else all",
  },
  worker_group: {
    variable: "SVC_WORKER_GROUP",
    kind: "text",
    default: "default",
    meaning: "worker group of this process",
  },
  lease_s: {
    variable: "SVC_LEASE_S",
    kind: "number",
    default: 30,
    least: 1,
    meaning: "seconds without a heartbeat after which a worker's jobs are given to another (PostgreSQL)",
  },
  max_children: {
    variable: "SVC_MAX_CHILDREN",
    kind: "number",
    default: Math.max(8, cores * 8),
    meaning: "maximum number of script processes: running, warm or started in advance",
  },
  blank_children: {
    variable: "SVC_BLANK_CHILDREN",
    kind: "number",
    default: 2,
    meaning: "script processes started in advance",
  },
  child_idle_s: {
    variable: "SVC_CHILD_IDLE_S",
    kind: "number",
    default: 300,
    meaning: "seconds after which an idle warm process ends",
  },
  job_timeout_s: {
    variable: "SVC_TIMEOUT",
    also: "TIMEOUT",
    kind: "number",
    default: 3600,
    meaning: "default timeout of jobs, in seconds",
  },
  max_timeout_s: {
    variable: "SVC_MAX_TIMEOUT",
    also: "MAX_TIMEOUT",
    kind: "number",
    default: 604_800,
    meaning: "maximum timeout of jobs, in seconds",
  },
  wait_result_s: {
    variable: "SVC_TIMEOUT_WAIT_RESULT",
    also: "TIMEOUT_WAIT_RESULT",
    kind: "number",
    default: 600,
    meaning:
      "seconds a synchronous call waits before it cancels its job; existing clients set 0 for the shortest wait, which is 2",
  },
  max_waiting_calls: {
    variable: "SVC_MAX_WAITING_CALLS",
    kind: "number",
    default: 2_000,
    meaning: "synchronous calls that may wait for a free slot; further ones get 503 with Retry-After",
  },
  queue_limit: {
    variable: "SVC_QUEUE_LIMIT_WAIT_RESULT",
    also: "QUEUE_LIMIT_WAIT_RESULT",
    kind: "number",
    default: 0,
    meaning: "queued jobs beyond which synchronous calls are rejected; 0 means no limit",
  },
  retention_s: {
    variable: "SVC_JOB_RETENTION_SECS",
    also: "JOB_RETENTION_SECS",
    kind: "number",
    default: 2_592_000,
    meaning: "seconds for which completed jobs are kept with their logs; 0 keeps them forever",
  },
  audit_retention_s: {
    variable: "SVC_AUDIT_RETENTION_S",
    kind: "number",
    default: 31_536_000,
    meaning: "seconds for which audit rows are kept; 0 keeps them forever",
  },
  drain_s: {
    variable: "SVC_DRAIN_S",
    kind: "number",
    default: 10,
    meaning: "seconds that running jobs get to complete at shutdown before they are requeued",
  },
  drain_delay_s: {
    variable: "SVC_DRAIN_DELAY_S",
    kind: "number",
    default: 0,
    meaning:
      "seconds at shutdown during which only the health check fails, so that load balancers redirect calls",
  },
  job_proxy_credentials: {
    variable: "SVC_JOB_PROXY_CREDENTIALS",
    kind: "text",
    default: "off",
    oneOf: ["on", "off"],
    meaning: "on passes user and password in http_proxy and https_proxy to scripts; off removes them",
  },
  max_body_mb: {
    variable: "SVC_REQUEST_SIZE_LIMIT",
    also: "REQUEST_SIZE_LIMIT",
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
    meaning: "largest stored log of one job, in MB",
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
      "sandbox of scripts: auto (what this machine supports), required (no job runs without Landlock), bwrap (also process and mount namespaces), off",
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
      "user ids of scripts if the server runs as root, first-last; default: an unused range; off: as root (Linux)",
  },
  job_memory_mb: {
    variable: "SVC_JOB_MEMORY_MB",
    kind: "number",
    default: 1_024,
    meaning: "memory limit of a job unless its script sets one, in MB; 0 means no limit (Linux)",
  },
  job_processes: {
    variable: "SVC_JOB_PROCESSES",
    kind: "number",
    default: 256,
    meaning: "maximum number of concurrent processes of a job; 0 means no limit (Linux)",
  },
  job_cpu_s: {
    variable: "SVC_JOB_CPU_S",
    kind: "number",
    default: 0,
    meaning:
      "processor time limit of a job, all its processes together, in seconds; 0 means no limit (Linux)",
  },
  job_disk_mb: {
    variable: "SVC_JOB_DISK_MB",
    kind: "number",
    default: 4_096,
    meaning: "disk limit of a job's folder and of each file it writes, in MB; 0 means no limit (Linux)",
  },
} as const satisfies Record<string, Setting>;
