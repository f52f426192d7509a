/** Operations on the object storage of a workspace. */
import { eq } from "drizzle-orm";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, queryBoolean, responds } from "../../../platform/http/operation.ts";
import {
  DEFAULT_STORAGE,
  readStorageSettings,
  requireValidStorages,
  testStorages,
} from "../../assets/storage/service.ts";
import { LargeFileStorage } from "../../tenancy/workspaces/storage-records.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { describeMissing } from "./check-runnable.ts";

const base = "/w/{workspace}/workspaces" as const;

export const editLargeFileStorageConfig = operation({
  name: "editLargeFileStorageConfig",
  method: "POST",
  path: `${base}/edit_large_file_storage_config`,
  access: "admin",
  summary: "Set the object storage of the workspace; null removes it, without deleting files",
  body: z.object({ large_file_storage: LargeFileStorage.nullish() }),
  responds: responds.json(z.string()),
  audit: { operation: "workspaces.edit_large_file_storage_config", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    const large_file_storage = body.large_file_storage ?? null;
    const missing = large_file_storage ? await requireValidStorages(ctx, large_file_storage) : [];
    if (large_file_storage) await testStorages(ctx, large_file_storage, missing);
    await ctx.write({ resource: workspace }, async (tx) => {
      await tx.update(workspaces).set({ large_file_storage }).where(eq(workspaces.id, workspace));
    });
    const notes = missing.map((path) => describeMissing("resource", path));
    return `object storage of workspace ${workspace} ${large_file_storage ? "set" : "removed"}${notes.join("")}`;
  },
});

export const getLargeFileStorageConfig = operation({
  name: "getLargeFileStorageConfig",
  method: "GET",
  path: `${base}/get_large_file_storage_config`,
  access: "member",
  summary: "Read the object storage of the workspace; null without one",
  responds: responds.json(LargeFileStorage.nullable()),
  run: (ctx) => readStorageSettings(ctx),
});

export const getSecondaryStorageNames = operation({
  name: "getSecondaryStorageNames",
  method: "GET",
  path: `${base}/get_secondary_storage_names`,
  access: "member",
  summary: "List the names of the secondary storages",
  query: z.object({ include_default: queryBoolean.default(false) }),
  responds: responds.json(z.array(z.string())),
  run: async (ctx, { query }) => {
    const settings = await readStorageSettings(ctx);
    const names = Object.keys(settings?.secondary_storage ?? {});
    return query.include_default && settings ? [DEFAULT_STORAGE, ...names] : names;
  },
});

export const storageSettingOperations: Operation[] = [
  editLargeFileStorageConfig,
  getLargeFileStorageConfig,
  getSecondaryStorageNames,
];
