/** Deletes expired variables. Each deletion sends the same event as any other. */
import { and, asc, eq, lte } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import type { Retention } from "../../../platform/app/lifecycle.ts";
import {
  type Batches,
  deleteBatch,
  MAX_ROWS,
  measureTextBytes,
  splitBySize,
} from "../../../platform/loops/expired-rows.ts";
import { recordEvent } from "../../signals/webhooks/outbox.ts";
import { variables } from "../variable-tables.ts";

export const variableRetention: Retention = {
  tables: [variables],
  deleteExpired: deleteExpiredVariables,
};

async function* deleteExpiredVariables(app: App, now: Date): Batches {
  const { workspace_id, path, expires_at, value } = variables;
  for (;;) {
    const rows = await app.db.read
      .select({ workspace_id, path, size: measureTextBytes(value) })
      .from(variables)
      .where(lte(expires_at, now))
      .orderBy(asc(expires_at))
      .limit(MAX_ROWS);
    for (const some of splitBySize(rows)) {
      await deleteBatch(app.db, async (tx) => {
        for (const row of some) {
          // Checked again, because its expiry may have been extended.
          const deleted = await tx
            .delete(variables)
            .where(and(eq(workspace_id, row.workspace_id), eq(path, row.path), lte(expires_at, now)))
            .returning({ path });
          if (deleted.length === 0) continue;
          const keys = { workspace: row.workspace_id, path: row.path };
          await recordEvent(app, tx, row.workspace_id, { type: "DeleteVariable", keys });
        }
      });
      yield;
    }
    if (rows.length < MAX_ROWS) return;
  }
}
