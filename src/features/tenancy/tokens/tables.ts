import { tableKit } from "../../../database/kit.ts";

const { table, text, integer, timestamp, json, serial, index } = tableKit;

/** Number of leading characters of a token that lists show. */
export const TOKEN_PREFIX_CHARS = 10;

/** Tokens, stored as SHA-256 hashes; the value is shown once, when the token is created. */
export const tokens = table(
  "tokens",
  {
    hash: text("hash").primaryKey(),
    /** First characters of the value, to tell tokens apart in lists. */
    prefix: text("prefix").notNull(),
    email: text("email").notNull(),
    label: text("label"),
    expiration: timestamp("expiration"),
    scopes: json<string[]>("scopes"),
    workspace_id: text("workspace_id"),
    /**
     * Its origin: a login, a user for themselves, or a program for itself. Nobody is notified when the last kind
     * expires.
     */
    kind: text("kind").$type<"session" | "user" | "machine">().notNull(),
    created_at: timestamp("created_at").notNull(),
    last_used_at: timestamp("last_used_at").notNull(),
    /** When the owner was notified that it expires soon; null until then. */
    notified_at: timestamp("notified_at"),
  },
  (t) => [index("tokens_by_email").on(t.email), index("tokens_by_expiration").on(t.expiration)],
);

/**
 * Outbox of notices about expiring and expired tokens, inserted in the same transaction as the webhook event. A row is
 * deleted once it is sent. The token itself may be deleted before that.
 */
export const tokenNotices = table(
  "token_notices",
  {
    id: serial("id"),
    channel: text("channel").$type<"mail" | "alert">().notNull(),
    type: text("type").$type<"TokenExpiringSoon" | "TokenExpired">().notNull(),
    email: text("email").notNull(),
    token_prefix: text("token_prefix").notNull(),
    label: text("label"),
    workspace_id: text("workspace_id"),
    expiration: timestamp("expiration").notNull(),
    created_at: timestamp("created_at").notNull(),
    attempts: integer("attempts").notNull(),
    /** Not sent before this time: another server holds the lease, or the last attempt failed. */
    next_at: timestamp("next_at").notNull(),
  },
  (t) => [index("token_notices_by_next").on(t.next_at)],
);
