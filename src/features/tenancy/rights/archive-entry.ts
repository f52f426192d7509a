/** Files in the archive of a workspace, as existing clients know them. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { type Kept, unsaidOf } from "./unknown-fields.ts";

/**
 * A file of JSON; a field that is null or undefined is left out of it.
 * @param kept what clients said of the item that is not known here, or that means the same unsaid
 */
export function jsonEntry(name: string, fields: Record<string, unknown>, kept?: Kept | null): ZipEntry {
  const said = Object.entries(fields).filter(([, value]) => value != null);
  const content = { ...Object.fromEntries(said), ...unsaidOf(fields, kept) };
  return { name, content: JSON.stringify(content, null, 2) };
}

/** Leaves out what is false by default. */
export const unlessFalse = (value: boolean) => value || undefined;
