/** Newer clients send fields that this interface does not know: no operation refuses a body for one. */
import { expect, test } from "bun:test";
import * as z from "../../../src/lib/zod/z.ts";
import { operations } from "../../../src/server/features.ts";

/** Lists the places of a schema that reject unknown fields. */
function closed(schema: unknown, at: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const here = (schema as { additionalProperties?: unknown }).additionalProperties === false ? [at] : [];
  return [...here, ...Object.entries(schema).flatMap(([name, inner]) => closed(inner, `${at}.${name}`))];
}

test("no body is rejected because of an unknown field", () => {
  const found = operations.flatMap(({ name, body }) =>
    body ? closed(z.toJSONSchema(body, { io: "input", unrepresentable: "any" }), name) : [],
  );
  expect(found).toEqual([]);
});
