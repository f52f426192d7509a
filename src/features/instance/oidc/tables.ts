import type { JWK } from "jose";
import { kit } from "../../../database/kit.ts";

const { table, text, timestamp, json } = kit;

/** The keys that identity tokens of jobs are signed with: one signs, those before and after it can be checked by. */
export const oidcKeys = table("oidc_keys", {
  kid: text("kid").primaryKey(),
  public_jwk: json<JWK>("public_jwk").notNull(),
  /** PKCS #8 PEM, sealed with the instance key. */
  sealed_key: text("sealed_key").notNull(),
  created_at: timestamp("created_at").notNull(),
});
