/** Operations that list and look up flows. */
import { and, asc, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import * as z from "../../../lib/zod/z.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import {
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
  toLimitOffset,
} from "../../../platform/http/operation.ts";
import { drafts } from "../drafts/tables.ts";
import { isStarred, listStarred } from "../favorites/service.ts";
import { FlowSummary } from "./records.ts";
import { flows, flowVersions } from "./tables.ts";
import { OpenFlowValue } from "./value/open-flow.ts";

const base = "/w/{workspace}/flows" as const;

const isListedVersion = and(
  eq(flowVersions.workspace_id, flows.workspace_id),
  eq(flowVersions.path, flows.path),
  eq(flowVersions.id, flows.version),
);
const isDraftOfFlow = and(
  eq(drafts.workspace_id, flows.workspace_id),
  eq(drafts.kind, "flow"),
  eq(drafts.path, flows.path),
);

const { version, ready_version: _, extra: __, ...lightColumns } = getTableColumns(flows);
const summaryColumns = {
  ...lightColumns,
  version_id: version,
  deployment_msg: flowVersions.deployment_msg,
  has_deploy_errors: sql<boolean>`${flowVersions.lock_error_logs} IS NOT NULL`.mapWith(Boolean),
  has_draft: sql<boolean>`EXISTS (SELECT 1 FROM ${drafts} WHERE ${isDraftOfFlow})`.mapWith(Boolean),
};

export const listFlows = operation({
  name: "listFlows",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List flows, most recently deployed first",
  query: z.object({
    ...pagingFields,
    order_desc: queryBoolean.default(true),
    created_by: z.string().optional(),
    path_start: z.string().optional(),
    path_exact: z.string().optional(),
    show_archived: queryBoolean.default(false),
    starred_only: queryBoolean.default(false),
    include_draft_only: queryBoolean.default(false),
    with_deployment_msg: queryBoolean.default(false),
    without_description: queryBoolean.default(false),
    dedicated_worker: queryBoolean.optional(),
  }),
  responds: responds.json(z.array(FlowSummary), "flows without their steps"),
  run: async (ctx, { workspace, query }) => {
    const { member } = ctx.caller;
    const { read } = ctx.app.db;
    const { offset, limit } = toLimitOffset(query);
    const order = query.order_desc ? desc : asc;
    const { dedicated_worker } = query;
    const rows = await read
      .select(summaryColumns)
      .from(flows)
      .innerJoin(flowVersions, isListedVersion)
      .where(
        and(
          eq(flows.workspace_id, workspace),
          eq(flows.archived, query.show_archived),
          readableBy(member, flows),
          query.starred_only ? isStarred(read, member, "flow", flows.path) : undefined,
          query.include_draft_only ? undefined : eq(flows.draft_only, false),
          query.created_by ? eq(flows.edited_by, query.created_by) : undefined,
          query.path_exact ? eq(flows.path, query.path_exact) : undefined,
          query.path_start ? startsWith(flows.path, query.path_start) : undefined,
          dedicated_worker === undefined ? undefined : eq(flows.dedicated_worker, dedicated_worker),
        ),
      )
      .orderBy(order(flows.version))
      .limit(limit)
      .offset(offset);
    const paths = rows.map(({ path }) => path);
    const starred = await listStarred(read, member, "flow", paths);
    return rows.map(({ deployment_msg, description, ...row }) => ({
      ...row,
      starred: starred.has(row.path),
      ...(query.without_description ? {} : { description }),
      ...(query.with_deployment_msg ? { deployment_msg } : {}),
    }));
  },
});

const isLive = (workspace: string) => and(eq(flows.workspace_id, workspace), eq(flows.archived, false));

export const listFlowPaths = operation({
  name: "listFlowPaths",
  method: "GET",
  path: `${base}/list_paths`,
  access: "member",
  summary: "List the paths of flows",
  responds: responds.json(z.array(z.string())),
  run: async (ctx, { workspace }) => {
    const rows = await ctx.app.db.read
      .select({ path: flows.path })
      .from(flows)
      .where(and(isLive(workspace), readableBy(ctx.caller.member, flows)))
      .orderBy(asc(flows.path));
    return rows.map(({ path }) => path);
  },
});

const listSearchFlow = operation({
  name: "listSearchFlow",
  method: "GET",
  path: `${base}/list_search`,
  access: "member",
  summary: "List flows with their steps, for searching",
  responds: responds.json(z.array(z.object({ path: z.string(), value: OpenFlowValue }))),
  run: (ctx, { workspace }) =>
    ctx.app.db.read
      .select({ path: flows.path, value: flowVersions.value })
      .from(flows)
      .innerJoin(flowVersions, isListedVersion)
      .where(and(isLive(workspace), readableBy(ctx.caller.member, flows)))
      .orderBy(asc(flows.path)),
});

const existsFlowByPath = operation({
  name: "existsFlowByPath",
  method: "GET",
  path: `${base}/exists/{path}`,
  access: "member",
  summary: "Check whether an active flow exists at a path",
  responds: responds.json(z.boolean()),
  run: async (ctx, { workspace, path }) => {
    const rows = await ctx.app.db.read
      .select({ path: flows.path })
      .from(flows)
      .where(and(isLive(workspace), eq(flows.path, path)));
    return rows.length > 0;
  },
});

export const flowListOperations: Operation[] = [listFlows, listFlowPaths, listSearchFlow, existsFlowByPath];
