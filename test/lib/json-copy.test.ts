/** Copies of JSON values, such as the state of a flow before each transition. */
import { expect, test } from "bun:test";
import { copyJson, parseJson } from "../../src/lib/json/json.ts";

test("a copy has the members of the value, also those named __proto__, and shares none with it", () => {
  const text = '{"a":{"b":[1,{"c":null}]},"__proto__":{"isAdmin":true},"n":12345678901234567890}';
  const value = parseJson(text) as { a: { b: unknown[] }; isAdmin?: boolean };
  const copy = copyJson(value);
  expect(JSON.stringify(copy)).toBe(text);
  expect(copy.isAdmin).toBeUndefined();
  copy.a.b.push("added");
  expect(JSON.stringify(value)).toBe(text);
});

test("a copy keeps members that are undefined", () => {
  expect(Object.keys(copyJson({ a: undefined }))).toEqual(["a"]);
});
