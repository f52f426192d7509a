/** Joins what people wrote into a schema with what the code says now. */

interface ArgumentsSchema {
  type?: string;
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
  order?: string[];
  [name: string]: unknown;
}

/** Whether a type is that of the code, or one that the code cannot tell from it. */
const isNarrower = (earlier: unknown, inferred: unknown): boolean =>
  earlier === inferred || inferred === undefined || (earlier === "integer" && inferred === "number");

/**
 * Returns the schema of the code with the descriptions, formats and choices that the earlier one had for arguments of the
 * same name and type. Names, types, defaults and what is required come from the code.
 */
export function mergeSchema(earlier: unknown, inferred: unknown): Record<string, unknown> {
  const old = (earlier ?? {}) as ArgumentsSchema;
  const now = (inferred ?? {}) as ArgumentsSchema;
  const properties = Object.fromEntries(
    Object.entries(now.properties ?? {}).map(([name, property]) => {
      const before = old.properties?.[name];
      if (!before || !isNarrower(before.type, property.type)) return [name, property];
      const { default: _default, ...kept } = before;
      return [
        name,
        { ...property, ...kept, ...("default" in property ? { default: property.default } : {}) },
      ];
    }),
  );
  const names = Object.keys(properties);
  const order = (old.order ?? []).filter((name) => names.includes(name));
  return {
    ...now,
    properties,
    ...(order.length > 0 ? { order: [...order, ...names.filter((name) => !order.includes(name))] } : {}),
  };
}
