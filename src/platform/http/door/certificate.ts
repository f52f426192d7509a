/** The certificate that https is spoken with: read and checked at the start, and again whenever its files change. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Service } from "../../../lib/async/start-stop.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { Log } from "../../../lib/logging/log.ts";
import type { Config } from "../../config/config.ts";
import { createPeriodicTask } from "../../loops/periodic-task.ts";

export interface Certificate {
  cert: string;
  key: string;
}

/** @throws BadRequest when only one of the two files is named, or one cannot be read or does not hold what it should */
export function readCertificate({
  tls_cert,
  tls_key,
}: Pick<Config, "tls_cert" | "tls_key">): Certificate | undefined {
  if (tls_cert === undefined && tls_key === undefined) return undefined;
  if (tls_cert === undefined || tls_key === undefined) {
    throw new BadRequest("https takes a certificate and its key: give both --tls-cert and --tls-key");
  }
  const cert = readPem(tls_cert, "certificate");
  const key = readPem(tls_key, "private key");
  let fits: boolean;
  try {
    fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    // The file may hold a chain: this reads all of it, as the listener will.
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
  throw new BadRequest(`${path} holds no ${what} in PEM (RFC 7468)`);
}

/** How often the files are looked at; reading some kilobytes is nothing. */
const INTERVAL_MS = 2_000;
/** Whoever renews writes one file after the other: what does not fit is complained of when it still does not then. */
const PATIENCE = 5;

export interface Watched {
  /** Takes up another certificate. @throws when it cannot be; it is then tried again */
  renew(certificate: Certificate): Promise<void>;
  log: Log;
  /** Why the one before stays, once each time. */
  complain(reason: string): void;
}

/** Has a certificate that was renewed taken up, whichever way its files were replaced, until stopped. */
export function watchCertificate(
  files: Pick<Config, "tls_cert" | "tls_key">,
  first: Certificate,
  { renew, complain, log }: Watched,
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
      if (++refused === PATIENCE) complain((cause as Error).message);
    }
  }
  return createPeriodicTask(
    { clock: () => new Date(), log },
    {
      failure: "the certificate could not be looked at",
      first_ms: INTERVAL_MS,
      interval_ms: INTERVAL_MS,
      run: look,
    },
  );
}
