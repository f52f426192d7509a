import { tableKit } from "../../../database/kit.ts";

const { table, text, timestamp, serial } = tableKit;

/** The history of license renewals, one row per attempt. */
export const licenseRenewals = table("license_renewals", {
  id: serial("id"),
  attempted_at: timestamp("attempted_at").notNull(),
  /** `success`, or the error message. */
  result: text("result").notNull(),
});
