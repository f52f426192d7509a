/** `svc serve`: locks the data directory, listens on TCP and on the local admin's socket, and drains on stop. */
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { serve as h3serve } from "h3";
import { explainFullDisk } from "../database/open-database.ts";
import { raiseAlert } from "../features/signals/alerts/service.ts";
import { createServiceStack, type Service } from "../lib/async/service.ts";
import { sleep, waitAtMost } from "../lib/async/sleep.ts";
import { BadRequest } from "../lib/errors.ts";
import { lockDirectory } from "../lib/files/directory-lock.ts";
import { createLog } from "../lib/logging/log.ts";
import { PRIVILEGED_PORT_HINT } from "../lib/network.ts";
import type { App } from "../platform/app/context.ts";
import type { Config } from "../platform/config/config.ts";
import { type Certificate, readCertificate, watchCertificate } from "../platform/http/guards/certificate.ts";
import { parseTrustedProxies } from "../platform/http/guards/proxies.ts";
import { createApp, type RunningApp } from "./app.ts";

export interface RunningServer extends RunningApp {
  /** Listening address without a trailing slash. */
  url: string;
  /** Resolves with the reason when the database accepts no more writes: the process must be restarted. */
  broken: Promise<Error>;
}

/** Socket file in the data directory, mode 0600: anyone who can open it is the local admin. */
export const SOCKET_NAME = "svc.sock";

/** Time that requests in progress get at shutdown; streams would never end. */
const SHUTDOWN_GRACE_MS = 1_000;

/** The application checks body sizes and limits waiting itself; responses and streams may be silent for long. */
const NO_LIMITS = { maxRequestBodySize: Number.MAX_SAFE_INTEGER, idleTimeout: 0 };

/** Longest Unix socket path on supported platforms (sun_path without its terminator). */
const MAX_SOCKET_PATH = 103;

/**
 * Starts a server and resolves once it responds. A worker listens as well, because its jobs call it.
 * @throws BadRequest if the directory is in use or the port is taken, StorageFull if the disk is full
 */
export async function startServer(config: Config, role: "all" | "worker" = "all"): Promise<RunningServer> {
  try {
    return await openServer(config, role);
  } catch (cause) {
    throw explainFullDisk(config.data_dir, cause) ?? cause;
  }
}

async function openServer(config: Config, role: "all" | "worker"): Promise<RunningServer> {
  // Validated before anything is opened.
  const certificate = readCertificate(config);
  parseTrustedProxies(config.trusted_proxies);
  const log = createLog(config.log_level, config.log_format, config.log_dir);
  const lock = lockDirectory(config.data_dir, role === "all" ? "svc serve" : "svc worker");
  const parts = createServiceStack(log);
  parts.add("lock", () => lock.release());
  try {
    const running = await createApp(config, role);
    const { app, fetch, fetchAsLocalAdmin } = running;
    const opened = createServiceStack(log);
    // Added after the listeners' stack, so the app stops first and requests in progress still get their responses.
    parts.add("ways in", () => opened.stop());
    parts.add("app", () => running.stop());
    const listener = await startListener(config, fetch, certificate);
    opened.add("listener", () => listener.close());
    const twin = await listenOnOtherLoopback(running, config, listener.url, certificate);
    opened.add("listener of the other loopback address", () => twin?.close());
    const socket = listenOnSocket(config, fetchAsLocalAdmin);
    opened.add("socket", () => socket?.stop(true));
    const url = listener.url;
    // Scripts call the service at an address that no certificate covers, so they use plain http.
    const forJobs = config.tls_cert ? await startListener({ host: "127.0.0.1", port: 0 }, fetch) : undefined;
    opened.add("listener for jobs", () => forJobs?.close());
    running.setListenUrls(url, forJobs?.url);
    // Requests in progress need the database.
    running.onDrained(() => Promise.all([listener.drain(), forJobs?.drain()]).then(() => {}));
    if (certificate) {
      const listeners = twin ? [listener, twin] : [listener];
      await parts.start("certificate", watchCertificateOf(app, listeners, certificate));
    }
    const broken = new Promise<Error>((resolve) => app.db.onBroken(resolve));
    return {
      ...running,
      url,
      broken,
      async stop() {
        app.isStopping = true;
        // Load balancers see failing health checks and redirect calls; calls that still arrive are answered.
        await sleep(config.drain_delay_s * 1000);
        await parts.stop();
      },
    };
  } catch (cause) {
    await parts.stop().catch(() => {});
    throw cause;
  }
}

