/** Schemas of object storage settings in the HTTP interface. */
import { removeTrailingSlashes } from "../../../lib/text/slashes.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";

const STORAGE_TYPES = ["FilesystemStorage", "S3Storage"] as const;

const Storage = z.object({
  /** `FilesystemStorage` is a folder in the data directory; `S3Storage` names a resource. */
  type: z.enum(STORAGE_TYPES, {
    error: (issue) =>
      `${JSON.stringify(issue.input)} is not supported; use one of ${STORAGE_TYPES.join(", ")}`,
  }),
  s3_resource_path: optionalField(z.string()),
  /** Sent by clients for every type; ignored, as these storage types are not offered. */
  azure_blob_resource_path: z.string().nullish(),
  gcs_resource_path: z.string().nullish(),
  /** True if any member may read the bucket's address and keys; otherwise only readers of the resource may. */
  public_resource: optionalField(z.boolean()),
});
export type Storage = z.output<typeof Storage>;

export const LargeFileStorage = Storage.extend({
  secondary_storage: optionalField(z.record(z.string(), Storage)),
});
export type LargeFileStorage = z.output<typeof LargeFileStorage>;

/** The value of a resource of type `s3`. */
export const S3Resource = z.object({
  bucket: z.string().min(1),
  region: z
    .string()
    .nullish()
    .transform((region) => region || "us-east-1"),
  /** Host, optionally with scheme and port; empty: Amazon's host of the region. */
  endPoint: z
    .string()
    .nullish()
    .transform((endPoint) => endPoint ?? ""),
  port: optionalField(z.coerce.number().int().min(1).max(65_535)),
  useSSL: z
    .boolean()
    .nullish()
    .transform((useSSL) => useSSL ?? true),
  /** Required: otherwise the client would use credentials from the server's environment. */
  accessKey: z.string().min(1),
  secretKey: z.string().min(1),
  pathStyle: z
    .boolean()
    .nullish()
    .transform((pathStyle) => pathStyle ?? true),
});
export type S3Resource = z.output<typeof S3Resource>;

/**
 * Returns the service's address, such as `https://s3.eu-west-1.amazonaws.com`. A scheme in `endPoint` overrides
 * `useSSL`.
 */
export function getStorageEndpoint({ endPoint, region, useSSL, port }: S3Resource): string {
  const stated = /^(https?):\/\//.exec(endPoint);
  const scheme = stated?.[1] ?? (useSSL ? "https" : "http");
  const host = removeTrailingSlashes(endPoint.slice(stated?.[0].length ?? 0)) || `s3.${region}.amazonaws.com`;
  return `${scheme}://${host}${port === undefined || /:\d+$/.test(host) ? "" : `:${port}`}`;
}
