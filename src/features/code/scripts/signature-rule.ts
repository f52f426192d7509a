/** A script's rule for signatures of requests to its webhooks. */

export const SIGNATURE_SCHEMES = ["github", "stripe", "slack", "standard_webhooks", "hmac_sha256"] as const;

/** A script's rule for signatures of requests to its webhooks. */
export interface SignatureSettings {
  scheme: (typeof SIGNATURE_SCHEMES)[number];
  /** Path of the variable that holds the secret shared with the sender. */
  secret: string;
  /** `hmac_sha256`: the header that carries the hexadecimal or base64 digest of the body. */
  header?: string | undefined;
  /** Maximum age or clock difference of a signed timestamp, in seconds. */
  tolerance_s?: number | undefined;
}

/** Schemes that sign a timestamp, so that old requests can be rejected. */
const TIMED_SCHEMES: readonly SignatureSettings["scheme"][] = ["stripe", "slack", "standard_webhooks"];

/** Whether the scheme signs a timestamp. */
export function signsTimestamp(scheme: SignatureSettings["scheme"]): boolean {
  return TIMED_SCHEMES.includes(scheme);
}
