/**
 * Rows of the audit log and the entries that share them. An entry costs an index entry and a row of its own otherwise,
 * which is a tenth of the work that a call of a webhook makes for SQLite.
 */
import { type LogInsert, prepareBatchedStatement, prepareStatement } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import type { AuditRow } from "../../../platform/app/create-context.ts";
import { auditLog, type Repeat } from "./tables.ts";

const namedParameter = sql.placeholder;

type Row = typeof auditLog.$inferSelect;

/** An audit entry as readers see it. */
export type AuditEntry = Omit<Row, "repeats">;

/** Maximum number of entries in a row, so that reading a page of rows stays quick. */
const MAX_ENTRIES = 50;
/** Number of groups with which a row is compared, so that many different rows take little time. */
const MAX_COMPARED = 8;
/** Entries of different seconds do not share a row, so that a search by time knows which rows it needs. */
export const SHARED_MS = 1_000;

const columns = {
  workspace_id: namedParameter("workspace_id"),
  timestamp: namedParameter("timestamp"),
  username: namedParameter("username"),
  email: namedParameter("email"),
  operation: namedParameter("operation"),
  action_kind: namedParameter("action_kind"),
  resource: namedParameter("resource"),
  parameters: namedParameter("parameters"),
};

const insertStatement = prepareBatchedStatement<Omit<AuditEntry, "id">, unknown>(
  (q) => q.insert(auditLog).values(columns as unknown as Row),
  () => undefined,
);

/** Takes one id for each entry of the row. Only for SQLite, whose AUTOINCREMENT keeps the last id in this table. */
const lastId = sql`coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit_log'), 0)`;
const insertSharedStatement = prepareStatement<Omit<Row, "id"> & { entries: number }, unknown>((q) =>
  q.insert(auditLog).values({
    ...columns,
    id: sql`${lastId} + ${namedParameter("entries")}`,
    repeats: namedParameter("repeats"),
  } as unknown as Row),
);

/** Inserts entries, in as few rows as possible. */
export const auditInsert: LogInsert<AuditRow> = {
  insert(tx, rows) {
    if (rows.length === 1) return tx.exec(insertStatement, toColumns(rows[0]!));
    return insertGroups(tx, groupAlike(rows));
  },
};

async function insertGroups(
  tx: Parameters<(typeof auditInsert)["insert"]>[0],
  groups: readonly AuditRow[][],
): Promise<void> {
  for (const group of groups) {
    const newest = toColumns(group.at(-1)!);
    if (group.length === 1) {
      await tx.exec(insertStatement, newest);
      continue;
    }
    const repeats = group
      .slice(0, -1)
      .map(({ timestamp, parameters }): Repeat => [timestamp.getTime(), parameters ?? null]);
    await tx.exec(insertSharedStatement, { ...newest, repeats, entries: group.length });
  }
}

/** Returns the rows in groups of those that share one, each in the order given. */
function groupAlike(rows: readonly AuditRow[]): AuditRow[][] {
  const groups: AuditRow[][] = [];
  for (const row of rows) {
    // Of changes, the order says what came of them.
    const isCall = row.audit.action_kind === "Execute";
    const known = isCall
      ? groups.slice(-MAX_COMPARED).find((group) => group.length < MAX_ENTRIES && isAlike(group[0]!, row))
      : undefined;
    if (known) known.push(row);
    else groups.push([row]);
  }
  return groups;
}

function isAlike(a: AuditRow, b: AuditRow): boolean {
  return (
    a.audit.action_kind === b.audit.action_kind &&
    a.audit.operation === b.audit.operation &&
    a.resource === b.resource &&
    a.workspace_id === b.workspace_id &&
    a.username === b.username &&
    a.email === b.email &&
    toSharedTime(a.timestamp) === toSharedTime(b.timestamp)
  );
}

const toSharedTime = (moment: Date) => Math.floor(moment.getTime() / SHARED_MS);

function toColumns(row: AuditRow): Omit<AuditEntry, "id"> {
  return {
    workspace_id: row.workspace_id,
    timestamp: row.timestamp,
    username: row.username,
    email: row.email,
    operation: row.audit.operation,
    action_kind: row.audit.action_kind,
    resource: row.resource ?? null,
    parameters: row.parameters ?? null,
  };
}

/** Returns the entries of a row, oldest first. */
export function toEntries({ repeats, ...newest }: Row): AuditEntry[] {
  if (repeats === null) return [newest];
  const first = newest.id - repeats.length;
  const older = repeats.map(([timestamp_ms, parameters], index) => ({
    ...newest,
    id: first + index,
    timestamp: new Date(timestamp_ms),
    parameters,
  }));
  return [...older, newest];
}
