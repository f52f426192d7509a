/** Tells webhooks of the items that moved with their user. */
import { and, asc, eq, sql } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import type { RenameParameters } from "../../../platform/app/person.ts";
import { hasListeners, recordEvent } from "../../signals/webhooks/outbox.ts";

/** Records the event of each item that stands below `u/<to>/`, where nothing stood before. */
export async function recordMoves(
  app: App,
  tx: Tx,
  { workspace_id, from, to }: RenameParameters,
): Promise<void> {
  if (!(await hasListeners(tx, workspace_id))) return;
  const kinds = app.features.flatMap(({ itemKinds = [] }) => itemKinds);
  for (const { table, live, listed = live, updateEvent } of kinds) {
    if (!updateEvent) continue;
    const { type, version } = updateEvent;
    const hash = version ? sql<string>`${version.hash}` : sql<null>`NULL`;
    const rows = await tx
      .select({ path: table.path, hash })
      .from(table)
      .where(and(eq(table.workspace_id, workspace_id), startsWith(table.path, `u/${to}/`), listed))
      .orderBy(asc(table.path), ...(version ? [asc(version.seq)] : []));
    const newest = new Map(rows.map((row) => [row.path, row.hash]));
    for (const [path, hash] of newest) {
      const moved = { old_path: `u/${from}/${path.slice(`u/${to}/`.length)}`, new_path: path };
      const keys = hash === null ? moved : { path, hash };
      await recordEvent(app, tx, workspace_id, { type, keys: { workspace: workspace_id, ...keys } });
    }
  }
}
