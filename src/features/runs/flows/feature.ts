import { type AnyColumn, eq, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../database/conditions.ts";
import type { EncryptedColumns } from "../../../platform/app/lifecycle.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { flowFrames, flowItems, flowResumes } from "../../code/flows/tables.ts";
import { FLOW_STATE_COLUMNS } from "./plan/delete-flow-state.ts";
import { raiseFlowVersion } from "./plan/flow-version.ts";
import { wakeFlowsAt } from "./plan/wake-times.ts";
import { shiftWakeTimes } from "./wake/clock-change.ts";

/**
 * SQL condition: the frame belongs to an unfinished flow, which is stored as a running job. The state is a literal, as
 * in the index's condition.
 */
const whereFlowRuns = (frame: AnyColumn, workspace_id: string) =>
  sql`${frame} IN (SELECT ${jobs.id} FROM ${jobs} WHERE ${preventIndexUse(eq(jobs.workspace_id, workspace_id))} AND ${jobs.state} = 'running')`;

/**
 * Declares a column of a flow run's tables that may contain encrypted values.
 * @param frame the column that names the frame's job
 * @param key columns that identify the row; the frame's job comes first
 */
function encrypted(frame: AnyColumn, column: AnyColumn, key: readonly AnyColumn[]): EncryptedColumns {
  return {
    columns: [column],
    key,
    email: sql`(SELECT ${jobs.email} FROM ${jobs} WHERE ${jobs.id} = ${frame})`,
    rows: (workspace_id) => whereFlowRuns(frame, workspace_id),
    // A transition in progress has read the old text: it is repeated and reads the new one.
    onChanged: (tx, [frame_id]) => raiseFlowVersion(tx, String(frame_id)),
  };
}

export const feature = defineFeature({
  folder: "runs/flows",
  operations: {},
  jobColumns: FLOW_STATE_COLUMNS,
  encryptedColumns: [
    encrypted(flowFrames.job_id, flowFrames.state, [flowFrames.job_id]),
    encrypted(flowItems.job_id, flowItems.items, [flowItems.job_id, flowItems.module_id]),
    encrypted(flowResumes.frame_id, flowResumes.value, [
      flowResumes.frame_id,
      flowResumes.job_id,
      flowResumes.resume_id,
    ]),
  ],
  on: {
    async clockSetBack(app, by_ms) {
      await shiftWakeTimes(app, by_ms);
      wakeFlowsAt(app, app.clock());
    },
  },
});
