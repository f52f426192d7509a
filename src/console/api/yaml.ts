/** YAML without loss of precision, like JSON in `json.ts`. */
import { parse } from "yaml";

/** Converts integers that a double can represent to numbers; larger ones stay BigInt. */
export function toNumbers(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(toNumbers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toNumbers(each)]));
}

/** Parses YAML; integers beyond 2^53 become BigInt. @throws Error for invalid YAML */
export const parseYaml = (text: string): unknown =>
  toNumbers(parse(text, { intAsBigInt: true, maxAliasCount: 100 }));
