import { kit } from "../../database/kit.ts";

const { table, text, integer, boolean, timestamp, serial, index, primaryKey } = kit;

/** Accounts at providers. The access token stands in the variables that name the account. */
export const oauthAccounts = table(
  "oauth_accounts",
  {
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    /** The name in the setting `oauths`. */
    client: text("client").notNull(),
    /** E-mail of who connected it. */
    owner: text("owner").notNull(),
    /** Sealed with the instance key; null when the provider gave none. */
    refresh_token: text("refresh_token"),
    expires_at: timestamp("expires_at").notNull(),
    /** For how long a token of this provider holds, in seconds. */
    lifetime_s: integer("lifetime_s").notNull(),
    /** Why the last refresh failed; null when it did not. */
    refresh_error: text("refresh_error"),
    failed_at: timestamp("failed_at"),
    /** Whether the provider refused, and would again; else it could not be asked. */
    refused: boolean("refused").notNull().default(false),
    /** Who refreshes it right now, and until when nobody else does. */
    lease_holder: text("lease_holder"),
    lease_until: timestamp("lease_until"),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [index("oauth_accounts_by_workspace").on(t.workspace_id, t.id)],
);

/** States that have come back once, until they would have expired anyway. */
export const oauthUsedStates = table(
  "oauth_used_states",
  {
    /** SHA-256. */
    state: text("state").primaryKey(),
    expires_at: timestamp("expires_at").notNull(),
  },
  (t) => [index("oauth_used_states_by_expiry").on(t.expires_at)],
);

/** Whom a provider's account logs in: an e-mail address there may change hands, its subject does not. */
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
