/**
 * Writes the fields of an item into an existing YAML file. Lines that do not change keep their formatting: comments,
 * the order of fields and quotes. Files without formatting of their own are written in the format of `svc pull`.
 */
import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type ParsedNode,
  parseDocument,
  type ToStringOptions,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { isEmptyValue } from "./canonical.ts";
import type { Fields } from "./items.ts";

const parse = (text: string): Document => parseDocument(text, { intAsBigInt: true }) as Document<ParsedNode>;

export interface FileFormat {
  format(fields: Fields): string;
  /** Files whose canonical fields are equal describe the same item. */
  toCanonical(fields: Fields): Fields;
}

/** Fields that are written even if they have the default value. */
const ALWAYS_STATED = ["enabled", "mode"];

/**
 * Writes new fields into the text of an existing file.
 * @param before current text of the file
 * @param wanted new text of the file, in the format of `format`
 * @returns the text to write: `wanted` if the formatting cannot be preserved
 */
export function preserveFormatting(
  before: string,
  wanted: string,
  { format, toCanonical }: FileFormat,
): string {
  if (before === wanted) return wanted;
  const document = parse(before);
  const next = parse(wanted);
  if (document.errors.length > 0 || !isMap(document.contents) || !isMap(next.contents)) return wanted;
  if (hasAliases(document) || format(document.toJS() as Fields) === before) return wanted;
  const style = findStyle(document, before);
  const readFields = (text: string) => parseDocument(text).toJS() as Fields;
  const fields = readFields(wanted);
  const isSameItem = (one: Fields, other: Fields) => Bun.deepEquals(toCanonical(one), toCanonical(other));
  mergeMap(document.contents, next.contents, { document, next }, (pair) => {
    const name = nameOf(pair);
    const value = toJs(pair.value, next);
    if (ALWAYS_STATED.includes(name) || !isEmptyValue(value)) return false;
    const { [name]: _, ...others } = fields;
    return isSameItem({ ...others, [name]: value }, others);
  });
  const text = document.toString(style);
  const isWritten = Bun.deepEquals(parse(text).toJS(), document.toJS());
  return isWritten && isSameItem(readFields(text), fields) ? text : wanted;
}

function hasAliases(document: Document): boolean {
  let found = false;
  visit(document, {
    Alias: () => {
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** Options are tried one after the other, since they hardly depend on each other. */
const STYLES: ToStringOptions[][] = [
  [{ lineWidth: 0 }, { lineWidth: 80 }, { lineWidth: 120 }],
  [{ indentSeq: true }, { indentSeq: false }],
  [{ flowCollectionPadding: true }, { flowCollectionPadding: false }],
  [{ indent: 2 }, { indent: 4 }],
];

/** Returns the style that reproduces the file best. */
function findStyle(document: Document, text: string): ToStringOptions {
  // No style preserves the number of spaces before a comment.
  const linesOf = (each: string) => each.replace(/[ \t]+#/g, " #").split("\n");
  const lines = new Set(linesOf(text));
  const countOthers = (style: ToStringOptions) =>
    linesOf(document.toString(style)).filter((line) => !lines.has(line)).length;
  let best: ToStringOptions = {};
  for (const choices of STYLES) {
    const rated = choices.map((each) => ({ ...best, ...each }));
    const counts = rated.map(countOthers);
    best = rated[counts.indexOf(Math.min(...counts))]!;
  }
  return best;
}

interface Documents {
  document: Document;
  next: Document;
}

type Value = Node | null;

const isSame = (old: unknown, wanted: unknown, { document, next }: Documents): boolean =>
  Bun.deepEquals(toJs(old, document), toJs(wanted, next));

const toJs = (value: unknown, document: Document): unknown => (value as Value)?.toJS(document) ?? null;

/**
 * Merges a wanted YAML node into an old one and keeps the old formatting.
 * @returns the new node: the old one where its value is unchanged
 */
function merge(old: Value, wanted: Value, documents: Documents): Value {
  if (isSame(old, wanted, documents)) return old;
  if (isMap(old) && isMap(wanted)) mergeMap(old, wanted, documents);
  else if (isSeq(old) && isSeq(wanted)) mergeList(old, wanted, documents);
  else {
    if (!old || !wanted) return wanted;
    const { comment, commentBefore, spaceBefore } = old;
    Object.assign(wanted, { comment, commentBefore, spaceBefore });
    const isLine = isScalar(wanted) && typeof wanted.value === "string" && !wanted.value.includes("\n");
    // A value that needs quotes keeps those of `wanted`.
    if (isLine && isScalar(old) && (old.type === "QUOTE_SINGLE" || old.type === "QUOTE_DOUBLE"))
      wanted.type = old.type;
    return wanted;
  }
  return old;
}

type Pair = YAMLMap["items"][number];

const nameOf = (pair: unknown): string =>
  isPair(pair) ? String(isScalar(pair.key) ? pair.key.value : pair.key) : "";

/**
 * Merges the fields of a YAML map and keeps their order and comments.
 * @param isMissing whether a value means the same as a missing field: such a field is neither added nor removed
 */
function mergeMap(
  map: YAMLMap,
  wanted: YAMLMap,
  documents: Documents,
  isMissing: (pair: Pair) => boolean = isEmptyLock,
): void {
  const names = new Set(wanted.items.map(nameOf));
  map.items = map.items.filter((pair) => names.has(nameOf(pair)) || isMissing(pair));
  // The comment before the first field may be the file's, so nothing is added before it.
  let at = Math.min(1, map.items.length);
  for (const pair of wanted.items) {
    const index = map.items.findIndex((each) => nameOf(each) === nameOf(pair));
    if (index >= 0) {
      const there = map.items[index]!;
      there.value = merge(there.value as Value, pair.value as Value, documents);
      at = index + 1;
    } else if (!isMissing(pair)) {
      map.items.splice(at++, 0, pair);
    }
  }
}

/** Whether the pair is the lock of code without packages, which files do not mention. */
const isEmptyLock = (pair: Pair): boolean =>
  nameOf(pair) === "lock" && isScalar(pair.value) && pair.value.value === "";

const idOf = (item: unknown): unknown => (isMap(item) ? item.get("id") : undefined);

/**
 * Merges the items of a YAML list. Items are the same if they are equal, have the same id, or, without ids, have the
 * same index.
 */
function mergeList(list: YAMLSeq, wanted: YAMLSeq, documents: Documents): void {
  const left = new Set<unknown>(list.items);
  const found = new Map<unknown, unknown>();
  const pass = (matches: (old: unknown, item: unknown, index: number) => boolean) => {
    for (const [index, item] of wanted.items.entries()) {
      if (found.has(item)) continue;
      const old = [...left].find((each) => matches(each, item, index));
      if (old === undefined) continue;
      found.set(item, old);
      left.delete(old);
    }
  };
  pass((old, item) => idOf(old) !== undefined && idOf(old) === idOf(item));
  pass((old, item) => isSame(old, item, documents));
  pass((old, item, index) => list.items[index] === old && idOf(old) === idOf(item));
  list.items = wanted.items.map((item) => {
    const old = found.get(item);
    return old === undefined ? item : merge(old as Value, item as Value, documents);
  });
}
