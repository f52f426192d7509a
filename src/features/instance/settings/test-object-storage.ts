/** Tests an object storage before it is configured, by writing, reading and deleting a small file. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { withTimeout } from "../../../lib/async/sleep.ts";
import { BadRequest, NotFound, SvcError } from "../../../lib/errors.ts";
import { createRandomText } from "../../../lib/text/ids.ts";
import { describeIssues } from "../../../lib/validation-messages.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { INSTANCE_SETTINGS } from "../../../platform/config/instance-settings.ts";
import { unmaskSetting } from "../../../platform/config/masking.ts";
import { operation, responds } from "../../../platform/http/operation.ts";
import { allowConfiguredUrls } from "../../../platform/outgoing/configured-targets.ts";
import type { ObjectStore } from "../../assets/storage/object-store.ts";
import { createFilesystemStore } from "../../assets/storage/stores/filesystem-store.ts";
import { formatBucketUrl } from "../../assets/storage/stores/s3-api.ts";
import { createS3Store } from "../../assets/storage/stores/s3-store.ts";
import { S3Resource } from "../../tenancy/workspaces/storage-records.ts";

/** Timeout of all steps together. */
const TEST_TIMEOUT_MS = 30_000;

export const testObjectStorageConfig = operation({
  name: "testObjectStorageConfig",
  method: "POST",
  path: "/settings/test_object_storage_config",
  access: "superAdmin",
  summary: "Write, read and delete an object in the given storage, and say how that went",
  body: z.record(z.string(), z.unknown()),
  responds: responds.text("confirmation"),
  audit: { operation: "settings.test_object_storage", action_kind: "Execute" },
  run: async (ctx, { body }) => {
    const { app } = ctx;
    const key = "object_store_cache_config";
    const config = unmaskSetting(
      key,
      INSTANCE_SETTINGS[key],
      body,
      app.settings.find(key).value,
    ) as StorageConfig;
    const { name, store, folder } = createTestStore(app, config);
    await ctx.write({ resource: name }, async () => {});
    try {
      await withTestTimeout(testStore(store), name);
    } finally {
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    }
    return `an object was written, read and deleted in ${name}`;
  },
});

type StorageConfig = Record<string, unknown>;

/** Names of storage types, as used by clients and by the workspace setting. */
const S3_TYPES = ["S3", "S3Storage", "s3"];
const FILESYSTEM_TYPES = ["FilesystemStorage", "Filesystem"];

/**
 * Creates the store that a configuration describes.
 * @throws BadRequest for an unsupported type, and for missing fields
 */
function createTestStore(
  app: App,
  config: StorageConfig,
): { name: string; store: ObjectStore; folder?: string } {
  const type = config.type ?? (config.bucket === undefined ? undefined : "S3");
  if (FILESYSTEM_TYPES.includes(type as string)) {
    const folder = join(app.config.data_dir, "storage", `.trial-${createRandomText(10)}`);
    return { name: "the data directory", store: createFilesystemStore(folder), folder };
  }
  if (!S3_TYPES.includes(type as string)) {
    throw new BadRequest(
      `field \`type\`: ${JSON.stringify(type ?? null)?.slice(0, 60)} is not supported; use one of S3, FilesystemStorage`,
    );
  }
  const parsed = S3Resource.safeParse({
    bucket: config.bucket,
    region: config.region,
    endPoint: config.endpoint ?? config.endPoint,
    port: config.port,
    useSSL: config.useSSL ?? (config.allow_http === true ? false : undefined),
    accessKey: config.access_key ?? config.accessKey,
    secretKey: config.secret_key ?? config.secretKey,
    pathStyle: config.path_style ?? config.pathStyle,
  });
  if (!parsed.success) {
    throw new BadRequest(
      `the configuration does not identify a bucket: ${describeIssues("body", parsed.error, {})}`,
    );
  }
  return {
    name: `bucket ${parsed.data.bucket}`,
    store: createS3Store(parsed.data, allowConfiguredUrls(app, [formatBucketUrl(parsed.data)])),
  };
}

/** Writes, reads and deletes a small file. @throws BadRequest naming the failed step */
async function testStore(store: ObjectStore): Promise<void> {
  const key = `svc_uploads/trial_${createRandomText(16)}.txt`;
  const written = createRandomText(32);
  await runStep("writing", () => store.put(key, toChunks(written)));
  try {
    const read = await runStep("reading", async () =>
      new Response(await (await store.get(key)).read()).text(),
    );
    if (read !== written) throw new BadRequest("reading an object failed: it is not what was written");
  } finally {
    await runStep("deleting", () => store.delete(key));
  }
  const left = await runStep("deleting", () =>
    store.get(key).then(
      () => true,
      (cause) => {
        if (cause instanceof NotFound) return false;
        throw cause;
      },
    ),
  );
  if (left) throw new BadRequest("deleting an object failed: it is still there");
}

async function* toChunks(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function runStep<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const why =
      cause instanceof SvcError
        ? cause.message
        : ((cause as { code?: string }).code ?? "see the server's log");
    throw new BadRequest(`${doing} an object failed: ${why}`, { cause });
  }
}

async function withTestTimeout(work: Promise<void>, name: string): Promise<void> {
  const late = () => new BadRequest(`${name} did not answer within ${TEST_TIMEOUT_MS / 1000} s`);
  await withTimeout(TEST_TIMEOUT_MS, work, late);
}
