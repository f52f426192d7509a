import { tableKit } from "../../database/kit.ts";

const { table, text, integer, boolean, timestamp, serial, index, primaryKey } = tableKit;

/** OAuth accounts at providers. The access token is in the variables that reference the account. */
export const oauthAccounts = table(
  "oauth_accounts",
  {
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    /** The client's name in the setting `oauths`. */
    client: text("client").notNull(),
    /** E-mail of the user who connected it. */
    owner: text("owner").notNull(),
    /** Encrypted with the instance key; null if the provider issued none. */
    refresh_token: text("refresh_token"),
    expires_at: timestamp("expires_at").notNull(),
    /** Lifetime of an access token, in seconds. */
    lifetime_s: integer("lifetime_s").notNull(),
    /** Error of the last refresh; null if it succeeded. */
    refresh_error: text("refresh_error"),
    failed_at: timestamp("failed_at"),
    /** True if the provider rejected the last refresh, so a retry is useless; false if it could not be reached. */
    refused: boolean("refused").notNull().default(false),
    /** The lease on refreshing the token, and its end. */
    lease_holder: text("lease_holder"),
    lease_until: timestamp("lease_until"),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [index("oauth_accounts_by_workspace").on(t.workspace_id, t.id)],
);

/** OAuth states that were used once, until they would have expired anyway. */
export const oauthUsedStates = table(
  "oauth_used_states",
  {
    /** SHA-256 of the state. */
    state: text("state").primaryKey(),
    expires_at: timestamp("expires_at").notNull(),
  },
  (t) => [index("oauth_used_states_by_expiry").on(t.expires_at)],
);

/** Links provider accounts to users by subject, since e-mail addresses there may be reassigned. */
export const oauthLogins = table(
  "oauth_logins",
  {
    client: text("client").notNull(),
    subject: text("subject").notNull(),
    email: text("email").notNull(),
  },
  (t) => [primaryKey({ columns: [t.client, t.subject] }), index("oauth_logins_by_email").on(t.email)],
);

export type OauthAccount = typeof oauthAccounts.$inferSelect;
