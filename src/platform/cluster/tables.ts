import { tableKit } from "../../database/kit.ts";

const { table, text, integer, real, json, timestamp, index } = tableKit;

/** Worker processes, as each describes itself every few seconds. Empty when only one process uses the database. */
export const workers = table(
  "workers",
  {
    /** Value of `jobs.worker` in its jobs. */
    name: text("name").primaryKey(),
    /** Host name of the machine. */
    instance: text("instance").notNull(),
    ip: text("ip").notNull(),
    worker_group: text("worker_group").notNull(),
    version: text("version").notNull(),
    /** Tags of the jobs it accepts; null: all. */
    tags: json<string[]>("tags"),
    slots: integer("slots").notNull(),
    started_at: timestamp("started_at").notNull(),
    last_ping: timestamp("last_ping").notNull(),
    jobs_executed: integer("jobs_executed").notNull(),
    last_job: json<{ id: string; workspace_id: string }>("last_job"),
    /** Shares of its slots that were busy in the last 15 seconds, 5 minutes and 30 minutes. */
    occupancy: json<Occupancy>("occupancy").notNull(),
    vcpus: real("vcpus").notNull(),
    /** Bytes: total of the machine, used on the machine, resident in the process. */
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

/** Configuration of worker groups. */
export const workerGroups = table("worker_groups", {
  name: text("name").primaryKey(),
  config: json<Record<string, unknown>>("config").notNull(),
});

/** The current leader, in one row. Empty when only one process uses the database. */
export const leaders = table("leaders", {
  name: text("name").primaryKey(),
  /** Worker name of the leading server. */
  server: text("server").notNull(),
  /** No other server takes over before this time. */
  held_until: timestamp("held_until").notNull(),
});
