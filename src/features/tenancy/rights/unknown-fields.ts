/**
 * Keeps fields of an item that this version does not know. They are stored with the item, have no effect, and are
 * returned unchanged, so files written by other versions survive a round trip.
 */
import { addedByServer } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";

/** The kept fields and their values. An explicit null counts as a value. */
export type UnknownFields = Record<string, unknown>;

/** Body fields that are options of the call, not fields of the item. */
const CALL_OPTIONS = new Set([
  "deployment_message",
  "skip_draft_deletion",
  "preserve_on_behalf_of",
  "preserve_permissioned_as",
  "auto_parent",
  // Determined by the server, whatever a script's body says.
  "lock",
  "extra",
  // Identifies the item.
  "name",
  "path",
]);

/** The code of a script: a file may be empty, and it is not part of the metadata. */
const CODE = "content";

/** Known fields that are kept nevertheless, because a second field has the same meaning. */
const ALWAYS_KEPT = new Set(["mode"]);

/** Whether a value means the same as an absent field. */
const isEmptyValue = (value: unknown) => value === null || value === false || value === 0 || value === "";

/** Whether a value is an object or list without members, as a null is stored in some columns. */
const hasNoMembers = (value: unknown) => typeof value === "object" && Object.keys(value ?? {}).length === 0;

/**
 * Extends a body schema to collect unknown fields in `extra`. Known fields with the values null, false, 0 or "" are
 * collected too, since the item's columns cannot distinguish them from absent ones.
 * @param elsewhere fields of another operation on the item; they are ignored, because they would take effect when
 * that operation reads them from an archive
 */
export function keepUnknownFields<S extends z.ZodObject>(
  schema: S,
  elsewhere: readonly string[] = [],
): z.ZodType<z.output<S> & { extra?: UnknownFields | undefined }, z.input<S>> {
  const known = schema.shape;
  const withExtra = schema.extend({ extra: addedByServer });
  const keeping = z.preprocess((body) => {
    if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
    const kept = Object.entries(body).filter(
      ([name, value]) =>
        !CALL_OPTIONS.has(name) &&
        !elsewhere.includes(name) &&
        ((isEmptyValue(value) && name !== CODE) || ALWAYS_KEPT.has(name) || !Object.hasOwn(known, name)),
    );
    return { ...body, extra: Object.fromEntries(kept) };
  }, withExtra);
  return keeping as unknown as ReturnType<typeof keepUnknownFields<S>>;
}

/** Merges kept fields with those of an update. */
export function mergeUnknownFields(
  before: UnknownFields | null,
  said: UnknownFields | undefined,
): UnknownFields | null {
  const all = { ...before, ...said };
  return Object.keys(all).length > 0 ? all : null;
}

/** Returns the kept fields that the item's own fields do not already express. */
export function pickUnknownFields(
  fields: UnknownFields,
  kept: UnknownFields | null | undefined,
): UnknownFields {
  const said = Object.entries(kept ?? {}).filter(([name, value]) => {
    const is = fields[name];
    return is === undefined || is === null || (isEmptyValue(value) && (isEmptyValue(is) || hasNoMembers(is)));
  });
  return Object.fromEntries(said);
}
