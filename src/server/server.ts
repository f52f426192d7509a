/** `svc serve`: holds the data directory, listens on TCP and on the operator's socket, and drains when told to stop. */
import { chmodSync, rmSync } from "node:fs";
import { join } from "node:path";
import { serve as h3serve } from "h3";
import { noRoomAtStart } from "../database/connect.ts";
import { raiseAlert } from "../features/signals/alerts/service.ts";
import { sleep } from "../lib/async/sleep.ts";
import { createParts, type Service } from "../lib/async/start-stop.ts";
import { BadRequest } from "../lib/errors.ts";
import { lockDirectory } from "../lib/files/directory-lock.ts";
import { createLog } from "../lib/logging/log.ts";
import type { App } from "../platform/app/context.ts";
import type { Config } from "../platform/config/config.ts";
import { type Certificate, readCertificate, watchCertificate } from "../platform/http/door/certificate.ts";
import { trustProxies } from "../platform/http/door/proxies.ts";
import { createApp, type RunningApp } from "./app.ts";

export interface RunningServer extends RunningApp {
  /** Where it listens, without a trailing slash. */
  url: string;
  /** Resolves with the reason when the database stores nothing any more: the process is to be ended and started again. */
  broken: Promise<Error>;
}

/** Name of the socket below the data directory; mode 0600: whoever can open it is the operator. */
export const SOCKET = "svc.sock";

/** How long requests under way at shutdown have for their answers; a stream would go on for ever. */
const LEAVE_MS = 1_000;

/** The server itself says when a body is too long. */
const ANY_BODY = { maxRequestBodySize: Number.MAX_SAFE_INTEGER };

/** Longest path of a Unix socket on the platforms we run on (sun_path, less its end). */
const MAX_SOCKET_PATH = 103;

/**
 * Starts a server and resolves once it answers. A worker answers as well: the jobs it runs call it.
 * @throws BadRequest when the directory is in use or the port is taken, StorageFull when its disk is full
 */
export async function startServer(config: Config, role: "all" | "worker" = "all"): Promise<RunningServer> {
  try {
    return await open(config, role);
  } catch (cause) {
    throw noRoomAtStart(config.data_dir, cause) ?? cause;
  }
}

async function open(config: Config, role: "all" | "worker"): Promise<RunningServer> {
  // What is wrong with these is told before anything is opened.
  const certificate = readCertificate(config);
  trustProxies(config.trusted_proxies);
  const log = createLog(config.log_level, config.log_format);
  const lock = lockDirectory(config.data_dir, role === "all" ? "svc serve" : "svc worker");
  const parts = createParts(log);
  parts.add("lock", () => lock.release());
  try {
    const running = await createApp(config, role);
    const { app, fetch, fetchAsOperator } = running;
    const opened = createParts(log);
    // Its parts end before anything that lets requests in: those under way are answered.
    parts.add("ways in", () => opened.stop());
    parts.add("app", () => running.stop());
    const listener = await listen(config, fetch, certificate);
    opened.add("listener", () => listener.close());
    const twin = await listenOnOtherLoopback(running, config, listener.url, certificate);
    opened.add("listener of the other loopback address", () => twin?.close());
    const socket = listenForOperator(config, fetchAsOperator);
    opened.add("socket", () => socket?.stop(true));
    const url = listener.url;
    // Scripts call the service back by an address that no certificate names: they do so without one.
    const forJobs = config.tls_cert ? await listen({ host: "127.0.0.1", port: 0 }, fetch) : undefined;
    opened.add("listener for jobs", () => forJobs?.close());
    running.listenAt(url, forJobs?.url);
    // What is asked of the database meanwhile must be answered while it is there.
    running.onDrained(() => Promise.all([listener.leave(), forJobs?.leave()]).then(() => {}));
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
        app.leaving = true;
        // Balancers see that health fails, and send their calls elsewhere; those that still come are answered.
        await sleep(config.drain_delay_s * 1000);
        await parts.stop();
      },
    };
  } catch (cause) {
    await parts.stop().catch(() => {});
    throw cause;
  }
}

/** Where `localhost` leads to as well, by what is listened on. */
const OTHER_LOOPBACK: Record<string, string> = { "127.0.0.1": "::1", "0.0.0.0": "::1", "::1": "127.0.0.1" };

/**
 * Answers on the other loopback address too: on a port that is free there a script could listen, and be taken for the
 * server by whoever asks `localhost`.
 * @returns undefined where there is no such address, or the port is taken on it
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
    return await listen({ host: other, port: number }, fetch, certificate);
  } catch (cause) {
    // Without IPv6 there is nothing that could be taken.
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
      app.log.info({ url: listeners[0]!.url }, "the renewed certificate is used from now on");
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
   * Speaks with another certificate to whoever connects from now on; what is under way goes on as it is.
   * @throws when that cannot be: then it goes on with the one before
   */
  renew(certificate: Certificate): Promise<void>;
  /** Takes no more connections, and resolves when all requests are answered, or after a moment. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** Answers requests from the network, until closed. @throws BadRequest when the port is taken */
export async function listen(
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
      // A listener keeps the certificate it began with. It lets go of the port at once, and ends with its last request.
      void current.close(false);
      try {
        await reopen(next);
      } catch (cause) {
        await reopen(shown);
        throw cause;
      }
    },
    async leave() {
      const answered = Promise.all(all.map((each) => each.close(false)));
      await Promise.race([answered, Bun.sleep(LEAVE_MS)]);
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
    // A stream may be silent for long; the server itself says when a wait is over.
    const server = h3serve({ fetch } as never, { ...options, bun: { idleTimeout: 0, ...ANY_BODY } });
    return await server.ready();
  } catch (cause) {
    if ((cause as { code?: string }).code !== "EADDRINUSE") throw cause;
    throw new BadRequest(`port ${port} on ${host} is taken`, {
      cause,
      hint: "stop what listens there, or choose another port with --port (0 picks a free one)",
    });
  }
}

function listenForOperator(config: Config, fetch: RunningApp["fetchAsOperator"]) {
  const path = join(config.data_dir, SOCKET);
  if (path.length > MAX_SOCKET_PATH) return undefined;
  rmSync(path, { force: true });
  const before = process.umask(0o177);
  try {
    const server = Bun.serve({ ...ANY_BODY, unix: path, fetch: (request) => fetch(request) });
    chmodSync(path, 0o600);
    return server;
  } finally {
    process.umask(before);
  }
}
