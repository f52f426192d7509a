/**
 * Reading the log, some rows at a time: whatever is asked for, every statement is short, since SQLite reads on the
 * thread that serves requests.
 */
import { and, asc, desc, eq, gt, inArray, lt, lte, notInArray, type SQL } from "drizzle-orm";
import { z } from "zod";
import { startsWith } from "../../../database/conditions.ts";
import type { Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { moment, toWindow } from "../../../platform/http/operation.ts";
import { auditLog } from "./tables.ts";

/** Rows that one statement looks at. */
const WINDOW = 5_000;

export const auditFilters = {
  before: moment.optional(),
  after: moment.optional(),
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
export type AuditRow = typeof auditLog.$inferSelect;

/** Rows among which are those that a caller may see. */
export interface Seen {
  /** All of these are in one place of an index. */
  rows: SQL | undefined;
  /** Those among them that the caller may see. */
  own: SQL | undefined;
}

/** Of a workspace its admins see all rows, everybody else their own. */
export function seenIn({ caller }: WorkspaceContext, workspace: string): Seen {
  const { member } = caller;
  return {
    rows: eq(auditLog.workspace_id, workspace),
    own: member.is_admin ? undefined : eq(auditLog.email, member.email),
  };
}

/** Super admins see the rows of every workspace, of none (`global`), and of deleted ones (`deleted/<id>`). */
export function seenEverywhere(workspace: string | undefined): Seen {
  return { rows: workspace ? eq(auditLog.workspace_id, workspace) : undefined, own: undefined };
}

const csv = (text: string) => text.split(",").map((part) => part.trim());

function matching(filters: AuditFilters): SQL | undefined {
  const { before, after, username, operation, operations, exclude_operations, resource } = filters;
  return and(
    before ? lte(auditLog.timestamp, before) : undefined,
    after ? gt(auditLog.timestamp, after) : undefined,
    username ? eq(auditLog.username, username) : undefined,
    operation ? startsWith(auditLog.operation, operation) : undefined,
    operations ? inArray(auditLog.operation, csv(operations)) : undefined,
    exclude_operations ? notInArray(auditLog.operation, csv(exclude_operations)) : undefined,
    resource ? startsWith(auditLog.resource, resource) : undefined,
    filters.action_kind ? eq(auditLog.action_kind, filters.action_kind) : undefined,
  );
}

/**
 * The rows that match, in pieces.
 * @param order the newest or the oldest first
 */
export async function* walkAudit(
  { app }: Context,
  { rows, own }: Seen,
  filters: AuditFilters,
  order: "newest" | "oldest",
): AsyncGenerator<AuditRow[]> {
  const { read } = app.db;
  const wanted = and(own, matching(filters));
  const [by, beyond] = order === "newest" ? [desc, lt] : [asc, gt];
  let last: number | undefined;
  for (;;) {
    const rest = and(rows, last === undefined ? undefined : beyond(auditLog.id, last));
    const window = await read
      .select({ id: auditLog.id })
      .from(auditLog)
      .where(rest)
      .orderBy(by(auditLog.id))
      .limit(WINDOW);
    const end = window.at(-1)?.id;
    if (end === undefined) return;
    const within = order === "newest" ? gt(auditLog.id, end - 1) : lt(auditLog.id, end + 1);
    yield await read
      .select()
      .from(auditLog)
      .where(and(rest, within, wanted))
      .orderBy(by(auditLog.id));
    if (window.length < WINDOW) return;
    last = end;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** One page of the rows that match, newest first. */
export async function pageOfAudit(
  ctx: Context,
  seen: Seen,
  query: AuditFilters & { page: number; per_page: number },
): Promise<AuditRow[]> {
  const { offset, limit } = toWindow(query);
  const page: AuditRow[] = [];
  let skipped = 0;
  for await (const rows of walkAudit(ctx, seen, query, "newest")) {
    const skip = Math.min(rows.length, offset - skipped);
    skipped += skip;
    page.push(...rows.slice(skip, skip + limit - page.length));
    if (page.length === limit) break;
  }
  return page;
}

/** All rows that match as JSON lines, oldest first, read at the pace at which they are taken. */
export function linesOfAudit(ctx: Context, seen: Seen, filters: AuditFilters): Response {
  const pieces = walkAudit(ctx, seen, filters, "oldest");
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { value, done } = await pieces.next();
        if (done) return controller.close();
        if (value.length === 0) continue;
        // What is told must be on disk.
        await ctx.app.db.settled();
        controller.enqueue(encoder.encode(value.map((row) => `${JSON.stringify(row)}\n`).join("")));
        return;
      }
    },
    cancel: () => pieces.return(undefined).then(() => undefined),
  });
  return new Response(body, { headers: { "content-type": "application/jsonl" } });
}
