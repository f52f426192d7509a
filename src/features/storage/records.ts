/** The records of object storage as they stand on the wire. */
import { z } from "zod";

const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

const Storage = z.object({
  /** `FilesystemStorage` is a folder below the data directory; the others name a resource. */
  type: z.enum(["FilesystemStorage", "S3Storage"]),
  s3_resource_path: optional(z.string()),
  public_resource: optional(z.boolean()),
});

export const LargeFileStorage = Storage.extend({
  secondary_storage: optional(z.record(z.string(), Storage)),
});
export type LargeFileStorage = z.output<typeof LargeFileStorage>;
