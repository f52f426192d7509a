/** Schemas of zod that the project uses all over. */
import type { z } from "zod";

/** A field of a body that may be left out; null counts as left out. */
export const optional = <T extends z.ZodType>(schema: T) =>
  schema.nullish().transform((value) => value ?? undefined);

/** The same, with what stands for it then. */
export const orElse = <T extends z.ZodType, V>(schema: T, value: V) =>
  schema.nullish().transform((given) => given ?? value);
