/** The records of object storage as they stand on the wire. */
import { z } from "zod";
import { optional } from "../../../lib/zod.ts";

const KINDS = ["FilesystemStorage", "S3Storage"] as const;

const Storage = z.object({
  /** `FilesystemStorage` is a folder below the data directory; the others name a resource. */
  type: z.enum(KINDS, {
    error: (issue) => `${JSON.stringify(issue.input)} is not offered; use one of ${KINDS.join(", ")}`,
  }),
  s3_resource_path: optional(z.string()),
  /** Said by clients for all kinds alike; the kinds that are offered have no use for it. */
  azure_blob_resource_path: z.string().nullish(),
  gcs_resource_path: z.string().nullish(),
  /** Any member may be told the address and the keys of the bucket, not only who may read the resource. */
  public_resource: optional(z.boolean()),
});
export type Storage = z.output<typeof Storage>;

export const LargeFileStorage = Storage.extend({
  secondary_storage: optional(z.record(z.string(), Storage)),
});
export type LargeFileStorage = z.output<typeof LargeFileStorage>;

/** The value of a resource of type `s3`. */
export const S3Resource = z.object({
  bucket: z.string().min(1),
  region: z
    .string()
    .nullish()
    .transform((region) => region || "us-east-1"),
  /** Host, with or without a scheme and a port; empty means Amazon's own of the region. */
  endPoint: z
    .string()
    .nullish()
    .transform((endPoint) => endPoint ?? ""),
  port: optional(z.coerce.number().int().min(1).max(65_535)),
  useSSL: z
    .boolean()
    .nullish()
    .transform((useSSL) => useSSL ?? true),
  /** Required: without them the bucket would be opened with whatever keys the server's environment has. */
  accessKey: z.string().min(1),
  secretKey: z.string().min(1),
  pathStyle: z
    .boolean()
    .nullish()
    .transform((pathStyle) => pathStyle ?? true),
});
export type S3Resource = z.output<typeof S3Resource>;

/** `https://s3.eu-west-1.amazonaws.com`: where the bucket's service answers. A scheme that was given wins over `useSSL`. */
export function endpointOf({ endPoint, region, useSSL, port }: S3Resource): string {
  const [, scheme = useSSL ? "https" : "http", given] = /^(?:(https?):\/\/)?(.*?)\/*$/.exec(endPoint)!;
  const host = given || `s3.${region}.amazonaws.com`;
  return `${scheme}://${host}${port === undefined || /:\d+$/.test(host) ? "" : `:${port}`}`;
}
