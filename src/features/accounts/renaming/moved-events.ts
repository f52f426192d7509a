/** Sends webhook events for the items that were moved because their user was renamed. */
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { divideByKey, type Part } from "../../../database/slices.ts";
import type { App } from "../../../platform/app/context.ts";
import type { ItemKind } from "../../../platform/app/item-kind.ts";
import type { RenameParameters } from "../../../platform/app/person.ts";
import { hasListeners, recordEvents } from "../../signals/webhooks/outbox.ts";

/**
 * Records the event of each item that was moved to a path below `u/<to>/`. If a part is repeated, its events are
 * recorded again.
 */
export async function* recordMoves(app: App, db: Reader, renaming: RenameParameters): AsyncGenerator<Part> {
  const { workspace_id, to } = renaming;
  if (!(await hasListeners(db, workspace_id))) return;
  for (const kind of app.features.flatMap(({ itemKinds = [] }) => itemKinds)) {
    const { table, live, listed = live, updateEvent } = kind;
    if (!updateEvent) continue;
    const own = and(eq(table.workspace_id, workspace_id), startsWith(table.path, `u/${to}/`), listed)!;
    yield* divideByKey(db, table.path, own, (tx, slice) =>
      recordMovesIn(app, tx, renaming, { ...kind, updateEvent }, slice),
    );
  }
}

async function recordMovesIn(
  app: App,
  tx: Tx,
  { workspace_id, from, to }: RenameParameters,
  { table, updateEvent: { type, version } }: ItemKind & Required<Pick<ItemKind, "updateEvent">>,
  slice: SQL,
): Promise<void> {
  const hash = version ? sql<string>`${version.hash}` : sql<null>`NULL`;
  const rows = await tx
    .select({ path: table.path, hash })
    .from(table)
    .where(slice)
    .orderBy(asc(table.path), ...(version ? [asc(version.seq)] : []));
  const newest = new Map(rows.map((row) => [row.path, row.hash]));
  const moves = [...newest].map(([path, hash]) => {
    const moved = { old_path: `u/${from}/${path.slice(`u/${to}/`.length)}`, new_path: path };
    const keys = hash === null ? moved : { path, hash };
    return { type, keys: { workspace: workspace_id, ...keys } };
  });
  await recordEvents(app, tx, workspace_id, moves);
}