/** The other loopback address that `localhost` may resolve to, by listening address. */
const OTHER_LOOPBACK: Record<string, string> = { "127.0.0.1": "::1", "0.0.0.0": "::1", "::1": "127.0.0.1" };

/**
 * Listens on the other loopback address too. Otherwise a script could listen on its free port and impersonate the
 * server to clients of `localhost`.
 * @returns undefined if there is no such address or the port is taken there
 */
async function listenOnOtherLoopback(
  { app, fetch }: RunningApp,
  { host }: Config,
  url: string,
  certificate: Certificate | undefined,
): Promise<Listener | undefined> {
  const other = OTHER_LOOPBACK[host];
  if (other === undefined) return undefined;
  const { protocol, port } = new URL(url);
  const number = Number(port) || (protocol === "https:" ? 443 : 80);
  try {
    return await startListener({ host: other, port: number }, fetch, certificate);
  } catch (cause) {
    // Without IPv6 there is no port to take.
    if (cause instanceof BadRequest)
      app.log.warn(
        { address: other, port: number },
        "another program listens there: localhost may lead to it",
      );
    return undefined;
  }
}

function watchCertificateOf(app: App, listeners: Listener[], certificate: Certificate): Service {
  return watchCertificate(app.config, certificate, {
    log: app.log,
    async renew(next) {
      for (const listener of listeners) await listener.renew(next);
      app.log.info({ url: listeners[0]!.url }, "the renewed certificate is in use");
    },
    complain(reason) {
      const message = `the renewed certificate is not used, the one before stays: ${reason}`;
      void raiseAlert(app, { kind: "certificate_refused", message, subject: reason });
    },
  });
}

export interface Listener {
  url: string;
  /**
   * Uses another certificate for new connections; existing ones continue.
   * @throws if that fails; the previous certificate stays in use
   */
  renew(certificate: Certificate): Promise<void>;
  /** Accepts no more connections and resolves when all requests are answered, or after a short grace period. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a listener for network requests. @throws BadRequest if the port is in use or not for this user */
export async function startListener(
  config: Pick<Config, "host" | "port">,
  fetch: RunningApp["fetch"],
  certificate?: Certificate,
): Promise<Listener> {
  let current = await openListener(config, fetch, certificate);
  const url = current.url!.replace(/\/$/, "");
  const port = Number(new URL(url).port) || config.port;
  const all = [current];
  let shown = certificate;
  async function reopen(shows: Certificate | undefined): Promise<void> {
    current = await openListener({ host: config.host, port }, fetch, shows);
    all.push(current);
    shown = shows;
  }
  return {
    url,
    async renew(next) {
      // A listener cannot change its certificate. It frees the port at once and ends after its last request.
      void current.close(false);
      try {
        await reopen(next);
      } catch (cause) {
        await reopen(shown);
        throw cause;
      }
    },
    async drain() {
      const answered = Promise.all(all.map((each) => each.close(false)));
      await waitAtMost(SHUTDOWN_GRACE_MS, answered);
    },
    async close() {
      await Promise.all(all.map((each) => each.close(true)));
    },
  };
}

async function openListener(
  { host, port }: Pick<Config, "host" | "port">,
  fetch: RunningApp["fetch"],
  certificate: Certificate | undefined,
) {
  const options = {
    port,
    hostname: host,
    silent: true,
    gracefulShutdown: false,
    ...(certificate ? { tls: certificate } : {}),
  } as const;
  try {
    const server = h3serve({ fetch } as never, { ...options, bun: NO_LIMITS });
    return await server.ready();
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === "EACCES") {
      const hint = PRIVILEGED_PORT_HINT;
      throw new BadRequest(`this user may not listen on port ${port} of ${host}`, { cause, hint });
    }
    if (code !== "EADDRINUSE") throw cause;
    throw new BadRequest(`port ${port} on ${host} is in use`, {
      cause,
      hint: "stop the program that listens there, or choose another port with --port (0 picks a free one)",
    });
  }
}

function listenOnSocket(config: Config, fetch: RunningApp["fetchAsLocalAdmin"]) {
  const path = join(config.data_dir, SOCKET_NAME);
  if (path.length > MAX_SOCKET_PATH) return undefined;
  rmSync(path, { force: true });
  const before = process.umask(0o177);
  try {
    const options = { ...NO_LIMITS, unix: path, fetch: (request: Request) => fetch(request) };
    // The types lack `idleTimeout` for Unix sockets; without it Bun closes a silent connection after 10 seconds.
    const server = Bun.serve(options as unknown as Bun.Serve.Options<undefined>);
    chmodSync(path, 0o600);
    return server;
  } finally {
    process.umask(before);
  }
}
