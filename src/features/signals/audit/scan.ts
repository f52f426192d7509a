/**
 * Scans the audit log in windows of rows. Every statement is short, since SQLite runs queries on the thread that serves
 * requests.
 */
import { and, asc, desc, eq, gt, gte, inArray, lt, notInArray, type SQL } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import * as z from "../../../lib/zod/z.ts";
import type { Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { isoTimestamp, toLimitOffset } from "../../../platform/http/operation.ts";
import { type AuditEntry, SHARED_MS, toEntries } from "./rows.ts";
import { auditLog } from "./tables.ts";

/** Rows covered by one statement. */
const WINDOW_ROWS = 5_000;
/** Matching rows that one statement returns; each may have many entries. */
const RETURNED_ROWS = 100;

export const auditFilters = {
  before: isoTimestamp.optional(),
  after: isoTimestamp.optional(),
  username: z.string().optional(),
  operation: z.string().optional(),
  operations: z.string().optional(),
  exclude_operations: z.string().optional(),
  resource: z.string().optional(),
  action_kind: z
    .enum(["Create", "Update", "Delete", "Execute"], {
      error: "must be Create, Update, Delete or Execute",
    })
    .optional(),
};
const Filters = z.object(auditFilters);
export type AuditFilters = z.output<typeof Filters>;

/** The rows a caller may see. */
export interface AuditScope {
  /** A condition that an index supports. */
  rows: SQL | undefined;
  /** A further condition, for callers who may see only some of these rows. */
  own: SQL | undefined;
}

/** Returns the scope of a workspace: all rows for its admins, their own rows for others. */
export function createWorkspaceScope({ caller }: WorkspaceContext, workspace: string): AuditScope {
  const { member } = caller;
  return {
    rows: eq(auditLog.workspace_id, workspace),
    own: member.is_admin ? undefined : eq(auditLog.email, member.email),
  };
}

/**
 * Returns the scope of super admins: all workspaces, the instance (`global`) and deleted workspaces (`deleted/<id>`).
 */
export function createInstanceScope(workspace: string | undefined): AuditScope {
  return { rows: workspace ? eq(auditLog.workspace_id, workspace) : undefined, own: undefined };
}

const splitCsv = (text: string) => text.split(",").map((part) => part.trim());

function matchesFilters(filters: AuditFilters): SQL | undefined {
  const { before, after, username, operation, operations, exclude_operations, resource } = filters;
  return and(
    // The time of a row is that of its last entry; the entries' own times are compared afterwards.
    before ? lt(auditLog.timestamp, new Date(before.getTime() + SHARED_MS)) : undefined,
    after ? gt(auditLog.timestamp, new Date(after.getTime() - SHARED_MS)) : undefined,
    username ? eq(auditLog.username, username) : undefined,
    operation ? startsWith(auditLog.operation, operation) : undefined,
    operations ? inArray(auditLog.operation, splitCsv(operations)) : undefined,
    exclude_operations ? notInArray(auditLog.operation, splitCsv(exclude_operations)) : undefined,
    resource ? startsWith(auditLog.resource, resource) : undefined,
    filters.action_kind ? eq(auditLog.action_kind, filters.action_kind) : undefined,
  );
}

function isWithin({ before, after }: AuditFilters, { timestamp }: AuditEntry): boolean {
  return (!before || timestamp <= before) && (!after || timestamp > after);
}

/** Yields the matching entries in batches. @param order newest or oldest first */
export async function* scanAudit(
  { app }: Context,
  { rows, own }: AuditScope,
  filters: AuditFilters,
  order: "newest" | "oldest",
): AsyncGenerator<AuditEntry[]> {
  const { read } = app.db;
  const wanted = and(own, matchesFilters(filters));
  const [by, beyond] = order === "newest" ? [desc, lt] : [asc, gt];
  let last: number | undefined;
  for (;;) {
    const rest = and(rows, last === undefined ? undefined : beyond(auditLog.id, last));
    const window = await read
      .select({ id: auditLog.id })
      .from(auditLog)
      .where(rest)
      .orderBy(by(auditLog.id))
      .limit(WINDOW_ROWS);
    const end = window.at(-1)?.id;
    if (end === undefined) return;
    const within = order === "newest" ? gt(auditLog.id, end - 1) : lt(auditLog.id, end + 1);
    for (let left = rest; ; ) {
      const found = await read
        .select()
        .from(auditLog)
        .where(and(left, within, wanted))
        .orderBy(by(auditLog.id))
        .limit(RETURNED_ROWS);
      yield found
        .flatMap((row) => (order === "newest" ? toEntries(row).reverse() : toEntries(row)))
        .filter((entry) => isWithin(filters, entry));
      if (found.length < RETURNED_ROWS) break;
      left = and(rows, beyond(auditLog.id, found.at(-1)!.id));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (window.length < WINDOW_ROWS) return;
    last = end;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Returns one entry.
 * @returns undefined if there is none with this id in the scope
 */
export async function findAuditEntry(
  { app }: Context,
  { rows }: AuditScope,
  id: number,
): Promise<AuditEntry | undefined> {
  const [row] = await app.db.read
    .select()
    .from(auditLog)
    .where(and(rows, gte(auditLog.id, id)))
    .orderBy(asc(auditLog.id))
    .limit(1);
  return row && toEntries(row).find((entry) => entry.id === id);
}

/** Returns one page of matching entries, newest first. */
export async function listAuditPage(
  ctx: Context,
  seen: AuditScope,
  query: AuditFilters & { page: number; per_page: number },
): Promise<AuditEntry[]> {
  const { offset, limit } = toLimitOffset(query);
  const page: AuditEntry[] = [];
  let skipped = 0;
  for await (const entries of scanAudit(ctx, seen, query, "newest")) {
    const skip = Math.min(entries.length, offset - skipped);
    skipped += skip;
    page.push(...entries.slice(skip, skip + limit - page.length));
    if (page.length === limit) break;
  }
  return page;
}

/** Streams all matching entries as JSON lines, oldest first, with backpressure. */
export function streamAuditLines(ctx: Context, seen: AuditScope, filters: AuditFilters): Response {
  const pieces = scanAudit(ctx, seen, filters, "oldest");
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { value, done } = await pieces.next();
        if (done) return controller.close();
        if (value.length === 0) continue;
        // Rows must be durable before they are sent.
        await ctx.app.db.readBarrier();
        controller.enqueue(encoder.encode(value.map((entry) => `${JSON.stringify(entry)}\n`).join("")));
        return;
      }
    },
    cancel: () => pieces.return(undefined).then(() => undefined),
  });
  return new Response(body, { headers: { "content-type": "application/jsonl" } });
}
