/**
 * Signed licenses: JWTs (RFC 7519) signed with Ed25519 (RFC 8037), so a server verifies them offline. No vendor key is
 * built in: the issuer of licenses creates a key pair (`svc license keygen`), keeps the private key and configures
 * instances to trust the public one.
 */
import { BadRequest } from "../../../lib/errors.ts";
import { describeIssues } from "../../../lib/validation-messages.ts";
import * as z from "../../../lib/zod/z.ts";

/** Loads jose on first use, because it would slow down the server's start. */
const loadJose = () => import("jose");

/** The JWT `typ` of a license; it tells a license from any other token signed with the same key. */
const LICENSE_TOKEN_TYPE = "svc-license+jwt";
/** 32 bytes in base64url: the public key as RFC 8037 §2 has it in `x`. */
const PUBLIC_KEY_PATTERN = /^[\w-]{43}$/;

const HttpUrl = z.url({ protocol: /^https?$/ });

const LicenseClaims = z.object({
  jti: z.string().min(1).max(100),
  /** The customer. */
  sub: z.string().min(1).max(200),
  iat: z.number().int(),
  exp: z.number().int(),
  seats: z.number().int().optional(),
  /** URL at which the instance renews its license: it posts the current one and receives the new one as text. */
  renewal_url: HttpUrl.optional(),
  portal_url: HttpUrl.optional(),
});

export interface License {
  id: string;
  customer: string;
  issued_at: Date;
  expires_at: Date;
  seats?: number | undefined;
  renewal_url?: string | undefined;
  portal_url?: string | undefined;
}

/** Creates a key pair: the private key as PKCS #8 PEM, the public key as 43 characters of base64url. */
export async function createKeyPair(): Promise<{ private_pem: string; public_key: string }> {
  const { generateKeyPair, exportPKCS8, exportJWK } = await loadJose();
  const { privateKey, publicKey } = await generateKeyPair("Ed25519", { extractable: true });
  return { private_pem: await exportPKCS8(privateKey), public_key: (await exportJWK(publicKey)).x! };
}

/** Signs a license. @throws BadRequest when the PEM holds no private Ed25519 key */
export async function signLicense(license: License, private_pem: string): Promise<string> {
  const { CompactSign, importPKCS8 } = await loadJose();
  const key = await importPKCS8(private_pem, "Ed25519").catch((cause) => {
    throw new BadRequest("this is not a private key as svc license keygen makes it", { cause });
  });
  const claims: z.input<typeof LicenseClaims> = {
    jti: license.id,
    sub: license.customer,
    iat: Math.floor(license.issued_at.getTime() / 1000),
    exp: Math.floor(license.expires_at.getTime() / 1000),
    seats: license.seats,
    renewal_url: license.renewal_url,
    portal_url: license.portal_url,
  };
  return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: "EdDSA", typ: LICENSE_TOKEN_TYPE })
    .sign(key);
}

/**
 * Verifies and parses a license that was signed with one of the public keys. Does not check whether it has expired.
 * @param public_keys one or several, separated by spaces or commas: an old and a new one during key rotation
 * @throws BadRequest saying what is wrong; the key itself is not quoted
 */
export async function readLicense(text: string, public_keys: string | undefined): Promise<License> {
  const trusted = parsePublicKeys(public_keys);
  if (trusted.length === 0) {
    throw new BadRequest("no public key is set to check a license with", {
      hint: "set SVC_LICENSE_PUBLIC_KEY, or the setting license_public_key, to what svc license keygen printed",
    });
  }
  for (const x of trusted) {
    const payload = await verifyPayload(text.trim(), x);
    if (payload !== undefined) return parseClaims(payload);
  }
  throw new BadRequest("the license was not signed with the key that this instance trusts");
}

/** Splits the list of trusted public keys. @throws BadRequest for a malformed key */
export function parsePublicKeys(public_keys: string | undefined): string[] {
  const keys = (public_keys ?? "").split(/[\s,]+/).filter((word) => word !== "");
  const wrong = keys.find((key) => !PUBLIC_KEY_PATTERN.test(key));
  if (wrong === undefined) return keys;
  throw new BadRequest(
    `"${wrong.slice(0, 60)}" is not a public key of licenses: svc license keygen prints one of 43 characters`,
  );
}

/** Returns the payload, or undefined if another key signed it. @throws BadRequest if the text is not a license */
async function verifyPayload(text: string, x: string): Promise<unknown> {
  const { compactVerify, errors, importJWK } = await loadJose();
  const key = await importJWK({ kty: "OKP", crv: "Ed25519", x }, "EdDSA").catch((cause) => {
    throw new BadRequest(`"${x}" is not a public key of licenses`, { cause });
  });
  try {
    const { payload, protectedHeader } = await compactVerify(text, key, { algorithms: ["EdDSA", "Ed25519"] });
    if (protectedHeader.typ !== LICENSE_TOKEN_TYPE)
      throw new BadRequest("this is a signed token, but not a license");
    return JSON.parse(new TextDecoder().decode(payload));
  } catch (cause) {
    if (cause instanceof errors.JWSSignatureVerificationFailed) return undefined;
    if (cause instanceof BadRequest) throw cause;
    throw new BadRequest("this is not a license: it must be the text that svc license issue prints", {
      cause,
    });
  }
}

function parseClaims(payload: unknown): License {
  const parsed = LicenseClaims.safeParse(payload);
  if (!parsed.success)
    throw new BadRequest(`the license is incomplete: ${describeIssues("value", parsed.error, payload)}`);
  const { jti, sub, iat, exp, ...rest } = parsed.data;
  return {
    id: jti,
    customer: sub,
    issued_at: new Date(iat * 1000),
    expires_at: new Date(exp * 1000),
    ...rest,
  };
}
