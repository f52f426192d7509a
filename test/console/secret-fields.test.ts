/** Secrets in forms are neither stored in the browser nor put into links. */
import { expect, test } from "bun:test";
import {
  omitSecrets,
  omitSecretsAndFiles,
} from "../../src/console/parts/form/history-state/secret-fields.ts";

test("the state of a form that survives a reload has no secret and no file, at any depth", () => {
  const secret = { type: "string", password: true };
  const file = { type: "string", contentEncoding: "base64" };
  const schema = {
    type: "object",
    properties: {
      name: { type: "string" },
      token: secret,
      taken: secret,
      file,
      files: { type: "array", items: file },
      people: { type: "array", items: { type: "object", properties: { pin: secret, age: {} } } },
      login: { oneOf: [{ properties: { user: {} } }, { properties: { key: secret, host: {} } }] },
    },
  };
  const people = [{ pin: "1234", age: 3 }, { age: 4 }];
  const values = {
    name: "Bob",
    token: "hunter2",
    taken: "$var:u/ann/token",
    file: "eHl6",
    files: ["eHl6"],
    people,
    login: { key: "k", host: "h" },
    unknown: [{ a: null }],
  };
  const kept = {
    name: "Bob",
    taken: "$var:u/ann/token",
    files: [] as string[],
    people: [{ age: 3 }, { age: 4 }],
    login: { host: "h" },
    unknown: [{ a: null }],
  };
  expect(omitSecretsAndFiles(schema, values)).toEqual(kept);
  expect(omitSecrets(schema, values)).toEqual({
    ...kept,
    file: values.file,
    files: values.files,
  } as never);
  expect(omitSecrets(undefined, values)).toEqual(values);
});

test("a field with the format of a password is a secret too", () => {
  const schema = { properties: { key: { type: "string", format: "password" }, name: { type: "string" } } };
  expect(omitSecrets(schema, { key: "hunter2", name: "Bob" })).toEqual({ name: "Bob" });
  expect(omitSecrets(schema, { key: "$var:u/ann/key" })).toEqual({ key: "$var:u/ann/key" });
});

test("resources are kept as references, not written out", () => {
  const db = { type: "object", format: "resource-postgresql" };
  const schema = { properties: { db, other: db, all: { type: "array", items: db } } };
  const references = { db: "$res:u/ann/db", all: ["$res:u/ann/db"] };
  expect(omitSecrets(schema, references)).toEqual(references);
  expect(omitSecrets(schema, { db: { password: "hunter2" }, all: ["$res:u/ann/db", {}] })).toEqual({
    all: [],
  });
});

test("a type that only the script declares is kept, but for its secret fields", () => {
  const order = { type: "object", format: "resource-order", properties: { id: {}, pin: { password: true } } };
  const schema = { properties: { order, all: { type: "array", items: order } } };
  const values = { order: { id: 7, pin: "1234" }, all: [{ id: 8 }] };
  expect(omitSecrets(schema, values, ["slack"])).toEqual({ order: { id: 7 }, all: [{ id: 8 }] });
  expect(omitSecrets(schema, values, ["order"])).toEqual({ all: [] });
  // As long as the types are not known.
  expect(omitSecrets(schema, values)).toEqual({ all: [] });
});

const KEY = { type: "string", format: "password" };
const HOLDERS: Record<string, unknown> = {
  $ref: { properties: { key: { $ref: "#/$defs/ke~1y" } }, $defs: { "ke/y": KEY } },
  "a $ref of the object": { $ref: "#/$defs/all", $defs: { all: { properties: { key: KEY } } } },
  "a $ref that names nothing": { properties: { key: { $ref: "#/$defs/none" } } },
  "a $ref to another document": { properties: { key: { $ref: "https://example.org/key.json" } } },
  "a $ref to an anchor": { properties: { key: { $ref: "#key" } } },
  "one of the alternatives": { properties: { key: { anyOf: [{ type: "number" }, KEY] } } },
  dependencies: { dependencies: { name: { properties: { key: KEY } } } },
  additionalProperties: { additionalProperties: KEY, properties: { name: {} } },
  patternProperties: { patternProperties: { "^k": KEY }, properties: { name: {} } },
};

for (const keyword of ["if", "then", "else", "unevaluatedProperties"]) {
  const holder = keyword === "unevaluatedProperties" ? KEY : { properties: { key: KEY } };
  HOLDERS[keyword] = { properties: { name: {} }, [keyword]: holder };
}

for (const [holder, schema] of Object.entries(HOLDERS)) {
  test(`a secret is found by ${holder}`, () => {
    expect(omitSecrets(schema, { key: "hunter2", name: "Bob" })).toEqual({ name: "Bob" });
  });
}

test("secrets are found in lists with a schema for each position, and in recursive schemas", () => {
  const pair = { type: "array", prefixItems: [{ type: "string" }, KEY] };
  expect(omitSecrets({ properties: { pair } }, { pair: ["Bob", "hunter2"] })).toEqual({ pair: [] });
  const tree = { $ref: "#", properties: { key: KEY, inner: { $ref: "#" } } };
  const values = { key: "a", inner: { key: "b", inner: { name: "Bob" } } };
  expect(omitSecrets(tree, values)).toEqual({ inner: { inner: { name: "Bob" } } });
});
