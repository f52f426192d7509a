/** Creates files of a workspace's archive, in the form that existing clients know. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { pickUnknownFields, type UnknownFields } from "./unknown-fields.ts";

/**
 * Returns a JSON file; fields that are null or undefined are left out.
 * @param kept unknown fields of the item, and fields whose explicit form must be preserved; see `unknown-fields.ts`
 */
export function createJsonEntry(
  name: string,
  fields: Record<string, unknown>,
  kept?: UnknownFields | null,
): ZipEntry {
  const said = Object.entries(fields).filter(([, value]) => value != null);
  const content = { ...Object.fromEntries(said), ...pickUnknownFields(fields, kept) };
  return { name, content: JSON.stringify(content, null, 2) };
}

/** Returns undefined for false, so that fields with the default false are left out. */
export const omitFalse = (value: boolean) => value || undefined;
