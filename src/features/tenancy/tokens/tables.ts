import { kit } from "../../../database/kit.ts";

const { table, text, integer, timestamp, json, serial, index } = kit;

/** First characters of a token that are shown. */
export const PREFIX_LENGTH = 10;

/** Tokens are stored as SHA-256 only: the value is shown once, when it is made. */
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
    /** Who made it: a login, a person for themselves, or a program for itself, whose end is nobody's business. */
    kind: text("kind").$type<"session" | "user" | "machine">().notNull(),
    created_at: timestamp("created_at").notNull(),
    last_used_at: timestamp("last_used_at").notNull(),
    /** When it was told that it ends soon; null until then. */
    notified_at: timestamp("notified_at"),
  },
  (t) => [index("tokens_by_email").on(t.email), index("tokens_by_expiration").on(t.expiration)],
);

/**
 * What is still to be told of tokens that end soon or have ended: stored with the event that says the same, gone once
 * it is told. The token itself may be gone by then.
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
    /** Nobody takes it before this: one is telling it, or has failed and waits. */
    next_at: timestamp("next_at").notNull(),
  },
  (t) => [index("token_notices_by_next").on(t.next_at)],
);
