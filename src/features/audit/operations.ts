import { and, desc, eq, gt, inArray, lte, notInArray } from "drizzle-orm";
import { z } from "zod";
import type { WorkspaceContext } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { moment, type Operation, operation, paging, responds, toWindow } from "../../http/operation.ts";
import { auditLog } from "./tables.ts";

const AuditLog = z.object({
  id: z.number(),
  workspace_id: z.string(),
  timestamp: moment,
  username: z.string(),
  email: z.string(),
  operation: z.string(),
  action_kind: z.string(),
  resource: z.string().nullish(),
  parameters: z.record(z.string(), z.string()).nullish(),
});

/** Admins see all rows of the workspace, everybody else their own. */
function visible(ctx: WorkspaceContext, workspace: string) {
  const { member } = ctx.caller;
  return and(
    eq(auditLog.workspace_id, workspace),
    member.is_admin ? undefined : eq(auditLog.email, member.email),
  );
}

const csv = (text: string) => text.split(",").map((part) => part.trim());

export const getAuditLog = operation({
  name: "getAuditLog",
  method: "GET",
  path: "/w/{workspace}/audit/get/{id}",
  access: "member",
  summary: "Read one audit row",
  responds: responds.json(AuditLog),
  run: async (ctx, { workspace, id }) => {
    if (!/^\d{1,15}$/.test(id))
      throw new BadRequest(`"${id}" is not the id of an audit row: it must be a number`);
    const [row] = await ctx.app.db.read
      .select()
      .from(auditLog)
      .where(and(visible(ctx, workspace), eq(auditLog.id, Number(id))));
    if (!row) throw new NotFound(`audit row ${id} in workspace ${workspace}`);
    return row;
  },
});

export const listAuditLogs = operation({
  name: "listAuditLogs",
  method: "GET",
  path: "/w/{workspace}/audit/list",
  access: "member",
  summary: "List audit rows, newest first",
  query: z.object({
    ...paging,
    before: moment.optional(),
    after: moment.optional(),
    username: z.string().optional(),
    operation: z.string().optional(),
    operations: z.string().optional(),
    exclude_operations: z.string().optional(),
    resource: z.string().optional(),
    action_kind: z.enum(["Create", "Update", "Delete", "Execute"]).optional(),
  }),
  responds: responds.json(z.array(AuditLog)),
  run: async (ctx, { workspace, query }) => {
    const { offset, limit } = toWindow(query);
    return ctx.app.db.read
      .select()
      .from(auditLog)
      .where(
        and(
          visible(ctx, workspace),
          query.before ? lte(auditLog.timestamp, query.before) : undefined,
          query.after ? gt(auditLog.timestamp, query.after) : undefined,
          query.username ? eq(auditLog.username, query.username) : undefined,
          query.operation ? startsWith(auditLog.operation, query.operation) : undefined,
          query.operations ? inArray(auditLog.operation, csv(query.operations)) : undefined,
          query.exclude_operations
            ? notInArray(auditLog.operation, csv(query.exclude_operations))
            : undefined,
          query.resource ? startsWith(auditLog.resource, query.resource) : undefined,
          query.action_kind ? eq(auditLog.action_kind, query.action_kind) : undefined,
        ),
      )
      .orderBy(desc(auditLog.id))
      .limit(limit)
      .offset(offset);
  },
});

export const auditOperations: Operation[] = [getAuditLog, listAuditLogs];
