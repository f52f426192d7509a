import { kit } from "../../database/kit.ts";

const { table, text, integer, real, json, timestamp, index } = kit;

/** The processes that run jobs, as each says of itself every few seconds. Empty where there is one process alone. */
export const workers = table(
  "workers",
  {
    /** The name that rows of its jobs carry. */
    name: text("name").primaryKey(),
    /** The machine's name. */
    instance: text("instance").notNull(),
    ip: text("ip").notNull(),
    worker_group: text("worker_group").notNull(),
    version: text("version").notNull(),
    /** Tags of the jobs it takes; null: all. */
    tags: json<string[]>("tags"),
    slots: integer("slots").notNull(),
    started_at: timestamp("started_at").notNull(),
    last_ping: timestamp("last_ping").notNull(),
    jobs_executed: integer("jobs_executed").notNull(),
    last_job: json<{ id: string; workspace_id: string }>("last_job"),
    /** Shares of its slots that were busy in the last 15 seconds, 5 and 30 minutes. */
    occupancy: json<Occupancy>("occupancy").notNull(),
    vcpus: real("vcpus").notNull(),
    /** Bytes: of the machine, used of the machine, resident of the process. */
    memory: json<{ total: number; used: number; own: number }>("memory").notNull(),
  },
  (t) => [index("workers_last_ping").on(t.last_ping)],
);

export interface Occupancy {
  last_15s: number;
  last_5m: number;
  last_30m: number;
}

export type WorkerFacts = typeof workers.$inferSelect;

/** What the workers of a group are given to do. */
export const workerGroups = table("worker_groups", {
  name: text("name").primaryKey(),
  config: json<Record<string, unknown>>("config").notNull(),
});

/** Which server leads, in its one row. Empty where there is one process alone. */
export const leaders = table("leaders", {
  name: text("name").primaryKey(),
  /** The name of its worker. */
  server: text("server").notNull(),
  /** Nobody else takes over before this. */
  held_until: timestamp("held_until").notNull(),
});
