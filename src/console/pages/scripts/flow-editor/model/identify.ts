/** Assigns numbers to objects that are too large to be compared or stored as text. */

const numbers = new WeakMap<object, number>();
let last = 0;

/** Returns a text that identifies a value; for an object, its number, which stays the same for that object. */
export function identifyValue(value: unknown): string {
  if (typeof value !== "object" || value === null) return `${typeof value} ${String(value)}`;
  const known = numbers.get(value) ?? ++last;
  numbers.set(value, known);
  return `#${known}`;
}
