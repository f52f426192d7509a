import type { JWK } from "jose";
import { tableKit } from "../../../database/kit.ts";

const { table, text, timestamp, json } = tableKit;

/** Signing keys of identity tokens. One signs; older and newer ones are published for verification. */
export const oidcKeys = table("oidc_keys", {
  kid: text("kid").primaryKey(),
  public_jwk: json<JWK>("public_jwk").notNull(),
  /** PKCS #8 PEM, encrypted with the instance key. */
  sealed_key: text("sealed_key").notNull(),
  created_at: timestamp("created_at").notNull(),
});
