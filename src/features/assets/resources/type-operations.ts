import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { isoTimestamp, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { keepUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import type { ResourceType as ResourceTypeRow } from "../resource-tables.ts";
import { describeSchemaFault } from "./schema-check.ts";
import * as types from "./types.ts";

const base = "/w/{workspace}/resources" as const;

const EditResourceType = keepUnknownFields(
  z.object({
    schema: optionalField(z.unknown()),
    description: optionalField(z.string()),
    format_extension: optionalField(z.string()),
    is_fileset: optionalField(z.boolean()),
  }),
);

const CreateResourceType = keepUnknownFields(
  z.object({
    name: z.string(),
    schema: optionalField(z.unknown()),
    description: z
      .string()
      .nullish()
      .transform((text) => text ?? ""),
    format_extension: optionalField(z.string()),
    is_fileset: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
  }),
);

const ResourceType = z
  .object({
    workspace_id: z.string(),
    name: z.string(),
    schema: z.unknown(),
    description: z.string(),
    format_extension: z.string().nullish(),
    is_fileset: z.boolean(),
    created_by: z.string(),
    edited_at: isoTimestamp,
  })
  .meta({ id: "ResourceType" });

const toRecord = ({ extra, ...type }: ResourceTypeRow): z.input<typeof ResourceType> => ({
  ...extra,
  ...type,
});

/** Returns a warning to append to the confirmation if the schema is invalid. */
async function createSchemaWarning(schema: unknown): Promise<string> {
  const fault = await describeSchemaFault(schema);
  return fault ? `\nwarning: ${fault}` : "";
}

export const createResourceType = operation({
  name: "createResourceType",
  method: "POST",
  path: `${base}/type/create`,
  access: "author",
  summary: "Create a resource type; those of the workspace admins are visible in all workspaces",
  body: CreateResourceType,
  responds: responds.created("confirmation"),
  audit: { operation: "resource_types.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await types.createResourceType(ctx, body);
    return `resource type ${body.name} created${await createSchemaWarning(body.schema)}`;
  },
});

export const updateResourceType = operation({
  name: "updateResourceType",
  method: "POST",
  path: `${base}/type/update/{name}`,
  access: "author",
  summary: "Update a resource type; a shared one is copied to the workspace",
  body: EditResourceType,
  responds: responds.text("confirmation"),
  audit: { operation: "resource_types.update", action_kind: "Update" },
  run: async (ctx, { name, body }) => {
    await types.updateResourceType(ctx, name, body);
    return `resource type ${name} updated${await createSchemaWarning(body.schema)}`;
  },
});

export const deleteResourceType = operation({
  name: "deleteResourceType",
  method: "DELETE",
  path: `${base}/type/delete/{name}`,
  access: "author",
  summary: "Delete a resource type of the workspace",
  responds: responds.text("confirmation"),
  audit: { operation: "resource_types.delete", action_kind: "Delete" },
  run: async (ctx, { name }) => {
    await types.deleteResourceType(ctx, name);
    return `resource type ${name} deleted`;
  },
});

export const getResourceType = operation({
  name: "getResourceType",
  method: "GET",
  path: `${base}/type/get/{name}`,
  access: "member",
  summary: "Read a resource type",
  responds: responds.json(ResourceType),
  run: async (ctx, { name }) => toRecord(await types.getResourceType(ctx, name)),
});

export const existsResourceType = operation({
  name: "existsResourceType",
  method: "GET",
  path: `${base}/type/exists/{name}`,
  access: "member",
  summary: "Check whether a resource type exists in the workspace",
  responds: responds.json(z.boolean()),
  run: async (ctx, { name }) => (await types.findResourceType(ctx, name)) !== undefined,
});

export const listResourceTypes = operation({
  name: "listResourceTypes",
  method: "GET",
  path: `${base}/type/list`,
  access: "member",
  summary: "List the resource types of the workspace, shared ones included",
  responds: responds.json(z.array(ResourceType)),
  run: async (ctx) => (await types.listResourceTypes(ctx)).map(toRecord),
});

export const listResourceTypeNames = operation({
  name: "listResourceTypeNames",
  method: "GET",
  path: `${base}/type/listnames`,
  access: "member",
  summary: "List the names of the workspace's resource types, shared ones included",
  responds: responds.json(z.array(z.string())),
  run: async (ctx) => (await types.listResourceTypes(ctx)).map(({ name }) => name),
});

export const fileResourceTypes = operation({
  name: "fileResourceTypeToFileExtMap",
  method: "GET",
  path: `${base}/file_resource_type_to_file_ext_map`,
  access: "member",
  summary: "List the file extensions of resource types whose values are files",
  responds: responds.json(z.record(z.string(), z.string())),
  run: async (ctx) =>
    Object.fromEntries(
      (await types.listResourceTypes(ctx)).flatMap(({ name, format_extension }) =>
        types.isFileExtension(format_extension) ? [[name, format_extension] as const] : [],
      ),
    ),
});

export const resourceTypeOperations: Operation[] = [
  createResourceType,
  updateResourceType,
  deleteResourceType,
  getResourceType,
  existsResourceType,
  listResourceTypes,
  listResourceTypeNames,
  fileResourceTypes,
];
