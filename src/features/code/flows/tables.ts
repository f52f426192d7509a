import { sql, tableKit } from "../../../database/kit.ts";
import type { PinnedImport } from "../scripts/tables.ts";
import type { StoredFlow } from "./value/walk-steps.ts";

const { table, text, integer, boolean, timestamp, json, serial, index, primaryKey } = tableKit;

/** One row per path: fields that do not depend on the version, and which version runs. */
export const flows = table(
  "flows",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Id of the newest version. */
    version: integer("version").notNull(),
    /** Id of the newest version whose scripts are locked, which the path runs. Null if there is none. */
    ready_version: integer("ready_version"),
    summary: text("summary").notNull(),
    description: text("description").notNull(),
    tag: text("tag"),
    priority: integer("priority"),
    timeout: integer("timeout"),
    ws_error_handler_muted: boolean("ws_error_handler_muted").notNull(),
    dedicated_worker: boolean("dedicated_worker").notNull(),
    visible_to_runner_only: boolean("visible_to_runner_only").notNull(),
    on_behalf_of_email: text("on_behalf_of_email"),
    /** Fields that clients sent and this version does not know, or sent empty; see `unknown-fields.ts`. */
    extra: json<Record<string, unknown>>("extra"),
    draft_only: boolean("draft_only").notNull(),
    archived: boolean("archived").notNull(),
    edited_by: text("edited_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

/** One row per version. Steps are immutable; locks of inline scripts are filled in once. */
export const flowVersions = table(
  "flow_versions",
  {
    /** Sequential over the whole instance; used in `fv/` paths. */
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    value: json<StoredFlow>("value").notNull(),
    schema: json<unknown>("schema"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    deployment_msg: text("deployment_msg"),
    /** False while dependencies are being resolved, or if that failed. */
    ready: boolean("ready").notNull(),
    lock_error_logs: text("lock_error_logs"),
    /** The scripts its inline scripts import; null for none. */
    imports: json<PinnedImport[]>("imports"),
    /** The job that resolves the dependencies. */
    lock_job: text("lock_job"),
  },
  (t) => [index("flow_versions_by_path").on(t.workspace_id, t.path, t.id)],
);

/**
 * One row per frame: a running flow, loop iteration or branch; each has its own job. The flow engine writes the state
 * as a whole at each transition.
 */
export const flowFrames = table(
  "flow_frames",
  {
    job_id: text("job_id").primaryKey(),
    /** Job id of the outermost flow: the frame's own or an ancestor's. */
    root_job: text("root_job").notNull(),
    state: json<unknown>("state").notNull(),
    /**
     * Incremented on the outermost frame by each transition of the run (optimistic locking): of two concurrent ones,
     * the later fails.
     */
    version: integer("version").notNull(),
    /** When the frame continues without an event. */
    wake_at: timestamp("wake_at"),
  },
  (t) => [
    index("flow_frames_by_root").on(t.root_job),
    index("flow_frames_wake").on(t.wake_at).where(sql`wake_at IS NOT NULL`),
  ],
);

/** Items of loops, written once per loop. */
export const flowItems = table(
  "flow_items",
  {
    job_id: text("job_id").notNull(),
    module_id: text("module_id").notNull(),
    items: json<unknown[]>("items").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.module_id] })],
);

/** Approvals, by the job of the step that requests them. */
export const flowResumes = table(
  "flow_resumes",
  {
    job_id: text("job_id").notNull(),
    resume_id: integer("resume_id").notNull(),
    /** The suspended frame. */
    frame_id: text("frame_id").notNull(),
    value: json<unknown>("value"),
    approver: text("approver"),
    approved: boolean("approved").notNull(),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.resume_id] }), index("flow_resumes_by_frame").on(t.frame_id)],
);

/** Values that scripts of a flow run share. */
export const flowUserStates = table(
  "flow_user_states",
  {
    job_id: text("job_id").notNull(),
    key: text("key").notNull(),
    value: json<unknown>("value"),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.key] })],
);

export type Flow = typeof flows.$inferSelect;
export type FlowVersion = typeof flowVersions.$inferSelect;
export type FlowFrame = typeof flowFrames.$inferSelect;
export type FlowResume = typeof flowResumes.$inferSelect;
