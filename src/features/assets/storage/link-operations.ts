/** Operations that sign links to stored files, and serve files by such links. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { createDownloadResponse } from "./download.ts";
import { requireValidLink, signLink } from "./links.ts";
import { parseFileKey } from "./object-store.ts";
import { DEFAULT_STORAGE, openConfiguredStore, requireNoOperator } from "./service.ts";

const MAX_LINKS = 1000;

const StoredObject = z.looseObject({ s3: z.string(), storage: optionalField(z.string()) });

export const signObjects = operation({
  name: "signS3Objects",
  method: "POST",
  path: "/w/{workspace}/apps/sign_s3_objects",
  access: "member",
  // Needs write scope, since a link gives anybody access that only the token had.
  scope: { domain: "job_helpers", action: "write" },
  summary: "Sign links to stored files; holders of a link may read the file until it expires",
  body: z.object({
    s3_objects: z.array(StoredObject).max(MAX_LINKS),
    /** Clamped to 60 to 604800. */
    expiry_secs: optionalField(z.number().int()),
  }),
  responds: responds.json(
    z.array(StoredObject.extend({ presigned: z.string() })),
    "the files, each with what is written behind `?` in its link",
  ),
  audit: { operation: "job_helpers.sign_s3_objects", action_kind: "Execute" },
  run: async (ctx, { workspace, body: { s3_objects, expiry_secs } }) => {
    requireNoOperator(ctx, "sign links to files");
    const signed = [];
    for (const { s3, storage, ...more } of s3_objects) {
      const key = parseFileKey(s3);
      await openConfiguredStore(ctx, storage);
      const presigned = await signLink(ctx.app, { workspace_id: workspace, storage, key }, expiry_secs);
      signed.push({ ...more, s3, ...(storage ? { storage } : {}), presigned });
    }
    const resource = s3_objects.map(({ s3 }) => s3).join(", ");
    if (signed.length > 0) await ctx.write({ resource }, async () => {});
    return signed;
  },
});

export const readSignedObject = operation({
  name: "readSignedS3Object",
  method: "GET",
  path: "/w/{workspace}/s3_proxy/{storage}/{file_path}",
  access: "anyone",
  scope: false,
  cors: true,
  summary: "Read a stored file by its signed link, or the part in a Range header",
  query: z.object({ exp: z.coerce.number().int(), sig: z.string() }),
  responds: responds.raw("application/octet-stream", "the bytes of the file"),
  run: async ({ app, request }, { workspace, storage, file_path, query: { exp, sig } }) => {
    const key = parseFileKey(file_path);
    await requireValidLink(app, { workspace_id: workspace, storage, key }, exp, sig);
    const name = storage === DEFAULT_STORAGE ? undefined : storage;
    const store = await openConfiguredStore({ app, caller: { member: { workspace_id: workspace } } }, name);
    return createDownloadResponse(store, key, request, undefined);
  },
});

export const storageLinkOperations: Operation[] = [signObjects, readSignedObject];
