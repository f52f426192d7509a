/** `svc serve`: holds the data directory, listens on TCP and on the operator's socket, and drains when told to stop. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { serve as h3serve } from "h3";
import { createApp, type RunningApp } from "./app.ts";
import type { Config } from "./config.ts";
import { BadRequest } from "./errors.ts";
import { trustProxies } from "./http/proxies.ts";
import { lockDirectory } from "./lib/directory-lock.ts";

export interface RunningServer extends RunningApp {
  /** Where it listens, without a trailing slash. */
  url: string;
}

/** Name of the socket below the data directory; mode 0600: whoever can open it is the operator. */
export const SOCKET = "svc.sock";

/** The server itself says when a body is too long. */
const ANY_BODY = { maxRequestBodySize: Number.MAX_SAFE_INTEGER };

/** Longest path of a Unix socket on the platforms we run on (sun_path, less its end). */
const MAX_SOCKET_PATH = 103;

/**
 * Starts a server and resolves once it answers. A worker answers as well: the jobs it runs call it.
 * @throws BadRequest when the directory is in use or the port is taken
 */
export async function startServer(config: Config, role: "all" | "worker" = "all"): Promise<RunningServer> {
  // What is wrong with these is told before anything is opened.
  const certificate = readCertificate(config);
  trustProxies(config.trusted_proxies);
  const lock = lockDirectory(config.data_dir, role === "all" ? "svc serve" : "svc worker");
  let running: RunningApp | undefined;
  try {
    running = await createApp(config, role);
    const { fetch, fetchAsOperator } = running;
    const listener = await listen(config, fetch, certificate);
    const socket = listenForOperator(config, fetchAsOperator);
    const url = listener.url;
    // Scripts call the service back by an address that no certificate names: they do so without one.
    const forJobs = config.tls_cert ? await listen({ host: "127.0.0.1", port: 0 }, fetch) : undefined;
    running.listenAt(url, forJobs?.url);
    const stopApp = running.stop;
    return {
      ...running,
      url,
      async stop() {
        await stopApp();
        await listener.close();
        await forJobs?.close();
        await socket?.stop(true);
        lock.release();
      },
    };
  } catch (cause) {
    await running?.stop();
    lock.release();
    throw cause;
  }
}

interface Certificate {
  cert: string;
  key: string;
}

/** @throws BadRequest when only one of the two files is named, or one cannot be read or does not hold what it should */
function readCertificate({ tls_cert, tls_key }: Config): Certificate | undefined {
  if (tls_cert === undefined && tls_key === undefined) return undefined;
  if (tls_cert === undefined || tls_key === undefined) {
    throw new BadRequest("https takes a certificate and its key: give both --tls-cert and --tls-key");
  }
  const cert = readPem(tls_cert, "certificate");
  const key = readPem(tls_key, "private key");
  let fits: boolean;
  try {
    fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch (cause) {
    throw new BadRequest(`${tls_cert} and ${tls_key} cannot be used: ${(cause as Error).message}`, { cause });
  }
  if (!fits) throw new BadRequest(`${tls_key} is not the key of the certificate in ${tls_cert}`);
  return { cert, key };
}

function readPem(path: string, what: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new BadRequest(`the ${what} cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (/^-----BEGIN [A-Z ]+-----/m.test(text)) return text;
  throw new BadRequest(`${path} holds no ${what} in PEM (RFC 7468)`);
}

/** Answers requests from the network, until closed. @throws BadRequest when the port is taken */
export async function listen(
  config: Pick<Config, "host" | "port">,
  fetch: RunningApp["fetch"],
  certificate?: Certificate,
) {
  const options = {
    port: config.port,
    hostname: config.host,
    silent: true,
    gracefulShutdown: false,
    ...(certificate ? { tls: certificate } : {}),
  } as const;
  try {
    // A stream may be silent for long; the server itself says when a wait is over.
    const server = h3serve({ fetch } as never, { ...options, bun: { idleTimeout: 0, ...ANY_BODY } });
    await server.ready();
    return { url: server.url!.replace(/\/$/, ""), close: () => server.close(true) };
  } catch (cause) {
    if ((cause as { code?: string }).code !== "EADDRINUSE") throw cause;
    throw new BadRequest(`port ${config.port} on ${config.host} is taken`, {
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
