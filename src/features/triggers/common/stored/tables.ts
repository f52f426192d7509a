import { tableKit } from "../../../../database/kit.ts";
import type { UnknownFields } from "../../../tenancy/rights/unknown-fields.ts";
import type { StoredKindName } from "./kinds.ts";

const { table, text, boolean, timestamp, json, primaryKey } = tableKit;

/** Triggers of the kinds that are stored and never run. */
export const storedTriggers = table(
  "stored_triggers",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    kind: text("kind").$type<StoredKindName>().notNull(),
    /** The script or flow that it names, which need not exist; empty if it names none. */
    script_path: text("script_path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    enabled: boolean("enabled").notNull(),
    /** All other fields as the client sent them; `enabled` and `mode` too, if it sent them. */
    value: json<UnknownFields>("value").notNull(),
    edited_by: text("edited_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    email: text("email").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path, t.kind] })],
);

export type StoredTrigger = typeof storedTriggers.$inferSelect;
