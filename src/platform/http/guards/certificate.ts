/** The TLS certificate: loaded and checked at the start, and reloaded when its files change. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Service } from "../../../lib/async/service.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { Log } from "../../../lib/logging/log.ts";
import type { Config } from "../../config/config.ts";
import { createPeriodicTask } from "../../loops/periodic-task.ts";

export interface Certificate {
  cert: string;
  key: string;
}

/**
 * Loads the certificate.
 * @throws BadRequest if only one of the two files is set, or one cannot be read or is invalid
 */
export function readCertificate({
  tls_cert,
  tls_key,
}: Pick<Config, "tls_cert" | "tls_key">): Certificate | undefined {
  if (tls_cert === undefined && tls_key === undefined) return undefined;
  if (tls_cert === undefined || tls_key === undefined) {
    throw new BadRequest("HTTPS needs a certificate and its key: give both --tls-cert and --tls-key");
  }
  const cert = readPem(tls_cert, "certificate");
  const key = readPem(tls_key, "private key");
  let fits: boolean;
  try {
    fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    // The file may hold a chain; this parses all of it, as the listener will.
    if (fits) createSecureContext({ cert, key });
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
  throw new BadRequest(`${path} contains no ${what} in PEM (RFC 7468)`);
}

/** Polling interval of the files, which are a few kilobytes. */
const POLL_INTERVAL_MS = 2_000;
/** Failed reads in a row before a mismatch is reported: renewal tools write one file after the other. */
const MAX_FAILED_READS = 5;

export interface CertificateListener {
  /** Starts using another certificate. If it throws, the renewal is tried again. */
  renew(certificate: Certificate): Promise<void>;
  log: Log;
  /** Called once per rejected renewal, with the reason why the previous certificate stays in use. */
  complain(reason: string): void;
}

/** Watches the certificate's files and applies renewals until stopped, however the files are replaced. */
export function watchCertificate(
  files: Pick<Config, "tls_cert" | "tls_key">,
  first: Certificate,
  { renew, complain, log }: CertificateListener,
): Service {
  let current = first;
  let refused = 0;
  async function look(): Promise<void> {
    try {
      const found = readCertificate(files);
      if (found && (found.cert !== current.cert || found.key !== current.key)) {
        await renew(found);
        current = found;
      }
      refused = 0;
    } catch (cause) {
      if (++refused === MAX_FAILED_READS) complain((cause as Error).message);
    }
  }
  return createPeriodicTask(
    { clock: () => new Date(), log },
    {
      failure_message: "the certificate could not be checked",
      first_delay_ms: POLL_INTERVAL_MS,
      interval_ms: POLL_INTERVAL_MS,
      run: look,
    },
  );
}
