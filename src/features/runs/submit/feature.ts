import { eq, sql } from "drizzle-orm";
import { unindexed } from "../../../database/conditions.ts";
import type { EncryptedColumns } from "../../../platform/app/lifecycle.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { abandonJobs } from "./abandon.ts";
import { cancelJobsWhere } from "./find-and-cancel.ts";

/** Jobs that have not ended: few, and found by the index of their state, whose condition is written out. */
const hasState = (state: "queued" | "running"): EncryptedColumns => ({
  columns: [jobs.args, jobs.preprocessor_input, jobs.flow_body, jobs.raw_flow],
  key: [jobs.id],
  email: jobs.email,
  rows: (workspace_id) =>
    sql`${eq(jobs.workspace_id, workspace_id)} AND ${jobs.state} = ${sql.raw(`'${state}'`)}`,
});

export const feature = defineFeature({
  folder: "runs/submit",
  operations: {},
  encryptedColumns: [hasState("queued"), hasState("running")],
  on: {
    /** Flows are canceled first: they take their steps with them. */
    workspaceClosing: (ctx, workspace_id, { reason, which }) =>
      cancelJobsWhere(ctx, unindexed(eq(jobs.workspace_id, workspace_id)), reason, {
        which,
        as: { operation: "jobs.cancel", action_kind: "Delete" },
      }),
    jobsAbandoned: abandonJobs,
  },
});
