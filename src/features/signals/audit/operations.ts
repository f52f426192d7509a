import { BadRequest, NotFound } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  responds,
} from "../../../platform/http/operation.ts";
import {
  auditFilters,
  createInstanceScope,
  createWorkspaceScope,
  findAuditEntry,
  listAuditPage,
  streamAuditLines,
} from "./scan.ts";

const AuditLog = z
  .object({
    id: z.number(),
    workspace_id: z.string(),
    timestamp: isoTimestamp,
    username: z.string(),
    email: z.string(),
    operation: z.string(),
    action_kind: z.string(),
    resource: z.string().nullish(),
    parameters: z.record(z.string(), z.string()).nullish(),
  })
  .meta({ id: "AuditLog" });

const lines = responds.raw("application/jsonl", "a row a line");

export const getAuditLog = operation({
  name: "getAuditLog",
  method: "GET",
  path: "/w/{workspace}/audit/get/{id}",
  access: "admin",
  summary: "Read one audit row",
  responds: responds.json(AuditLog),
  run: async (ctx, { workspace, id }) => {
    if (!/^\d{1,15}$/.test(id))
      throw new BadRequest(`"${id}" is not the id of an audit row: it must be a number`);
    const entry = await findAuditEntry(ctx, createWorkspaceScope(ctx, workspace), Number(id));
    if (!entry) throw new NotFound(`audit row ${id} in workspace ${workspace}`);
    return entry;
  },
});

export const listAuditLogs = operation({
  name: "listAuditLogs",
  method: "GET",
  path: "/w/{workspace}/audit/list",
  access: "admin",
  summary: "List audit rows, newest first",
  query: z.object({ ...pagingFields, ...auditFilters }),
  responds: responds.json(z.array(AuditLog)),
  run: (ctx, { workspace, query }) => listAuditPage(ctx, createWorkspaceScope(ctx, workspace), query),
});

export const exportAuditLogs = operation({
  name: "exportAuditLogs",
  method: "GET",
  path: "/w/{workspace}/audit/export",
  access: "member",
  summary: "Export audit rows as JSON lines, oldest first; users who are not admins get their own rows only",
  query: z.object(auditFilters),
  responds: lines,
  run: (ctx, { workspace, query }) => streamAuditLines(ctx, createWorkspaceScope(ctx, workspace), query),
});

const everywhere = { ...auditFilters, workspace: z.string().optional() };

export const listAllAuditLogs = operation({
  name: "listAllAuditLogs",
  method: "GET",
  path: "/audit/list",
  access: "superAdmin",
  summary: "List audit rows of all workspaces, of none (`global`) and of deleted ones, newest first",
  query: z.object({ ...pagingFields, ...everywhere }),
  responds: responds.json(z.array(AuditLog)),
  run: (ctx, { query }) => listAuditPage(ctx, createInstanceScope(query.workspace), query),
});

export const exportAllAuditLogs = operation({
  name: "exportAllAuditLogs",
  method: "GET",
  path: "/audit/export",
  access: "superAdmin",
  summary: "Export audit rows of all workspaces as JSON lines, oldest first",
  query: z.object(everywhere),
  responds: lines,
  run: (ctx, { query }) => streamAuditLines(ctx, createInstanceScope(query.workspace), query),
});

export const auditOperations: Operation[] = [
  getAuditLog,
  listAuditLogs,
  exportAuditLogs,
  listAllAuditLogs,
  exportAllAuditLogs,
];
