/** Zod schemas used throughout the project. */
import * as z from "./z.ts";

/** Optional field of a body; null counts as absent. */
export const optionalField = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** Optional field of a body with a default value. */
export const withDefault = <T extends z.ZodType, V>(schema: T, value: V) =>
  schema.nullish().transform((given) => given ?? value);

/** A member of a body that a preprocess step adds: clients do not send it, and documents do not show it. */
export const addedByServer = z.record(z.string(), z.unknown()).optional();
