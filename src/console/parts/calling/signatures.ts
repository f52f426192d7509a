/** Rules for signatures of requests. */
import type { Script } from "../../api/interface.d.ts";

export type Signature = NonNullable<Script["signature"]>;
export type Scheme = Signature["scheme"];

export const SCHEMES: { value: Scheme; label: string }[] = [
  { value: "github", label: "GitHub" },
  { value: "stripe", label: "Stripe" },
  { value: "slack", label: "Slack" },
  { value: "standard_webhooks", label: "Standard Webhooks" },
  { value: "hmac_sha256", label: "HMAC with SHA-256 in a header" },
];

export const NEW_SIGNATURE: Signature = { scheme: "standard_webhooks", secret: "" };

export const getSchemeLabel = (scheme: Scheme): string =>
  SCHEMES.find(({ value }) => value === scheme)?.label ?? scheme;

export const isSignatureComplete = ({ scheme, secret, header }: Signature): boolean =>
  secret !== "" && (scheme !== "hmac_sha256" || Boolean(header));

/** Returns the rule as it is sent, without fields that its scheme does not use. */
export const normalizeSignature = ({ scheme, secret, header, tolerance_s }: Signature): Signature => ({
  scheme,
  secret,
  header: scheme === "hmac_sha256" ? (header ?? null) : null,
  tolerance_s: tolerance_s ?? null,
});
