import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { isOwner } from "../../../platform/access/permissions.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
  slicePage,
} from "../../../platform/http/operation.ts";
import type { FolderRow } from "../../tenancy/people/folder-tables.ts";
import { keepUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import * as service from "./folders.ts";

const base = "/w/{workspace}/folders" as const;

const names = z.array(z.string());
const entries = z.record(z.string(), z.boolean());

const FolderRecord = z
  .object({
    workspace_id: z.string(),
    name: z.string(),
    display_name: z.string(),
    summary: z.string(),
    owners: names,
    extra_perms: entries,
    created_by: z.string(),
    edited_at: isoTimestamp,
  })
  .meta({ id: "Folder" });

const Changes = z.object({
  display_name: optionalField(z.string()),
  summary: optionalField(z.string()),
  owners: optionalField(names),
  extra_perms: optionalField(entries),
});

function toRecord({ deleted: _, extra, owners_implied: __, ...folder }: FolderRow) {
  return { ...extra, ...folder, display_name: folder.display_name ?? folder.name };
}

const reads = { domain: "folders", action: "read", resource: "name" } as const;
const writes = { domain: "folders", action: "write", resource: "name" } as const;

export const listFolders = operation({
  name: "listFolders",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List the folders that the caller may read",
  query: z.object(pagingFields),
  responds: responds.json(z.array(FolderRecord)),
  run: async (ctx, { query }) => slicePage(await service.listFolders(ctx), query).map(toRecord),
});

export const listFolderNames = operation({
  name: "listFolderNames",
  method: "GET",
  path: `${base}/listnames`,
  access: "member",
  summary:
    "List the names of the folders that the caller may read; admins may limit it to those with a right of theirs",
  query: z.object({ only_member_of: queryBoolean.default(false) }),
  responds: responds.json(names),
  run: async (ctx, { query }) => (await service.listFolders(ctx, query)).map(({ name }) => name),
});

export const createFolder = operation({
  name: "createFolder",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Create a folder; the caller becomes an owner of it",
  body: keepUnknownFields(Changes.extend({ name: z.string() })),
  responds: responds.text("confirmation"),
  audit: { operation: "folder.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await service.createFolder(ctx, body);
    return `folder ${body.name} created`;
  },
});

export const updateFolder = operation({
  name: "updateFolder",
  method: "POST",
  path: `${base}/update/{name}`,
  access: "author",
  scope: writes,
  summary: "Update a folder: owners only",
  body: keepUnknownFields(Changes),
  responds: responds.text("confirmation"),
  audit: { operation: "folder.update", action_kind: "Update" },
  run: async (ctx, { name, body }) => {
    await service.updateFolder(ctx, name, body);
    return `folder ${name} updated`;
  },
});

export const getFolder = operation({
  name: "getFolder",
  method: "GET",
  path: `${base}/get/{name}`,
  access: "member",
  scope: reads,
  summary: "Read a folder",
  responds: responds.json(FolderRecord),
  run: async (ctx, { name }) => toRecord(await service.getFolder(ctx, name)),
});

const getFolderUsage = operation({
  name: "getFolderUsage",
  method: "GET",
  path: `${base}/getusage/{name}`,
  access: "member",
  scope: reads,
  summary: "Count the items in a folder, by kind",
  responds: responds.json(z.record(z.string(), z.number())),
  run: (ctx, { name }) => service.countFolderItems(ctx, name),
});

export const existsFolder = operation({
  name: "existsFolder",
  method: "GET",
  path: `${base}/exists/{name}`,
  access: "member",
  scope: reads,
  summary: "Check whether a folder of this name exists",
  responds: responds.json(z.boolean()),
  run: (ctx, { name }) => service.hasFolder(ctx, name),
});

const isOwnerOfFolder = operation({
  name: "isOwnerOfFolder",
  method: "GET",
  path: `${base}/is_owner/{name}`,
  access: "member",
  scope: reads,
  summary: "Check whether the caller is an owner of a folder",
  responds: responds.json(z.boolean()),
  run: (ctx, { name }) => isOwner(ctx.caller.member, `f/${name}/`),
});

export const deleteFolder = operation({
  name: "deleteFolder",
  method: "DELETE",
  path: `${base}/delete/{name}`,
  access: "author",
  scope: writes,
  summary: "Delete a folder: owners only; its items stay",
  responds: responds.text("confirmation"),
  audit: { operation: "folder.delete", action_kind: "Delete" },
  run: async (ctx, { name }) => {
    await service.deleteFolder(ctx, name);
    return `folder ${name} deleted`;
  },
});

export const addFolderOwner = operation({
  name: "addOwnerToFolder",
  method: "POST",
  path: `${base}/addowner/{name}`,
  access: "author",
  scope: writes,
  summary: "Make a user or a group an owner of a folder",
  body: z.object({ owner: z.string() }),
  responds: responds.text("confirmation"),
  audit: { operation: "folder.add_owner", action_kind: "Update" },
  run: async (ctx, { name, body }) => {
    await service.addOwner(ctx, name, body.owner);
    return `${body.owner} owns folder ${name}`;
  },
});

export const removeFolderOwner = operation({
  name: "removeOwnerToFolder",
  method: "POST",
  path: `${base}/removeowner/{name}`,
  access: "author",
  scope: writes,
  summary: "Remove an owner of a folder; `write` is the right that they keep",
  body: z.object({ owner: z.string(), write: optionalField(z.boolean()) }),
  responds: responds.text("confirmation"),
  audit: { operation: "folder.remove_owner", action_kind: "Update" },
  run: async (ctx, { name, body }) => {
    await service.removeOwner(ctx, name, body);
    return `${body.owner} no longer owns folder ${name}`;
  },
});

export const folderOperations: Operation[] = [
  listFolders,
  listFolderNames,
  createFolder,
  updateFolder,
  getFolder,
  getFolderUsage,
  existsFolder,
  isOwnerOfFolder,
  deleteFolder,
  addFolderOwner,
  removeFolderOwner,
];
