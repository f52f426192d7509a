/**
 * Every field of the bodies of operations on users, workspaces and audit rows, missing or of a wrong type: the
 * response is 400, names the field and says what is expected.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import * as z from "../../../../src/lib/zod/z.ts";
import type { Operation } from "../../../../src/platform/http/operation.ts";
import { operations } from "../../../../src/server/features.ts";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let root: Ask;

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
  root = (await server.user("root", { super_admin: true })).ask;
});
afterAll(() => server.stop());

const NOUNS =
  /^(\/w\/\{workspace\})?\/(audit|auth|users|workspaces|folders|groups|acls|favorites|inputs|drafts)\//;

type Schema = {
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
};

/** Returns the schemas of a body's fields, as described to clients. */
const fieldsOf = ({ body, query }: Operation): Schema =>
  z.toJSONSchema((body ?? query)!, { io: "input", unrepresentable: "any" }) as Schema;

/** Returns the JSON types that a field accepts; none if it accepts any. */
const kindsOf = ({ type, anyOf }: Schema): string[] => anyOf?.flatMap(kindsOf) ?? (type ? [type].flat() : []);

/** A valid value of a field. */
function right(schema: Schema): unknown {
  if (schema.enum) return schema.enum[0];
  const [kind = "string"] = kindsOf(schema);
  return { boolean: true, integer: 1, number: 1, array: [], object: {}, null: null }[kind] ?? "some-text";
}

/** A value of a type that the field rejects; undefined if there is none. */
function wrong(schema: Schema): unknown {
  const kinds = kindsOf(schema);
  if (kinds.length === 0) return undefined;
  return [true, { of: "another kind" }, "text"].find((value) => !kinds.includes(typeof value));
}

const all = operations.filter((op) => NOUNS.test(op.path) && op.body !== undefined);
const cases = all.flatMap((op) => {
  const { properties: described = {}, required = [] } = fieldsOf(op);
  // The server decides what it keeps of unknown fields, not the caller.
  const { extra: _, ...properties } = described;
  const whole = Object.fromEntries(required.map((name) => [name, right(properties[name]!)]));
  const absent = required
    // A field that accepts any type also accepts null, which counts as missing.
    .filter((name) => kindsOf(properties[name]!).length > 0)
    .map((name) => [op.name, "without", name, op, { ...whole, [name]: undefined }] as const);
  const other = Object.entries(properties)
    .filter(([, schema]) => wrong(schema) !== undefined)
    .map(
      ([name, schema]) => [op.name, "with another", name, op, { ...whole, [name]: wrong(schema) }] as const,
    );
  return [...absent, ...other];
});

test("there are cases for most operations with a body", () => {
  expect(cases.length).toBeGreaterThan(100);
  const tried = new Set(cases.map(([name]) => name));
  // Settings of other clients, which may have any form, and lists.
  const others = ["updateOperatorSettings", "globalUsersOverwrite", "overwriteInstanceGroups"];
  expect(all.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual(others);
});

test.each(cases)("%s %s `%s`", async (_, how, name, op, body) => {
  const path = op.path
    .replace("{workspace}", "acme")
    .replace("{path}", "u/admin/x")
    .replace(/\{\w+\}/g, "x");
  const answer = await root(op.method, path + queryOf(op), body);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`body field \`${name}\``)]);
  const right = how === "without" ? /: (is missing, and )?must be/ : /: must be/;
  expect(answer.text).toMatch(right);
});

/** Returns the required query parameters of an operation. */
function queryOf(op: Operation): string {
  if (!op.query) return "";
  const { properties = {}, required = [] } = z.toJSONSchema(op.query, {
    io: "input",
    unrepresentable: "any",
  }) as Schema;
  const parts = required.map((name) => {
    return `${name}=${right(properties[name]!)}`;
  });
  return parts.length > 0 ? `?${parts.join("&")}` : "";
}
