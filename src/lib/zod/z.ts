/**
 * Zod, with one schema for each plain type. The interface has some 5,000 schemas, half of which are equal
 * (`z.string()`, `z.boolean().optional()`); creating each of them would delay the start of a server by a tenth. A shared
 * schema must not be registered (`register`): `meta` and `describe` copy it.
 */
import * as zod from "zod";

export * from "zod";

/** Returns one schema for all calls without parameters, since schemas never change. */
function share<F extends (...parameters: never[]) => zod.ZodType>(create: F): F {
  let plain: zod.ZodType | undefined;
  const get = (...parameters: never[]) => {
    if (parameters.length > 0) return create(...parameters);
    plain ??= shareVariants(create());
    return plain;
  };
  return get as F;
}

/** Creates the schema's optional and nullable variants once. */
function shareVariants<S extends zod.ZodType>(schema: S): S {
  for (const name of ["optional", "nullable", "nullish"] as const) {
    let variant: zod.ZodType | undefined;
    const create = schema[name].bind(schema);
    Object.defineProperty(schema, name, {
      value: () => {
        variant ??= create();
        return variant;
      },
    });
  }
  return schema;
}

export const string = share(zod.string);
export const number = share(zod.number);
export const boolean = share(zod.boolean);
export const unknown = share(zod.unknown);
