/** Triggers in the archive of a workspace. The editor and server-specific fields are left out. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { createJsonEntry } from "../../tenancy/rights/archive-entry.ts";
import type { UnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { toTriggerMode } from "./mode.ts";

/** Writes the enabled state in the form the client used: `mode` or `enabled`. */
export function createTriggerEntry(
  kind: string,
  row: { path: string; enabled: boolean; extra: UnknownFields | null },
  fields: UnknownFields,
): ZipEntry {
  const { mode, enabled: _, ...kept } = row.extra ?? {};
  const switched = mode === undefined ? { enabled: row.enabled } : { mode: toTriggerMode(row.enabled) };
  return createJsonEntry(`${row.path}.${kind}.json`, { ...fields, ...switched }, kept);
}
