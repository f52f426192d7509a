import { Forbidden, NotFound } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import { readChunks } from "../../../platform/http/input.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryInteger,
  responds,
} from "../../../platform/http/operation.ts";
import { createDownloadResponse, requireHeaderValue } from "./download.ts";
import { createFileKey, type ObjectStore, parseFileKey } from "./object-store.ts";
import { previewFile } from "./preview.ts";
import { isInteractiveOperator, openStore, requireNoOperator } from "./service.ts";

const base = "/w/{workspace}/job_helpers" as const;

const BYTES_PER_MB = 1_000_000;

/** Selects the store. Azure resources are not supported. */
const storeChoice = {
  storage: z.string().optional(),
  s3_resource_path: z.string().optional(),
  resource_type: z
    .enum(["s3", ""], { error: (issue) => `${JSON.stringify(issue.input)} is not supported; use s3` })
    .optional(),
};
const FileQuery = z.object({ ...storeChoice, file_key: z.string() });

const FileMetadata = z.object({
  mime_type: z.string(),
  size_in_bytes: z.number(),
  last_modified: isoTimestamp,
  expires: isoTimestamp.nullish(),
  version_id: z.string().nullish(),
});

const FilePreview = z.object({
  content_type: z.enum(["RawText", "Csv", "Parquet", "Unknown"]),
  msg: z.string().optional(),
  content: z.string().optional(),
});

/** Checks that no file is stored under the key. @throws Forbidden if the file exists */
async function requireNewFile(store: ObjectStore, key: string): Promise<void> {
  const known = await store.get(key).catch((cause) => {
    if (cause instanceof NotFound) return undefined;
    throw cause;
  });
  if (known) throw new Forbidden(`operators do not overwrite files directly: there is a file ${key}`);
}

export const uploadFile = operation({
  name: "fileUpload",
  method: "POST",
  path: `${base}/upload_s3_file`,
  access: "member",
  summary: "Store the body of the request as a file",
  query: z.object({
    ...storeChoice,
    file_key: z.string().optional(),
    file_extension: z.string().optional(),
    content_type: z.string().optional(),
    content_disposition: z.string().optional(),
  }),
  reads: { "application/octet-stream": z.file() },
  responds: responds.json(z.object({ file_key: z.string() })),
  audit: { operation: "job_helpers.upload_s3_file", action_kind: "Create" },
  run: async (ctx, { query }) => {
    const { content_type, content_disposition } = query;
    requireHeaderValue("content_type", content_type);
    requireHeaderValue("content_disposition", content_disposition);
    const file_key = query.file_key ? parseFileKey(query.file_key) : createFileKey(query.file_extension);
    const store = await openStore(ctx, query);
    if (query.file_key && isInteractiveOperator(ctx)) await requireNewFile(store, file_key);
    const limit = ctx.app.config.max_upload_mb * BYTES_PER_MB || Number.MAX_SAFE_INTEGER;
    await store.put(file_key, readChunks(ctx.request, limit), { content_type, content_disposition });
    await ctx.write({ resource: file_key }, async () => {});
    return { file_key };
  },
});

export const downloadFile = operation({
  name: "fileDownload",
  method: "GET",
  path: `${base}/download_s3_file`,
  access: "member",
  summary: "Read a stored file, or the part in a Range header",
  query: FileQuery.extend({ content_disposition: z.string().optional() }),
  responds: responds.raw("application/octet-stream", "the bytes of the file"),
  run: async (ctx, { query }) => {
    requireHeaderValue("content_disposition", query.content_disposition);
    const store = await openStore(ctx, query);
    return createDownloadResponse(
      store,
      parseFileKey(query.file_key),
      ctx.request,
      query.content_disposition,
    );
  },
});

export const deleteFile = operation({
  name: "deleteS3File",
  method: "DELETE",
  path: `${base}/delete_s3_file`,
  access: "member",
  summary: "Delete a stored file",
  query: FileQuery,
  responds: responds.json(z.string(), "confirmation"),
  audit: { operation: "job_helpers.delete_s3_file", action_kind: "Delete" },
  run: async (ctx, { query }) => {
    requireNoOperator(ctx, "move or delete files");
    const store = await openStore(ctx, query);
    await store.delete(parseFileKey(query.file_key));
    await ctx.write({ resource: query.file_key }, async () => {});
    return `file ${query.file_key} deleted`;
  },
});

