/** Lists the arguments that a schema marks as passwords, by `format` or by the older field `password`. */
export function listPasswordFields(schema: unknown): string[] {
  const properties = (schema as { properties?: unknown } | null | undefined)?.properties;
  if (typeof properties !== "object" || properties === null) return [];
  return Object.entries(properties)
    .filter(([, field]) => field?.format === "password" || field?.password === true)
    .map(([name]) => name);
}
