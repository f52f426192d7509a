import chalk, { chalkStderr } from "chalk";
import { sleep, withinMs } from "../../../src/lib/async/sleep.ts";
import { loadConfig, SETTINGS } from "../../../src/platform/config/config.ts";
import type { RunningServer } from "../../../src/server/server.ts";
import { examples, leaf } from "../../program/command.ts";
import { wholeNumber } from "../../program/options.ts";
import { EXIT, usageError } from "../../terminal/text/failure.ts";
import { note, print, printJson, wrap } from "../../terminal/text/output.ts";

interface ServeOptions {
  dataDir?: string;
  host?: string;
  port?: string;
  tlsCert?: string;
  tlsKey?: string;
  json?: boolean;
  open?: boolean;
  qr?: boolean;
  https?: boolean;
  tunnel?: boolean;
}

const NAME_WIDTH = 29;
const MEANING_INDENT = `\n${" ".repeat(NAME_WIDTH + 2)}`;

const settings = Object.values(SETTINGS)
  .map(({ variable, meaning, default: initial }) => {
    const value = initial === undefined || initial === "" ? "" : ` (${initial})`;
    const name = variable.length < NAME_WIDTH ? variable.padEnd(NAME_WIDTH) : variable + MEANING_INDENT;
    return `  ${name}${wrap(`${meaning}${value}`, 48).join(MEANING_INDENT)}`;
  })
  .join("\n");

const DRAINS = "taking no new jobs, waiting for the running ones";
/** How long a server that cannot go on says so, and how long its scripts may take to end after that. */
const END_MS = 2_000;
/** How long a server that starts has left to be up once it is told to stop. */
const LONGEST_START_MS = 8_000;

export default leaf("serve", "start the server", "directory")
  .option("--host <address>", "address to listen on (default 127.0.0.1)")
  .option("--port <number>", "port to listen on; 0 picks a free one (default 8000)")
  .option("--tls-cert <file>", "speak https, with this certificate chain (PEM)")
  .option("--tls-key <file>", "the certificate's key (PEM)")
  .option("--open", "development: open the browser")
  .option("--qr", "development: show the URL as a QR code")
  .option("--https", "development: serve with a self-signed certificate as well")
  .option("--tunnel", "development: make the server reachable from the internet")
  .addHelpText(
    "after",
    `${examples("svc serve", "svc serve --host 0.0.0.0 --port 80 --data-dir /var/lib/svc")}\n\nSettings, from the environment:\n${settings}`,
  )
  .action(async (options: ServeOptions) => {
    const port = options.port === undefined ? undefined : wholeNumber("--port", options.port, 65_535);
    const config = loadConfig({
      data_dir: options.dataDir,
      host: options.host,
      port,
      tls_cert: options.tlsCert,
      tls_key: options.tlsKey,
    });
    if (options.qr && !options.tunnel && config.base_url === undefined && isLoopback(config.host)) {
      throw usageError(
        `--qr shows an address that others can reach, and ${config.host} is none: add --host 0.0.0.0`,
      );
    }
    const { startServer } = await import("../../../src/server/server.ts");
    const toldToStop = heedSignals();
    const server = await startServer(config);
    outliveMishaps(server);
    endWhenBroken(server);
    const development = await openDevelopment(options, server);
    const setup = await server.setupPath();
    const setupUrl = setup === undefined ? undefined : `${server.app.urls.base}${setup}`;
    if (options.json) printJson({ url: server.url, setup_url: setupUrl, pid: process.pid });
    else {
      print(`svc listens on ${chalk.bold(server.url)}`);
      note(chalkStderr.dim(`data in ${config.data_dir}`));
      const { aboutRoot } = await import("../../../src/server/sandbox-options.ts");
      const root = aboutRoot(config);
      if (root !== undefined) note(chalkStderr.dim(root));
      if (setupUrl) {
        print(`\nThere is no user yet. Make the first super admin here, once:\n  ${chalk.bold(setupUrl)}`);
        note(chalkStderr.dim("or with: svc user create --super-admin"));
      }
    }
    await toldToStop(async () => {
      await development?.();
      await server.stop();
    });
  });

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/** The conveniences of listhen, on a listener of its own: plain traffic goes through the faster one. */
async function openDevelopment(
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
  app.runner.spare();
  return () => listener.close();
}

/**
 * Ends the process with an error once the database stores nothing any more: only a start mends that, which is for whoever
 * supervises the process. Jobs that ran are put back by the next start, as after a crash.
 */
export function endWhenBroken({ app, broken }: RunningServer): void {
  void broken.then(async (cause) => {
    app.accepting = false;
    const reason = (cause.cause as Error | undefined)?.message;
    app.log.error({ error: cause.message, reason }, "the server ends, to be started again");
    note(`svc ends, to be started again: ${cause.message}`);
    const ended = app.runner.stop().catch(() => {});
    // Whoever asks meanwhile, a balancer among them, is told the reason.
    await sleep(END_MS);
    await withinMs(END_MS, ended, () => new Error("still running")).catch(() => {});
    process.exit(EXIT.failed);
  });
}

/** One request's or job's mishap must not end those of all others. */
export function outliveMishaps({ app }: RunningServer): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (cause) =>
      app.log.error({ error: String(cause), stack: (cause as Error)?.stack }, "an error nobody handled"),
    );
  }
}

/**
 * Heeds SIGTERM and SIGINT from now on: the first one drains, a second one ends the process at once. Called before the
 * server starts, since whoever reads that it is up may tell it to stop in the same moment. What is told while it starts
 * is done once it is up; a start that takes long (a database that does not answer) is given up.
 * @returns waits for the first signal, then for `stop`; to be called when the server is up
 */
export function heedSignals(): (stop: () => Promise<void>) => Promise<void> {
  const first = Promise.withResolvers<void>();
  let isUp = false;
  let told = false;
  let givenUp: ReturnType<typeof setTimeout> | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (told) process.exit(EXIT.interrupted);
      told = true;
      note(`${signal}: ${isUp ? DRAINS : "ending as soon as the server is up"}`);
      if (!isUp) givenUp = setTimeout(() => process.exit(EXIT.interrupted), LONGEST_START_MS);
      first.resolve();
    });
  }
  return async (stop) => {
    isUp = true;
    clearTimeout(givenUp);
    await first.promise;
    await stop().catch((cause) => {
      note(`stopping failed: ${cause}`);
      process.exit(1);
    });
  };
}
