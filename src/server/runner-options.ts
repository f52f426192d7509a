import { join } from "node:path";
import type { RunnerOptions } from "../engines/runner/types.ts";
import { readPythonIndex } from "../features/instance/settings/python-index.ts";
import { reportRestoredFiles } from "../features/signals/alerts/file-permissions.ts";
import { createJobTokens } from "../features/tenancy/tokens/job-tokens.ts";
import type { App } from "../platform/app/context.ts";
import { parseSandboxSettings } from "./sandbox-options.ts";

const MB = 1_000_000;

/** Converts the app's settings to options of the runner, which knows neither the app nor its configuration. */
export function createRunnerOptions(app: App): RunnerOptions {
  const { config, log } = app;
  return {
    directory: join(config.data_dir, "runner"),
    concurrency: config.workers,
    builds: config.builds,
    max_children: config.max_children,
    blank_children: config.blank_children,
    idle_timeout_ms: config.child_idle_s * 1000,
    max_log_bytes: config.max_log_mb * MB,
    max_result_bytes: config.max_result_mb * MB,
    max_stream_bytes: config.max_stream_mb * MB,
    registry: () => app.settings.get("npm_config_registry"),
    pythonIndex: () => readPythonIndex(app.settings),
    limits: {
      memory_mb: config.job_memory_mb,
      processes: config.job_processes,
      cpu_s: config.job_cpu_s,
      disk_mb: config.job_disk_mb,
    },
    sandbox: parseSandboxSettings(config),
    proxy_credentials: config.job_proxy_credentials === "on",
    onRestored: (files) => reportRestoredFiles(app, files),
    tokensFor: createJobTokens(app),
    log: (level, message, fields) => log[level](fields ?? {}, message),
  };
}
