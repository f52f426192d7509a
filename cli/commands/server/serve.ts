import chalk from "chalk";
import { sleep, withTimeout } from "../../../src/lib/async/sleep.ts";
import { type ConfigName, PROCESS_SETTINGS } from "../../../src/platform/config/config.ts";
import type { RunningServer } from "../../../src/server/server.ts";
import { forgetServerUrl, loadServerConfig, recordServerUrl } from "../../client/data-directory.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { parseWholeNumber } from "../../program/options.ts";
import { createUsageError, EXIT_CODES } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, quoteForShell, wrapText } from "../../terminal/text/output.ts";

interface ServeOptions {
  dataDir?: string;
  host?: string;
  port?: string;
  tlsCert?: string;
  tlsKey?: string;
  console?: boolean;
  json?: boolean;
  open?: boolean;
  qr?: boolean;
  https?: boolean;
  tunnel?: boolean;
}

const SETTING_NAME_WIDTH = 29;
const MEANING_INDENT = `\n${" ".repeat(SETTING_NAME_WIDTH + 2)}`;

/** Settings that most servers need; `svc config --all` lists all. */
const SHOWN_SETTINGS: ConfigName[] = [
  "data_dir",
  "database_url",
  "secret_key",
  "base_url",
  "trusted_proxies",
  "workers",
  "job_memory_mb",
  "job_timeout_s",
  "retention_s",
  "drain_s",
  "log_level",
];
const settings = SHOWN_SETTINGS.map((name) => PROCESS_SETTINGS[name])
  .map(({ variable, meaning, default: initial }) => {
    const value = initial === undefined || initial === "" ? "" : ` (${initial})`;
    const name =
      variable.length < SETTING_NAME_WIDTH ? variable.padEnd(SETTING_NAME_WIDTH) : variable + MEANING_INDENT;
    return `  ${name}${wrapText(`${meaning}${value}`, 48).join(MEANING_INDENT)}`;
  })
  .join("\n");

const DRAIN_MESSAGE = "taking no new jobs, waiting for the running ones";
/** How long a broken server reports its error to callers, and how long its scripts may take to end after that. */
const SHUTDOWN_NOTICE_MS = 2_000;
/** Time for a starting server to come up after it received a signal. */
const MAX_START_MS = 8_000;

export default createCommand("serve", "start the server", "directory")
  .option("--host <address>", "address to listen on (default 127.0.0.1)")
  .option("--port <number>", "port to listen on; 0 picks a free one (default 8000)")
  .option("--tls-cert <file>", "serve HTTPS with this certificate chain (PEM)")
  .option("--tls-key <file>", "the certificate's key (PEM)")
  .option("--no-console", "do not serve the console")
  .option("--open", "development: open the browser")
  .option("--qr", "development: show the URL as a QR code")
  .option("--https", "development: serve with a self-signed certificate as well")
  .option("--tunnel", "development: make the server reachable from the internet")
  .addHelpText(
    "after",
    `${formatExamples("svc serve", "svc serve --host 0.0.0.0 --port 80 --data-dir /var/lib/svc")}\n\nSettings, from the environment (svc config --all lists every one):\n${settings}`,
  )
  .action(async (options: ServeOptions) => {
    const port = options.port === undefined ? undefined : parseWholeNumber("--port", options.port, 65_535);
    const config = loadServerConfig({
      data_dir: options.dataDir,
      host: options.host,
      port,
      tls_cert: options.tlsCert,
      tls_key: options.tlsKey,
      console: options.console === false ? "off" : undefined,
    });
    if (options.qr && !options.tunnel && config.base_url === undefined && isLoopback(config.host)) {
      throw createUsageError(
        `--qr shows an address that others can reach, and ${config.host} is none: add --host 0.0.0.0`,
      );
    }
    const { startServer } = await import("../../../src/server/server.ts");
    const toldToStop = handleSignals();
    const server = await startServer(config);
    recordServerUrl(config.data_dir, server.url);
    logUncaughtErrors(server);
    exitWhenDatabaseBroken(server);
    const development = await startDevelopmentServer(options, server);
    const setup = await server.setupPath();
    const setupUrl = setup === undefined ? undefined : `${server.app.urls.base}${setup}`;
    if (options.json) printJson({ url: server.url, setup_url: setupUrl, pid: process.pid });
    else {
      print(`svc listens on ${chalk.bold(server.url)}`);
      print(chalk.dim(`data in ${config.data_dir}`));
      const { describeRootSandbox } = await import("../../../src/server/sandbox-options.ts");
      const root = describeRootSandbox(config);
      if (root !== undefined) print(chalk.dim(root));
      if (setupUrl) {
        print(
          `\nThere is no user yet. Create the first admin account here, once:\n  ${chalk.bold(setupUrl)}`,
        );
        print(
          chalk.dim(
            `or with: svc user create --super-admin${options.dataDir === undefined ? "" : ` --data-dir ${quoteForShell(options.dataDir)}`}`,
          ),
        );
      }
    }
    await toldToStop(async () => {
      await development?.();
      await server.stop();
      forgetServerUrl(config.data_dir);
    });
  });

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/** Starts listhen for its conveniences, on a listener of its own: normal traffic uses the faster one. */
async function startDevelopmentServer(
  options: ServeOptions,
  { app, fetch }: RunningServer,
): Promise<(() => Promise<void>) | undefined> {
  if (!options.open && !options.qr && !options.https && !options.tunnel) return undefined;
  const [{ listen }, { toNodeHandler }] = await Promise.all([import("listhen"), import("h3/node")]);
  const listener = await listen(toNodeHandler({ fetch } as never) as never, {
    port: 0,
    hostname: app.config.host,
    ...(app.urls.base === app.urls.internal ? {} : { publicURL: app.urls.base }),
    https: options.https ?? false,
    open: options.open ?? false,
    qr: options.qr ?? false,
    tunnel: options.tunnel ?? false,
    autoClose: false,
  });
  app.runner.exemptOtherProcesses();
  return () => listener.close();
}

