import { and, eq, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../database/conditions.ts";
import type { EncryptedColumns } from "../../../platform/app/lifecycle.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { sliceQueue } from "../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { raiseFlowVersion } from "../flows/plan/flow-version.ts";
import { abandonJobs } from "./abandon.ts";
import { cancelJobsWhere } from "./find-and-cancel.ts";

const ofWorkspace = (workspace_id: string) => preventIndexUse(eq(jobs.workspace_id, workspace_id));

const jobColumns = {
  columns: [jobs.args, jobs.preprocessor_input, jobs.flow_body, jobs.raw_flow],
  key: [jobs.id],
  email: jobs.email,
  rows: ofWorkspace,
} as const;

const queuedJobs: EncryptedColumns = {
  ...jobColumns,
  async *slices(db, workspace_id) {
    for await (const slice of sliceQueue(db)) yield and(slice, ofWorkspace(workspace_id))!;
  },
};

/** The state is a literal, as in the index's condition. */
const runningJobs: EncryptedColumns = {
  ...jobColumns,
  rows: (workspace_id) => and(ofWorkspace(workspace_id), sql`${jobs.state} = 'running'`)!,
  // A transition of the flow that has read the old text is repeated and reads the new one.
  onChanged: (tx, [id]) => raiseFlowVersion(tx, String(id)),
};

const plannedJobs: EncryptedColumns = {
  ...jobColumns,
  rows: (workspace_id) => and(ofWorkspace(workspace_id), sql`${jobs.state} = 'planned'`)!,
};

/** Held while the id of their workspace changes; afterwards they return to the queue. */
const heldJobs: EncryptedColumns = {
  ...jobColumns,
  rows: (workspace_id) => and(ofWorkspace(workspace_id), sql`${jobs.state} = 'held'`)!,
};

export const feature = defineFeature({
  folder: "runs/submit",
  operations: {},
  // Planned jobs may be queued in the meantime, and running ones may return to the queue.
  encryptedColumns: [plannedJobs, heldJobs, queuedJobs, runningJobs, queuedJobs],
  on: {
    /** Flows are canceled first, together with their steps. */
    workspaceClosing: (ctx, workspace_id, { reason, which }) =>
      cancelJobsWhere(ctx, ofWorkspace(workspace_id), reason, {
        which,
        as: { operation: "jobs.cancel", action_kind: "Delete" },
      }),
    jobsAbandoned: abandonJobs,
  },
});
