/**
 * Fields of a flow or step that no part of the panel shows, at any depth. `shown` contains the paths of shown fields,
 * with dots: `retry.constant.attempts`.
 */
import { type Fields, isRecord } from "../../../../api/json.ts";

type ShownFields = ReadonlySet<string>;

const isShownInside = (shown: ShownFields, path: string) =>
  [...shown].some((each) => each.startsWith(`${path}.`));

/** Returns the fields that are not shown; of a partly shown object, its other fields. */
export function readUnshownFields(value: Fields, shown: ShownFields, before = ""): Fields {
  const rest: Fields = {};
  for (const [name, each] of Object.entries(value)) {
    const path = before + name;
    if (shown.has(path)) continue;
    if (!isShownInside(shown, path)) rest[name] = each;
    else if (isRecord(each)) {
      const inner = readUnshownFields(each, shown, `${path}.`);
      if (Object.keys(inner).length > 0) rest[name] = inner;
    }
  }
  return rest;
}

/** Replaces the fields that are not shown. Shown fields stay, and so does the order of fields. */
export function replaceUnshownFields(value: Fields, shown: ShownFields, next: Fields, before = ""): Fields {
  const replaced: Fields = {};
  for (const [name, each] of Object.entries(value)) {
    const path = before + name;
    const given = next[name];
    if (shown.has(path)) replaced[name] = each;
    else if (!isShownInside(shown, path)) {
      if (Object.hasOwn(next, name)) replaced[name] = given;
    } else if (!isRecord(each)) replaced[name] = given ?? each;
    else replaced[name] = replaceUnshownFields(each, shown, isRecord(given) ? given : {}, `${path}.`);
  }
  const added = Object.entries(next).filter(([name]) => !Object.hasOwn(value, name));
  return { ...replaced, ...Object.fromEntries(added) };
}

/** Returns the path of a field that is shown elsewhere; undefined if there is none. */
export function findShownField(next: Fields, shown: ShownFields, before = ""): string | undefined {
  for (const [name, each] of Object.entries(next)) {
    const path = before + name;
    if (shown.has(path)) return path;
    if (!isShownInside(shown, path)) continue;
    if (!isRecord(each)) return path;
    const found = findShownField(each, shown, `${path}.`);
    if (found !== undefined) return found;
  }
  return undefined;
}
