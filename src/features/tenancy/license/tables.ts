import { kit } from "../../../database/kit.ts";

const { table, text, timestamp, serial } = kit;

/** Every attempt to renew the licence. */
export const licenseRenewals = table("license_renewals", {
  id: serial("id"),
  attempted_at: timestamp("attempted_at").notNull(),
  /** `success`, or what went wrong. */
  result: text("result").notNull(),
});
