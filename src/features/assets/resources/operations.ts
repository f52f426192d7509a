import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
  toLimitOffset,
} from "../../../platform/http/operation.ts";
import { accountFieldSchemas, readAccountStatus } from "../connections/accounts.ts";
import { createValueFilter, parseList } from "./filters.ts";
import { describeNonconformity } from "./schema-check.ts";
import * as service from "./service.ts";
import { findResourceType } from "./types.ts";

const base = "/w/{workspace}/resources" as const;

/** Any JSON value, null included; it must not be absent. */
const anyValue = z.unknown().refine((value) => value !== undefined, "is missing: give any JSON value");

const CreateResource = z.object({
  path: z.string(),
  value: anyValue,
  resource_type: z.string(),
  description: z
    .string()
    .nullish()
    .transform((text) => text ?? ""),
});

const EditResource = z.object({
  path: optionalField(z.string()),
  value: optionalField(z.unknown()),
  resource_type: optionalField(z.string()),
  description: optionalField(z.string()),
});

const Resource = z
  .object({
    workspace_id: z.string(),
    path: z.string(),
    value: z.unknown(),
    description: z.string(),
    resource_type: z.string(),
    is_oauth: z.boolean(),
    extra_perms: z.record(z.string(), z.boolean()),
    created_by: z.string(),
    edited_at: isoTimestamp,
  })
  .meta({ id: "Resource" });

const ListableResource = Resource.extend({
  account: z.number().nullish(),
  ...accountFieldSchemas,
  is_linked: z.boolean(),
  is_refreshed: z.boolean(),
  is_expired: z.boolean(),
});

/** Types without a schema to check: state of scripts, and arbitrary values. */
const UNCHECKED_TYPES = ["state", "cache", "any"];

/**
 * Returns a warning to append to the confirmation if the stored value does not match its type.
 * @param value the one just stored; undefined if it was not changed
 */
async function createTypeWarning(ctx: WorkspaceContext, path: string, value: unknown): Promise<string> {
  const { read } = ctx.app.db;
  const name = await service.findTypeOfResource(ctx, read, path);
  if (name === undefined || UNCHECKED_TYPES.includes(name)) return "";
  const type = await findResourceType(ctx, name);
  const stored = value === undefined ? (await service.findResource(ctx, read, path))?.value : value;
  const warning = type
    ? await describeNonconformity(type, stored)
    : `resource type ${name} is not known in workspace ${ctx.caller.member.workspace_id}`;
  return warning ? `\nwarning: ${warning}` : "";
}

export const createResource = operation({
  name: "createResource",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Create a resource",
  query: z.object({ update_if_exists: queryBoolean.default(false) }),
  body: CreateResource,
  responds: responds.created("confirmation"),
  audit: { operation: "resources.create", action_kind: "Create" },
  run: async (ctx, { body, query }) => {
    const path = await service.createResource(ctx, body, query);
    return `resource ${path} created${await createTypeWarning(ctx, path, body.value)}`;
  },
});

export const updateResource = operation({
  name: "updateResource",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Update or rename a resource",
  body: EditResource,
  responds: responds.text("confirmation"),
  audit: { operation: "resources.update", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    const now_at = await service.updateResource(ctx, path, body);
    return `resource ${now_at} updated${await createTypeWarning(ctx, now_at, body.value)}`;
  },
});

export const updateResourceValue = operation({
  name: "updateResourceValue",
  method: "POST",
  path: `${base}/update_value/{path}`,
  access: "author",
  summary: "Replace the value of a resource",
  body: z.object({ value: anyValue }),
  responds: responds.text("confirmation"),
  audit: { operation: "resources.update", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    await service.updateResource(ctx, path, body);
    return `value of resource ${path} updated${await createTypeWarning(ctx, path, body.value)}`;
  },
});

export const deleteResource = operation({
  name: "deleteResource",
  method: "DELETE",
  path: `${base}/delete/{path}`,
  access: "author",
  summary: "Delete a resource",
  responds: responds.text("confirmation"),
  audit: { operation: "resources.delete", action_kind: "Delete" },
  run: async (ctx, { path }) => {
    await service.deleteResource(ctx, path);
    return `resource ${path} deleted`;
  },
});

export const getResource = operation({
  name: "getResource",
  method: "GET",
  path: `${base}/get/{path}`,
  access: "member",
  summary: "Read a resource; references in its value are not resolved",
  responds: responds.json(Resource),
  run: (ctx, { path }) => service.getResource(ctx, path),
});

export const getResourceValue = operation({
  name: "getResourceValue",
  method: "GET",
  path: `${base}/get_value/{path}`,
  access: "member",
  summary: "Read the value of a resource; references in it are not resolved",
  responds: responds.json(z.unknown()),
  run: async (ctx, { path }) => (await service.getResource(ctx, path)).value,
});

export const existsResource = operation({
  name: "existsResource",
  method: "GET",
  path: `${base}/exists/{path}`,
  access: "member",
  summary: "Check whether a resource exists at a path",
  responds: responds.json(z.boolean()),
  run: (ctx, { path }) => service.hasResource(ctx, path),
});

export const listResources = operation({
  name: "listResources",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List the resources the caller may read, without their values",
  query: z.object({
    ...pagingFields,
    resource_type: z.string().optional(),
    resource_type_exclude: z.string().optional(),
    path_start: z.string().optional(),
    path: z.string().optional(),
    description: z.string().optional(),
    value: z.string().optional(),
  }),
  responds: responds.json(z.array(ListableResource)),
  run: async (ctx, { query }) => {
    const filters = {
      types: parseList(query.resource_type),
      excluded_types: parseList(query.resource_type_exclude),
      path_start: query.path_start,
      path: query.path,
      description: query.description,
      value: query.value ? createValueFilter(query.value) : undefined,
    };
    const rows = await service.listResourcePage(ctx, filters, toLimitOffset(query));
    const accounts = rows.map(({ account }) => account);
    const facts = await readAccountStatus(ctx.app, ctx.caller.member.workspace_id, accounts);
    return rows.map(({ linked, ...row }) => ({
      ...row,
      value: null,
      is_linked: linked,
      is_refreshed: false,
      is_expired: false,
      ...facts.get(row.account ?? 0),
    }));
  },
});

export const listSearchResources = operation({
  name: "listSearchResources",
  method: "GET",
  path: `${base}/list_search`,
  access: "member",
  summary: "List path and value of the resources the caller may read, for searching",
  responds: responds.json(z.array(z.object({ path: z.string(), value: z.unknown() }))),
  run: async (ctx) => (await service.listResources(ctx, {})).map(({ path, value }) => ({ path, value })),
});

export const listResourceNames = operation({
  name: "listResourceNames",
  method: "GET",
  path: `${base}/list_names/{type}`,
  access: "member",
  summary: "List the resources of one type by name: the value's own `name`, else the end of the path",
  responds: responds.json(z.array(z.object({ name: z.string(), path: z.string() }))),
  run: async (ctx, { type }) =>
    (await service.listResources(ctx, { types: [type] })).map(({ path, value }) => ({
      name: findName(value) ?? path.slice(path.lastIndexOf("/") + 1),
      path,
    })),
});

function findName(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || !("name" in value)) return undefined;
  return typeof value.name === "string" ? value.name : undefined;
}

export const resourceOperations: Operation[] = [
  createResource,
  updateResource,
  updateResourceValue,
  deleteResource,
  getResource,
  getResourceValue,
  existsResource,
  listResources,
  listSearchResources,
  listResourceNames,
];
