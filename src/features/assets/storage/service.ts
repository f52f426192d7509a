/** Which store a call means, and the rules around it. */

import { join } from "node:path";
import { eq } from "drizzle-orm";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest, Forbidden, NotFound, SvcError } from "../../../lib/errors.ts";
import { explain } from "../../../lib/validation-messages.ts";
import type { App, InWorkspace, WorkspaceContext } from "../../../platform/app/context.ts";
import { allowedTargets } from "../../../platform/outgoing/targets.ts";
import { SECRET_READ } from "../../tenancy/workspaces/secrets.ts";
import { storageDirectory, workspaceDirectory } from "../../tenancy/workspaces/storage-folder.ts";
import { type LargeFileStorage, S3Resource, type Storage } from "../../tenancy/workspaces/storage-records.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { resourceForServer, valueForCaller } from "../resources/references.ts";
import type { ObjectStore } from "./store.ts";
import { filesystemStore, removeUnfinished } from "./stores/filesystem-store.ts";
import { s3Store } from "./stores/s3-store.ts";

/** How a call says which store it means. */
export interface StoreChoice {
  /** One of the workspace's secondary storages; absent or `_default_`: the first one. */
  storage?: string | undefined;
  /** A resource of type `s3` instead of the workspace's storage. */
  s3_resource_path?: string | undefined;
}

/** The name of the workspace's first storage, where it needs one. */
export const DEFAULT_STORAGE = "_default_";

const NAME = /^[\w-]{1,50}$/;

/** One process has the data directory, so what is unfinished there at its first use is nobody's any more. */
const cleaned = perApp<App, Promise<void>>((app) => removeUnfinished(storageDirectory(app)));

/** What the workspace has configured; null: nothing. */
export async function storageSettings(ctx: InWorkspace): Promise<LargeFileStorage | null> {
  const [row] = await ctx.app.db.read
    .select({ settings: workspaces.large_file_storage })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.caller.member.workspace_id));
  return row?.settings ?? null;
}

/**
 * Members use the workspace's storage; a resource is used by who may read it.
 * @throws BadRequest when there is no such storage, NotFound for a resource
 */
export async function openStore(ctx: WorkspaceContext, choice: StoreChoice = {}): Promise<ObjectStore> {
  if (choice.s3_resource_path) return bucketStore(ctx, await namedBucket(ctx, choice.s3_resource_path));
  return openConfigured(ctx, choice.storage);
}

/**
 * One of the workspace's storages, for whoever was let in.
 * @param wanted as in `StoreChoice`
 * @throws BadRequest when there is no such storage
 */
export async function openConfigured(ctx: InWorkspace, wanted: string | undefined): Promise<ObjectStore> {
  const { name, storage } = await configured(ctx, wanted);
  if (storage.type === "S3Storage") {
    const path = pathIn(storage.s3_resource_path);
    return bucketStore(ctx, toBucket(path, await resourceForServer(ctx, path)));
  }
  await cleaned(ctx.app);
  return filesystemStore(join(await workspaceDirectory(ctx), name));
}

/** A bucket, which the server reaches only where it may call. @throws BadRequest */
function bucketStore({ app }: InWorkspace, bucket: S3Resource): ObjectStore {
  return s3Store(bucket, allowedTargets(app));
}

/**
 * Asks each of the storages for a key, to see that it answers.
 * @throws BadRequest naming the storage, and what it said
 */
export async function tryStorages(ctx: WorkspaceContext, settings: LargeFileStorage): Promise<void> {
  const secondary = Object.entries(settings.secondary_storage ?? {});
  for (const [name, storage] of [[DEFAULT_STORAGE, settings] as const, ...secondary]) {
    if (storage.type !== "S3Storage") continue;
    const path = pathIn(storage.s3_resource_path);
    try {
      const store = bucketStore(ctx, toBucket(path, await resourceForServer(ctx, path)));
      await store.list({ max_keys: 1, prefix: "", marker: undefined });
    } catch (cause) {
      if (!(cause instanceof SvcError)) throw cause;
      throw new BadRequest(`storage ${name}: ${cause.message}`, { cause });
    }
  }
}

/**
 * The address and the keys of a bucket, for scripts that go there themselves: for who may read its resource, and for
 * all members when the workspace's setting says so.
 * @throws BadRequest when the storage is none that has an address, NotFound
 */
export async function bucketForCaller(ctx: WorkspaceContext, choice: StoreChoice): Promise<S3Resource> {
  if (choice.s3_resource_path) return namedBucket(ctx, choice.s3_resource_path);
  const { storage } = await configured(ctx, choice.storage);
  if (storage.type !== "S3Storage") {
    throw new BadRequest("the workspace's files are in a folder of the server, which has no S3 address", {
      hint: "read and write them with job_helpers/download_s3_file and job_helpers/upload_s3_file",
    });
  }
  const path = pathIn(storage.s3_resource_path);
  if (!storage.public_resource) return namedBucket(ctx, path);
  const bucket = toBucket(path, await resourceForServer(ctx, path));
  await ctx.write({ resource: path, as: SECRET_READ }, async () => {});
  return bucket;
}

async function namedBucket(ctx: WorkspaceContext, given: string): Promise<S3Resource> {
  const path = pathIn(given);
  return toBucket(path, await valueForCaller(ctx, path));
}

async function configured(
  ctx: InWorkspace,
  wanted: string | undefined,
): Promise<{ name: string; storage: Storage }> {
  const { workspace_id } = ctx.caller.member;
  const settings = await storageSettings(ctx);
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
 * Checks settings before they are kept: names, and that the resources are there and say where a bucket is.
 * @throws BadRequest naming what is wrong
 */
export async function checkSettings(ctx: WorkspaceContext, settings: LargeFileStorage): Promise<void> {
  const secondary = Object.entries(settings.secondary_storage ?? {});
  for (const [name, storage] of [[DEFAULT_STORAGE, settings] as const, ...secondary]) {
    if (storage !== settings && (name === DEFAULT_STORAGE || !NAME.test(name))) {
      throw new BadRequest(
        `"${name.slice(0, 60)}" cannot name a storage: use letters, digits, _ and -, 50 characters at most, and not ${DEFAULT_STORAGE}`,
      );
    }
    if (storage.type !== "S3Storage") continue;
    const path = pathIn(storage.s3_resource_path);
    const value = await resourceForServer(ctx, path).catch((cause) => {
      throw cause instanceof NotFound
        ? new BadRequest(`storage ${name}: there is no ${cause.message}`)
        : cause;
    });
    toBucket(path, value);
  }
}

/** `$res:u/ann/bucket` and `u/ann/bucket` mean the same. */
function pathIn(given: string | undefined): string {
  const path = (given ?? "").replace(/^\$res:/, "").replace(/^\//, "");
  if (path === "") throw new BadRequest("`s3_resource_path` is missing: it names the resource of the bucket");
  return path;
}

function toBucket(path: string, value: unknown): S3Resource {
  const parsed = S3Resource.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new BadRequest(
    `resource ${path} does not say where a bucket is: ${explain("value", parsed.error, value)}`,
  );
}

/** Operators run and view: they change files, and give them to others, only through the jobs they run. */
export function isOperatorThemselves({ caller: { member, identity } }: WorkspaceContext): boolean {
  return member.operator && !member.is_admin && !identity.token?.job;
}

/** @param what they do not do, such as `move or delete files` */
export function refuseOperators(ctx: WorkspaceContext, what: string): void {
  if (isOperatorThemselves(ctx)) throw new Forbidden(`operators do not ${what} directly`);
}