/**
 * Exits with an error once the database can store nothing any more: only a restart by the supervisor fixes that.
 * Running jobs are requeued by the next start, as after a crash.
 */
export function exitWhenDatabaseBroken({ app, broken }: RunningServer): void {
  void broken.then(async (cause) => {
    app.acceptsJobs = false;
    const reason = (cause.cause as Error | undefined)?.message;
    app.log.error({ error: cause.message, reason }, "the server exits, to be restarted");
    printLogLine("error", `svc ends, to be started again: ${cause.message}`);
    const ended = app.runner.stop().catch(() => {});
    // Meanwhile callers, such as a load balancer, get the reason.
    await sleep(SHUTDOWN_NOTICE_MS);
    await withTimeout(SHUTDOWN_NOTICE_MS, ended, () => new Error("still running")).catch(() => {});
    process.exit(EXIT_CODES.failed);
  });
}

/** Logs uncaught errors: one request's or job's error must not end all others. */
export function logUncaughtErrors({ app }: RunningServer): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (cause) =>
      app.log.error({ error: String(cause), stack: (cause as Error)?.stack }, "unhandled error"),
    );
  }
}

/** Prints a message on a terminal, else as a line of the log, which is JSON there. */
function printLogLine(level: "info" | "error", msg: string): void {
  printNote(process.stderr.isTTY ? msg : JSON.stringify({ level, time: new Date().toISOString(), msg }));
}

/**
 * Handles SIGTERM and SIGINT: the first one drains, a second one ends the process. Called before the server starts,
 * because a supervisor may stop it the moment it is up. A signal during the start is handled once it is up; a start
 * that takes too long is aborted.
 * @returns a function that waits for the first signal, then for `stop`; call it when the server is up
 */
export function handleSignals(): (stop: () => Promise<void>) => Promise<void> {
  const first = Promise.withResolvers<void>();
  let isUp = false;
  let told = false;
  let givenUp: ReturnType<typeof setTimeout> | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (told) process.exit(EXIT_CODES.interrupted);
      told = true;
      printLogLine("info", `${signal}: ${isUp ? DRAIN_MESSAGE : "ending as soon as the server is up"}`);
      if (!isUp) givenUp = setTimeout(() => process.exit(EXIT_CODES.interrupted), MAX_START_MS);
      first.resolve();
    });
  }
  return async (stop) => {
    isUp = true;
    clearTimeout(givenUp);
    await first.promise;
    await stop().catch((cause) => {
      printLogLine("error", `stopping failed: ${cause}`);
      process.exit(1);
    });
  };
}
