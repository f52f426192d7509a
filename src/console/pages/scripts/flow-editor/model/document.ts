/** The edited flow: the document as the server sent it. It is never mutated, and unknown fields are kept. */

import { type Fields, isRecord } from "../../../../api/json.ts";

/** Position in the document: names of fields and indexes of lists, from the root. */
export type Path = readonly (string | number)[];

/** The fields that a deployment sends: path, texts, input schema, the flow's value and its settings. */
export interface FlowDocument extends Fields {
  path: string;
  value: Fields;
}

/** Fields that the server returns and a deployment does not send. */
const READ_ONLY = [
  "workspace_id",
  "version_id",
  "edited_by",
  "edited_at",
  "archived",
  "extra_perms",
  "starred",
  "draft_only",
  "draft",
  "other_drafts",
] as const;

/** Returns the part of a flow that is edited and sent as its next version, unknown fields included. */
export function toDocument(found: Fields): FlowDocument {
  const document = { ...found };
  for (const name of READ_ONLY) delete document[name];
  return document as FlowDocument;
}

/**
 * Returns a copy with another value at the path. Unchanged parts are shared, and the order of fields is kept. Undefined
 * removes the field. Missing objects on the path are created.
 */
export function setValueAt<T>(value: T, path: Path, next: unknown): T {
  const [name, ...rest] = path;
  if (name === undefined) return next as T;
  if (Array.isArray(value)) {
    const item = setValueAt(value[name as number], rest, next);
    if (item === value[name as number]) return value;
    const copy = [...value];
    copy[name as number] = item;
    return copy as T;
  }
  const fields: Fields = isRecord(value) ? value : {};
  const inner = setValueAt(Object.hasOwn(fields, name) ? fields[name] : undefined, rest, next);
  if (inner === fields[name] && (inner !== undefined || !Object.hasOwn(fields, name))) return value;
  if (inner !== undefined) return { ...fields, [name]: inner } as T;
  const { [name]: _removed, ...others } = fields;
  return others as T;
}
