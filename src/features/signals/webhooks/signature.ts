/** Webhook signatures: Standard Webhooks (https://www.standardwebhooks.com), version 1, HMAC-SHA256. */
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";

/** Creates a secret: 32 random bytes in the `whsec_` format that receivers' libraries expect. */
export function createWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/**
 * Returns the headers that authenticate a message.
 * @param secrets all valid ones: during a rotation each of them signs
 */
export function createSignatureHeaders(
  { id, body, at }: { id: string; body: string; at: Date },
  secrets: readonly string[],
): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
}
