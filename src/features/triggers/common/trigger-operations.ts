/** Operations shared by schedules and triggers of all kinds. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import {
  isoTimestamp,
  operation,
  pagingFields,
  queryBoolean,
  responds,
} from "../../../platform/http/operation.ts";
import type { TriggerFilters } from "./trigger-store.ts";

/** Fields of the records of all kinds. */
export const triggerRecordFields = {
  workspace_id: z.string(),
  path: z.string(),
  script_path: z.string(),
  is_flow: z.boolean(),
  enabled: z.boolean(),
  summary: z.string().nullish(),
  edited_by: z.string(),
  edited_at: isoTimestamp,
  email: z.string(),
  extra_perms: z.record(z.string(), z.boolean()),
};

interface TriggerKind<Row, Schema extends z.ZodType> {
  /** The kind in URLs. */
  noun: "schedules" | `${string}_triggers`;
  /** Part of the operations' names. */
  name: string;
  /** The kind in audit operations. */
  audit: string;
  store: {
    /** The kind in texts: `a schedule`, and `schedule` before a path. */
    one: string;
    what: string;
    get: (ctx: WorkspaceContext, path: string) => Promise<Row>;
    exists: (ctx: WorkspaceContext, path: string) => Promise<boolean>;
    list: (
      ctx: WorkspaceContext,
      filters: TriggerFilters,
      wanted: ((row: Row) => boolean) | undefined,
    ) => Promise<Row[]>;
    setEnabled: (ctx: WorkspaceContext, path: string, enabled: boolean) => Promise<void>;
    delete: (ctx: WorkspaceContext, path: string) => Promise<void>;
  };
  record: Schema;
  toRecord: (row: Row, ctx: WorkspaceContext) => z.input<Schema> | Promise<z.input<Schema>>;
  /** Filters of its list, in addition to the common ones. */
  filters?: z.ZodObject<Record<string, z.ZodType>>;
  /** Returns a predicate for these filters; undefined if none is given. */
  wanted?: (query: Record<string, unknown>) => ((row: Row) => boolean) | undefined;
  /** What is to be known of an enabled one. */
  note?: string;
}

export function createTriggerOperations<Row, Schema extends z.ZodType>(kind: TriggerKind<Row, Schema>) {
  const { name, audit, store, record, toRecord, filters, wanted, note } = kind;
  const { one, what } = store;
  const base = `/w/{workspace}/${kind.noun}` as const;
  return {
    setEnabled: operation({
      name: `set${name}Enabled`,
      method: "POST",
      path: `${base}/setenabled/{path}`,
      access: "author",
      summary: `Switch ${one} on or off`,
      body: z.object({ enabled: z.boolean() }),
      responds: responds.text("confirmation"),
      audit: { operation: `${audit}.setenabled`, action_kind: "Update" },
      run: async (ctx, { path, body }) => {
        await store.setEnabled(ctx, path, body.enabled);
        const said = `${what} ${path} ${body.enabled ? "enabled" : "disabled"}`;
        return body.enabled && note ? `${said} (${note})` : said;
      },
    }),
    delete: operation({
      name: `delete${name}`,
      method: "DELETE",
      path: `${base}/delete/{path}`,
      access: "author",
      summary: `Delete ${one}; what runs goes on`,
      responds: responds.text("confirmation"),
      audit: { operation: `${audit}.delete`, action_kind: "Delete" },
      run: async (ctx, { path }) => {
        await store.delete(ctx, path);
        return `${what} ${path} deleted`;
      },
    }),
    get: operation({
      name: `get${name}`,
      method: "GET",
      path: `${base}/get/{path}`,
      access: "member",
      summary: `Read ${one}`,
      responds: responds.json(record),
      run: async (ctx, { path }) => toRecord(await store.get(ctx, path), ctx),
    }),
    exists: operation({
      name: `exists${name}`,
      method: "GET",
      path: `${base}/exists/{path}`,
      access: "member",
      summary: `Say whether there is ${one} at a path`,
      responds: responds.json(z.boolean()),
      run: (ctx, { path }) => store.exists(ctx, path),
    }),
    list: operation({
      name: `list${name}s`,
      method: "GET",
      path: `${base}/list`,
      access: "member",
      summary: `List the ${what}s, last edited first`,
      query: z.object({
        path: optionalField(z.string()),
        is_flow: optionalField(queryBoolean),
        path_start: optionalField(z.string()),
        ...pagingFields,
        ...filters?.shape,
      }),
      responds: responds.json(z.array(record)),
      run: async (ctx, { query }) => {
        const rows = await store.list(ctx, query, wanted?.(query));
        return Promise.all(rows.map((row) => toRecord(row, ctx)));
      },
    }),
  };
}