/** A GET that changes state, because existing clients send it. */
export const moveFile = operation({
  name: "moveS3File",
  method: "GET",
  cookie: "ignored",
  path: `${base}/move_s3_file`,
  access: "member",
  scope: { domain: "job_helpers", action: "write" },
  summary: "Move a stored file to another key, replacing an existing one",
  query: z.object({ ...storeChoice, src_file_key: z.string(), dest_file_key: z.string() }),
  responds: responds.json(z.string(), "confirmation"),
  audit: { operation: "job_helpers.move_s3_file", action_kind: "Update" },
  run: async (ctx, { query }) => {
    requireNoOperator(ctx, "move or delete files");
    const [from, to] = [parseFileKey(query.src_file_key), parseFileKey(query.dest_file_key)];
    const store = await openStore(ctx, query);
    await store.move(from, to);
    await ctx.write({ resource: from, parameters: { dest_file_key: to } }, async () => {});
    return `file ${from} moved to ${to}`;
  },
});

export const listStoredFiles = operation({
  name: "listStoredFiles",
  method: "GET",
  path: `${base}/list_stored_files`,
  access: "member",
  summary: "List the keys of the stored files, in order",
  query: z.object({
    ...storeChoice,
    max_keys: queryInteger.min(1).max(1000).default(1000),
    marker: z.string().optional(),
    prefix: z.string().default(""),
  }),
  responds: responds.json(
    z.object({
      windmill_large_files: z.array(z.object({ s3: z.string() })),
      next_marker: z.string().optional(),
    }),
  ),
  run: async (ctx, { query }) => {
    const store = await openStore(ctx, query);
    const { max_keys, prefix } = query;
    const { keys, more } = await store.list({ max_keys, prefix, marker: query.marker || undefined });
    return {
      windmill_large_files: keys.map((s3) => ({ s3 })),
      ...(more ? { next_marker: keys.at(-1)! } : {}),
    };
  },
});

export const loadFileMetadata = operation({
  name: "loadFileMetadata",
  method: "GET",
  path: `${base}/load_file_metadata`,
  access: "member",
  summary: "Read type, size and modification time of a stored file",
  query: FileQuery,
  responds: responds.json(FileMetadata),
  run: async (ctx, { query }) => {
    const store = await openStore(ctx, query);
    const { content_type, size, last_modified } = (await store.get(parseFileKey(query.file_key))).info;
    return { mime_type: content_type, size_in_bytes: size, last_modified, expires: null, version_id: null };
  },
});

export const loadFilePreview = operation({
  name: "loadFilePreview",
  method: "GET",
  path: `${base}/load_file_preview`,
  access: "member",
  summary: "Read the beginning of a stored file if it is text",
  query: FileQuery.extend({
    read_bytes_from: queryInteger.min(0).default(0),
    read_bytes_length: queryInteger.min(1).max(1_000_000).default(128_000),
  }),
  responds: responds.json(FilePreview),
  run: async (ctx, { query }) => {
    const store = await openStore(ctx, query);
    const { read_bytes_from: from, read_bytes_length: length } = query;
    return previewFile(store, parseFileKey(query.file_key), { from, length });
  },
});

export const testStorageConnection = operation({
  name: "datasetStorageTestConnection",
  method: "GET",
  path: `${base}/test_connection`,
  access: "member",
  summary: "Test the object storage by listing a key",
  query: z.object(storeChoice),
  responds: responds.json(z.string()),
  run: async (ctx, { query }) => {
    const store = await openStore(ctx, query);
    await store.list({ max_keys: 1, prefix: "", marker: undefined });
    return "the object storage answers";
  },
});

export const storageOperations: Operation[] = [
  uploadFile,
  downloadFile,
  deleteFile,
  moveFile,
  listStoredFiles,
  loadFileMetadata,
  loadFilePreview,
  testStorageConnection,
];
