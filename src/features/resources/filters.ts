/** Filters of the list of resources, as the query says them. */

/** `a, b` → ["a", "b"]; undefined when there is nothing in it */
export function csv(text: string | undefined): string[] | undefined {
  const parts = (text ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.length > 0 ? parts : undefined;
}

/**
 * What `value=…` asks of a stored value: JSON (as it is or in base64) asks that the value holds it, object in object;
 * any other text asks that the value's JSON contains it, in any case of letters.
 */
export function valueFilter(text: string): (value: unknown) => boolean {
  const wanted = parseObject(text) ?? parseObject(Buffer.from(text, "base64").toString("utf8"));
  if (wanted !== undefined) return (value) => holds(value, wanted);
  const words = text.toLowerCase();
  return (value) => JSON.stringify(value).toLowerCase().includes(words);
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function holds(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return value === wanted;
  if (typeof value !== "object" || value === null || Array.isArray(value) !== Array.isArray(wanted))
    return false;
  if (Array.isArray(wanted))
    return wanted.every((each) => (value as unknown[]).some((inner) => holds(inner, each)));
  return Object.entries(wanted).every(
    ([key, each]) => Object.hasOwn(value, key) && holds((value as Record<string, unknown>)[key], each),
  );
}
