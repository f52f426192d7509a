/** Tries an object storage before it is set: a small file is written, read and deleted there. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { withinMs } from "../../../lib/async/sleep.ts";
import { BadRequest, NotFound, SvcError } from "../../../lib/errors.ts";
import { randomText } from "../../../lib/text/ids.ts";
import { explain } from "../../../lib/validation-messages.ts";
import type { App } from "../../../platform/app/context.ts";
import { KEYS } from "../../../platform/config/keys.ts";
import { unmasked } from "../../../platform/config/masking.ts";
import { operation, responds } from "../../../platform/http/operation.ts";
import { targetsNamedIn } from "../../../platform/outgoing/settings.ts";
import type { ObjectStore } from "../../assets/storage/store.ts";
import { filesystemStore } from "../../assets/storage/stores/filesystem-store.ts";
import { addressOf } from "../../assets/storage/stores/s3-api.ts";
import { s3Store } from "../../assets/storage/stores/s3-store.ts";
import { S3Resource } from "../../tenancy/workspaces/storage-records.ts";

/** For all steps together. */
const TRIAL_MS = 30_000;

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
    const config = unmasked(key, KEYS[key], body, app.settings.find(key).value) as Config;
    const { name, store, folder } = open(app, config);
    await ctx.write({ resource: name }, async () => {});
    try {
      await withinTime(trial(store), name);
    } finally {
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    }
    return `an object was written, read and deleted in ${name}`;
  },
});

type Config = Record<string, unknown>;

/** Kinds by how clients and the workspaces' own setting name them. */
const S3 = ["S3", "S3Storage", "s3"];
const FOLDER = ["FilesystemStorage", "Filesystem"];

/** @throws BadRequest for a kind that is not offered, and for what is missing */
function open(app: App, config: Config): { name: string; store: ObjectStore; folder?: string } {
  const type = config.type ?? (config.bucket === undefined ? undefined : "S3");
  if (FOLDER.includes(type as string)) {
    const folder = join(app.config.data_dir, "storage", `.trial-${randomText(10)}`);
    return { name: "the data directory", store: filesystemStore(folder), folder };
  }
  if (!S3.includes(type as string)) {
    throw new BadRequest(
      `field \`type\`: ${JSON.stringify(type ?? null)?.slice(0, 60)} is not offered; use one of S3, FilesystemStorage`,
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
      `the configuration does not say where a bucket is: ${explain("body", parsed.error, {})}`,
    );
  }
  return {
    name: `bucket ${parsed.data.bucket}`,
    store: s3Store(parsed.data, targetsNamedIn(app, [addressOf(parsed.data)])),
  };
}

/** @throws BadRequest naming the step that failed */
async function trial(store: ObjectStore): Promise<void> {
  const key = `svc_uploads/trial_${randomText(16)}.txt`;
  const written = randomText(32);
  await step("writing", () => store.put(key, pieces(written)));
  try {
    const read = await step("reading", async () => new Response(await (await store.get(key)).read()).text());
    if (read !== written) throw new BadRequest("reading an object failed: it is not what was written");
  } finally {
    await step("deleting", () => store.delete(key));
  }
  const left = await step("deleting", () =>
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

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function step<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const why =
      cause instanceof SvcError ? cause.message : ((cause as { code?: string }).code ?? "the log says more");
    throw new BadRequest(`${doing} an object failed: ${why}`, { cause });
  }
}

async function withinTime(work: Promise<void>, name: string): Promise<void> {
  const late = () => new BadRequest(`${name} did not answer within ${TRIAL_MS / 1000} s`);
  await withinMs(TRIAL_MS, work, late);
}
