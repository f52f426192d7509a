/** Opens the object store a call selects, and checks who may use it. */

import { join } from "node:path";
import { eq } from "drizzle-orm";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest, Forbidden, NotFound, SvcError } from "../../../lib/errors.ts";
import { describeIssues } from "../../../lib/validation-messages.ts";
import type { App, WorkspaceContext, WorkspaceScope } from "../../../platform/app/context.ts";
import { getConfiguredTargets } from "../../../platform/outgoing/targets.ts";
import { SECRET_READ_AUDIT } from "../../tenancy/workspaces/secrets.ts";
import { getStorageDirectory, getWorkspaceDirectory } from "../../tenancy/workspaces/storage-folder.ts";
import { type LargeFileStorage, S3Resource, type Storage } from "../../tenancy/workspaces/storage-records.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { readResourceForCaller, readResourceForServer } from "../resources/resolved-values.ts";
import type { ObjectStore } from "./object-store.ts";
import { createFilesystemStore, removeUnfinishedUploads } from "./stores/filesystem-store.ts";
import { createS3Store } from "./stores/s3-store.ts";

/** Selects a store. */
export interface StoreChoice {
  /** Name of a secondary storage; absent or `_default_`: the primary one. */
  storage?: string | undefined;
  /** Path of an `s3` resource to use instead of the workspace's storage. */
  s3_resource_path?: string | undefined;
}

/** Name of the workspace's primary storage. */
export const DEFAULT_STORAGE = "_default_";

const STORAGE_NAME = /^[\w-]{1,50}$/;

/** Removes unfinished uploads at the first use. Only one process uses the data directory, so none of them is active. */
const startupCleanup = memoizePerApp<App, Promise<void>>((app) =>
  removeUnfinishedUploads(getStorageDirectory(app)),
);

/** Reads the workspace's storage settings; null if there are none. */
export async function readStorageSettings(ctx: WorkspaceScope): Promise<LargeFileStorage | null> {
  const [row] = await ctx.app.db.read
    .select({ settings: workspaces.large_file_storage })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.caller.member.workspace_id));
  return row?.settings ?? null;
}

/**
 * Opens a store. Members may use the workspace's storages; a resource needs read access to it.
 * @throws BadRequest for an unknown storage, NotFound for a resource
 */
export async function openStore(ctx: WorkspaceContext, choice: StoreChoice = {}): Promise<ObjectStore> {
  if (choice.s3_resource_path)
    return createBucketStore(ctx, await readNamedBucket(ctx, choice.s3_resource_path));
  return openConfiguredStore(ctx, choice.storage);
}

/**
 * Opens one of the workspace's storages, without checking the caller's rights.
 * @param wanted as in `StoreChoice`
 * @throws BadRequest for an unknown storage
 */
export async function openConfiguredStore(
  ctx: WorkspaceScope,
  wanted: string | undefined,
): Promise<ObjectStore> {
  const { name, storage } = await getConfiguredStorage(ctx, wanted);
  if (storage.type === "S3Storage") {
    const path = parseResourcePath(storage.s3_resource_path);
    return createBucketStore(ctx, parseBucket(path, await readResourceForServer(ctx, path)));
  }
  await startupCleanup(ctx.app);
  return createFilesystemStore(join(await getWorkspaceDirectory(ctx), name));
}

/** Creates the store of a bucket, limited to allowed targets. @throws BadRequest */
function createBucketStore({ app }: WorkspaceScope, bucket: S3Resource): ObjectStore {
  return createS3Store(bucket, getConfiguredTargets(app));
}

/**
 * Tests each storage by listing one key.
 * @param missing paths of resources that do not exist yet; their storages are not tested
 * @throws BadRequest naming the storage, with its error
 */
export async function testStorages(
  ctx: WorkspaceContext,
  settings: LargeFileStorage,
  missing: string[],
): Promise<void> {
  const secondary = Object.entries(settings.secondary_storage ?? {});
  for (const [name, storage] of [[DEFAULT_STORAGE, settings] as const, ...secondary]) {
    if (storage.type !== "S3Storage") continue;
    const path = parseResourcePath(storage.s3_resource_path);
    if (missing.includes(path)) continue;
    try {
      const store = createBucketStore(ctx, parseBucket(path, await readResourceForServer(ctx, path)));
      await store.list({ max_keys: 1, prefix: "", marker: undefined });
    } catch (cause) {
      if (!(cause instanceof SvcError)) throw cause;
      throw new BadRequest(`storage ${name}: ${cause.message}`, { cause });
    }
  }
}

