/** YAML without loss of precision, as JSON is read. */
import { parse } from "yaml";

/** Makes plain numbers of integers that a double holds; larger ones stay BigInt. */
export function toNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(toNumbers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toNumbers(each)]));
}

/** @throws Error for text that is no YAML */
export const parseYaml = (text: string): unknown =>
  toNumbers(parse(text, { intAsBigInt: true, maxAliasCount: 100 }));
