/** Triggers in the archive of a workspace. Who edited them, and where they run, is left out. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { jsonEntry } from "../../tenancy/rights/archive-entry.ts";
import type { Kept } from "../../tenancy/rights/unknown-fields.ts";
import { modeOf } from "./mode.ts";

/** Whether it is switched on is said as it was said when it came: by a word, or by yes or no. */
export function triggerEntry(
  kind: string,
  row: { path: string; enabled: boolean; extra: Kept | null },
  fields: Kept,
): ZipEntry {
  const { mode, enabled: _, ...kept } = row.extra ?? {};
  const switched = mode === undefined ? { enabled: row.enabled } : { mode: modeOf(row.enabled) };
  return jsonEntry(`${row.path}.${kind}.json`, { ...fields, ...switched }, kept);
}
