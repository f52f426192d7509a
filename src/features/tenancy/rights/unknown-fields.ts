/**
 * What clients say of an item that is not known here: it is stored with the item, means nothing, and is given back as it
 * was. So files of a workspace that come from elsewhere go in, and come out again as they are.
 */
import { z } from "zod";

/** Fields with what was said of them. A null was said. */
export type Kept = Record<string, unknown>;

/** What tells an operation how to go about it, and is no part of the item. */
const OF_THE_CALL = new Set([
  "deployment_message",
  "skip_draft_deletion",
  "preserve_on_behalf_of",
  "preserve_permissioned_as",
  "auto_parent",
  // Found here, whatever came with a script.
  "lock",
  "extra",
  // Which item it is.
  "name",
  "path",
]);

/** Known ones whose being said is remembered all the same: another field says it too. */
const REMEMBERED = new Set(["mode"]);

/** Whether a value means the same as if it were not said. */
const isEmpty = (value: unknown) => value === null || value === false || value === 0 || value === "";

/**
 * A body whose fields the schema does not name are kept: they stand in its `extra`, and so do the known ones that were
 * said to be nothing (null, false, 0, ""), which are stored as if they were not said.
 */
export function keepingOthers<S extends z.ZodObject>(
  schema: S,
): z.ZodType<z.output<S> & { extra?: Kept | undefined }, z.input<S>> {
  const known = schema.shape;
  const withExtra = schema.extend({ extra: z.record(z.string(), z.unknown()).optional() });
  const keeping = z.preprocess((body) => {
    if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
    const kept = Object.entries(body).filter(
      ([name, value]) =>
        !OF_THE_CALL.has(name) && (isEmpty(value) || REMEMBERED.has(name) || !Object.hasOwn(known, name)),
    );
    return { ...body, extra: Object.fromEntries(kept) };
  }, withExtra);
  return keeping as unknown as ReturnType<typeof keepingOthers<S>>;
}

/** What is kept once a change was said: a null takes a field away that was kept before. */
export function mergeKept(before: Kept | null, said: Kept | undefined): Kept | null {
  const all = { ...before, ...said };
  return Object.keys(all).length > 0 ? all : null;
}

/** What was kept of an item and is not among its fields, or says of a field that is nothing how it was said. */
export function unsaidOf(fields: Kept, kept: Kept | null | undefined): Kept {
  const said = Object.entries(kept ?? {}).filter(([name, value]) => {
    const is = fields[name];
    return is === undefined || is === null || (isEmpty(is) && isEmpty(value));
  });
  return Object.fromEntries(said);
}
