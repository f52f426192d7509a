/** Schemas that are created once. */
import { expect, test } from "bun:test";
import * as z from "../../src/lib/zod/z.ts";

test("equal plain schemas are one, and what is derived from one does not change it", () => {
  expect(z.string()).toBe(z.string());
  expect(z.boolean().optional()).toBe(z.boolean().optional());
  const named = z.string().describe("a name").meta({ id: "Name" });
  const short = z.string().max(1);
  expect(z.globalRegistry.get(named)?.id).toBe("Name");
  expect(z.globalRegistry.get(z.string())).toBeUndefined();
  expect(short.safeParse("ab").success).toBe(false);
  expect(z.string().parse("ab")).toBe("ab");
  expect(z.string("needed").safeParse(1).error!.issues[0]!.message).toBe("needed");
  expect(z.number().nullish().parse(null)).toBeNull();
});
