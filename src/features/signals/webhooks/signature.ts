/** Signatures of the Standard Webhooks convention (https://www.standardwebhooks.com), version 1: HMAC-SHA256. */
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";

/** A new secret: 32 bytes, in the form in which receivers' libraries take it. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/**
 * The headers that prove where a message comes from.
 * @param secrets those that are valid now: while one takes over from another, each signs
 */
export function signedHeaders(
  { id, body, at }: { id: string; body: string; at: Date },
  secrets: readonly string[],
): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
}
