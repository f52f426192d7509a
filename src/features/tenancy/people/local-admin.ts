import { LOCAL_ADMIN_EMAIL } from "../../../lib/text/paths.ts";
import type { Identity } from "../../../platform/app/context.ts";

/**
 * The identity of the local admin: anyone who can open the data directory or the server's socket in it. It has every
 * right and is not a user.
 */
export const LOCAL_ADMIN: Identity = {
  email: LOCAL_ADMIN_EMAIL,
  super_admin: true,
  devops: true,
  token: undefined,
};
