/** Tokens as the API answers with them. */
import { z } from "zod";
import { moment } from "../../../platform/http/operation.ts";

/** A token as lists show it: never its value. */
export const TruncatedToken = z.object({
  token_prefix: z.string(),
  created_at: moment,
  last_used_at: moment,
  label: z.string().nullish(),
  expiration: moment.nullish(),
  scopes: z.array(z.string()).nullish(),
  workspace_id: z.string().nullish(),
  /** Whether a login, a person or a program made it. */
  kind: z.enum(["session", "user", "machine"]),
});
