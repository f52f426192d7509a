import type { Identity } from "../../context.ts";

/** Whoever works on the machine itself, through the data directory or the server's socket in it: above all users. */
export const OPERATOR: Identity = {
  email: "operator@localhost",
  super_admin: true,
  devops: true,
  token: undefined,
};
