import { LOCAL_ADMIN_EMAIL } from "../../../lib/text/paths.ts";
import type { Identity } from "../../../platform/app/context.ts";

/** Whoever works on the machine itself, through the data directory or the server's socket in it: above all users. */
export const OPERATOR: Identity = {
  email: LOCAL_ADMIN_EMAIL,
  super_admin: true,
  devops: true,
  token: undefined,
};
