/** Names of values that are too large to be compared or kept as text. */

const numbers = new WeakMap<object, number>();
let last = 0;

/** A text for a value: of an object its number, which it keeps as long as it is the same object. */
export function identify(value: unknown): string {
  if (typeof value !== "object" || value === null) return `${typeof value} ${String(value)}`;
  const known = numbers.get(value) ?? ++last;
  numbers.set(value, known);
  return `#${known}`;
}
