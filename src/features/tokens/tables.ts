import { kit } from "../../database/kit.ts";

const { table, text, timestamp, json, index } = kit;

/** Tokens are stored as SHA-256 only: the value is shown once, when it is made. */
export const tokens = table(
  "tokens",
  {
    hash: text("hash").primaryKey(),
    /** First 10 characters of the value, to tell tokens apart in lists. */
    prefix: text("prefix").notNull(),
    email: text("email").notNull(),
    label: text("label"),
    expiration: timestamp("expiration"),
    scopes: json<string[]>("scopes"),
    workspace_id: text("workspace_id"),
    kind: text("kind").$type<"session" | "user" | "machine">().notNull(),
    created_at: timestamp("created_at").notNull(),
    last_used_at: timestamp("last_used_at").notNull(),
  },
  (t) => [index("tokens_by_email").on(t.email)],
);
