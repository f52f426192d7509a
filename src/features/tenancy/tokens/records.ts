/** Token records of the HTTP interface. */
import * as z from "../../../lib/zod/z.ts";
import { isoTimestamp } from "../../../platform/http/operation.ts";

/** A token as shown in lists, without its value. */
export const TruncatedToken = z.object({
  token_prefix: z.string(),
  created_at: isoTimestamp,
  last_used_at: isoTimestamp,
  label: z.string().nullish(),
  expiration: isoTimestamp.nullish(),
  scopes: z.array(z.string()).nullish(),
  workspace_id: z.string().nullish(),
  /** Whether it was created by a login, a user or a program. */
  kind: z.enum(["session", "user", "machine"]),
});
