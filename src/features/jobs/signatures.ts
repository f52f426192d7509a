/** Signatures of senders: how a request to a webhook proves who sent it. */

/** What a script asks of requests to its webhooks. */
export interface SignatureRule {
  scheme: "github" | "stripe" | "slack" | "standard_webhooks" | "hmac_sha256";
  /** Path of the variable that holds the secret shared with the sender. */
  secret: string;
  /** `hmac_sha256`: the header that carries the hexadecimal or base64 digest of the body. */
  header?: string | undefined;
  /** Seconds a signed timestamp may be off. */
  tolerance_s?: number | undefined;
}