/**
 * Returns the address and keys of a bucket, for scripts that access it directly. Needs read access to its resource,
 * unless the settings allow it to all members.
 * @throws BadRequest if the storage is not a bucket, NotFound
 */
export async function readBucketForCaller(ctx: WorkspaceContext, choice: StoreChoice): Promise<S3Resource> {
  if (choice.s3_resource_path) return readNamedBucket(ctx, choice.s3_resource_path);
  const { storage } = await getConfiguredStorage(ctx, choice.storage);
  if (storage.type !== "S3Storage") {
    throw new BadRequest("the workspace's files are in a folder of the server, which has no S3 address", {
      hint: "read and write them with job_helpers/download_s3_file and job_helpers/upload_s3_file",
    });
  }
  const path = parseResourcePath(storage.s3_resource_path);
  if (!storage.public_resource) return readNamedBucket(ctx, path);
  const bucket = parseBucket(path, await readResourceForServer(ctx, path));
  await ctx.write({ resource: path, action: SECRET_READ_AUDIT }, async () => {});
  return bucket;
}

async function readNamedBucket(ctx: WorkspaceContext, given: string): Promise<S3Resource> {
  const path = parseResourcePath(given);
  return parseBucket(path, await readResourceForCaller(ctx, path));
}

async function getConfiguredStorage(
  ctx: WorkspaceScope,
  wanted: string | undefined,
): Promise<{ name: string; storage: Storage }> {
  const { workspace_id } = ctx.caller.member;
  const settings = await readStorageSettings(ctx);
  if (!settings) {
    throw new BadRequest(`workspace ${workspace_id} has no object storage configured`, {
      hint: "an admin sets one with workspaces/edit_large_file_storage_config",
    });
  }
  const name = wanted || DEFAULT_STORAGE;
  if (name === DEFAULT_STORAGE) return { name, storage: settings };
  const secondary = settings.secondary_storage ?? {};
  const storage = Object.hasOwn(secondary, name) ? secondary[name] : undefined;
  if (!storage)
    throw new BadRequest(`workspace ${workspace_id} has no storage called "${name.slice(0, 60)}"`);
  return { name, storage };
}

/**
 * Validates storage settings before they are stored: names, and that each resource describes a bucket. A resource may
 * come later: clients that move a workspace save its settings first.
 * @returns the paths of resources that do not exist yet
 * @throws BadRequest naming what is wrong
 */
export async function requireValidStorages(
  ctx: WorkspaceContext,
  settings: LargeFileStorage,
): Promise<string[]> {
  const missing: string[] = [];
  const secondary = Object.entries(settings.secondary_storage ?? {});
  for (const [name, storage] of [[DEFAULT_STORAGE, settings] as const, ...secondary]) {
    if (storage !== settings && (name === DEFAULT_STORAGE || !STORAGE_NAME.test(name))) {
      throw new BadRequest(
        `"${name.slice(0, 60)}" cannot be the name of a storage: use letters, digits, _ and -, 50 characters at most, and not ${DEFAULT_STORAGE}`,
      );
    }
    if (storage.type !== "S3Storage") continue;
    const path = parseResourcePath(storage.s3_resource_path);
    const value = await readResourceForServer(ctx, path).catch((cause) => {
      if (cause instanceof NotFound) return undefined;
      throw cause;
    });
    if (value === undefined) missing.push(path);
    else parseBucket(path, value);
  }
  return missing;
}

/** Parses the path of a resource; `$res:u/ann/bucket` and `u/ann/bucket` are equivalent. */
function parseResourcePath(given: string | undefined): string {
  const path = (given ?? "").replace(/^\$res:/, "").replace(/^\//, "");
  if (path === "") throw new BadRequest("`s3_resource_path` is missing: it names the resource of the bucket");
  return path;
}

function parseBucket(path: string, value: unknown): S3Resource {
  const parsed = S3Resource.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new BadRequest(
    `resource ${path} does not identify a bucket: ${describeIssues("value", parsed.error, value)}`,
  );
}

/** Whether the caller is an operator acting outside a job. Operators may change and share files only through jobs. */
export function isInteractiveOperator({ caller: { member, identity } }: WorkspaceContext): boolean {
  return member.operator && !member.is_admin && !identity.token?.job;
}

/** Rejects calls of operators. @param what names the refused action, such as `move or delete files` */
export function requireNoOperator(ctx: WorkspaceContext, what: string): void {
  if (isInteractiveOperator(ctx)) throw new Forbidden(`operators do not ${what} directly`);
}
