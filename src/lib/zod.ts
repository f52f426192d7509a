/** Schemas of zod that the project uses all over. */
import type { z } from "zod";

/** Optional field of a body; null counts as absent. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** Optional field of a body with a default value. */
export const withDefault = <T extends z.ZodType, V>(schema: T, value: V) =>
  schema.nullish().transform((given) => given ?? value);
