/** Functions of the console that run without a browser. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson, writeJson } from "../../src/console/api/json.ts";
import {
  countPopoverFilters,
  parseFilters,
  serializeFilters,
  toQuery,
} from "../../src/console/pages/runs/filters.ts";
import { mergeSchema } from "../../src/console/pages/scripts/edit/merge-schema.ts";
import { hasFields, prepareForm } from "../../src/console/parts/form/prepare.ts";
import { splitByStyle, stripStyles } from "../../src/console/parts/runs/log/ansi.ts";
import { LogBuffer } from "../../src/console/parts/runs/log/buffer.ts";
import { classifyResult } from "../../src/console/parts/runs/result/kinds.ts";

test("numbers keep their digits in requests and responses", () => {
  const text = '{"id":3544790567247868102,"small":7,"half":0.5,"list":[-9223372036854775808]}';
  const value = parseJson(text) as { id: unknown; small: unknown };
  expect([value.id, value.small]).toEqual([3544790567247868102n, 7]);
  expect(writeJson(value)).toBe(text);
  fc.assert(
    fc.property(fc.json(), (json) =>
      expect(JSON.parse(writeJson(parseJson(json)))).toEqual(JSON.parse(json)),
    ),
  );
});

const choices = fc.record({
  status: fc.constantFrom("all", "running", "waiting", "suspended", "succeeded", "failed"),
  kind: fc.constantFrom("runs", "scripts", "flows", "previews", "everything"),
  path: fc.string(),
  user: fc.string(),
  args: fc.string(),
  label: fc.string(),
});

test("the URL of Runs contains all active filters, and nothing else", () => {
  fc.assert(
    fc.property(choices, (chosen) => {
      const search = new URLSearchParams(chosen);
      const filters = parseFilters(search);
      expect(filters).toMatchObject(chosen as object);
      expect(parseFilters(new URLSearchParams(serializeFilters(filters).toString()))).toEqual(filters);
    }),
  );
  expect(serializeFilters(parseFilters(new URLSearchParams())).size).toBe(0);
  const odd = parseFilters(new URLSearchParams("status=odd&kind=odd&after=yesterday&nothing=1"));
  expect(serializeFilters(odd).size).toBe(0);
  const narrow = parseFilters(
    new URLSearchParams("status=failed&tag=bun&user=ann&after=2026-01-02T03:04:05Z"),
  );
  expect(countPopoverFilters(narrow)).toBe(2);
  expect(toQuery(narrow)).toMatchObject({
    success: false,
    canceled: false,
    tag: "bun",
    created_by: "ann",
    has_null_parent: true,
  });
});

test("colours of a log become classes; other escape sequences are ignored", () => {
  expect(splitByStyle("\u001b[1;31mred\u001b[0m plain \u001b[92mgreen\u001b[39m\u001b[2K end")).toEqual([
    { text: "red", classes: "ansi-bold ansi-1" },
    { text: " plain ", classes: "" },
    { text: "green", classes: "ansi-2" },
    { text: " end", classes: "" },
  ]);
  expect(stripStyles("\u001b]8;;https://example.com\u0007link\u001b]8;;\u0007")).toBe("link");
  // 256 and true colours are mapped to the nearest basic colour, and codes after them are applied too.
  const classesOf = (codes: string) => splitByStyle(`\u001b[${codes}mx`)[0]!.classes;
  expect(classesOf("38;5;196;1")).toBe("ansi-1 ansi-bold");
  expect(["38;5;9", "38;5;34", "38;5;27", "38;5;244"].map(classesOf)).toEqual([
    "ansi-1",
    "ansi-2",
    "ansi-4",
    "",
  ]);
  expect(["38;2;255;200;0", "38;2;9;9;9", "48;2;255;0;0", "38"].map(classesOf)).toEqual([
    "ansi-3",
    "",
    "",
    "",
  ]);
  expect(classesOf("48;5;196;32")).toBe("ansi-2");
  fc.assert(
    fc.property(fc.string(), (line) =>
      expect(
        splitByStyle(line)
          .map(({ text }) => text)
          .join(""),
      ).toBe(stripStyles(line)),
    ),
  );
});

test("of a line that a program overwrote, the last text is shown", () => {
  const buffer = new LogBuffer();
  buffer.append("10 %\r50 %\r100 %\r\ndone\r\n1 of 2\r2 of 2");
  expect(Array.from({ length: buffer.length }, (_, index) => buffer.line(index))).toEqual([
    "100 %",
    "done",
    "2 of 2",
  ]);
});

test("a log is the same in chunks of any size", () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-c\n]*$/)), (pieces) => {
      const buffer = new LogBuffer();
      for (const piece of pieces) buffer.append(piece);
      const lines = Array.from({ length: buffer.length }, (_, index) => buffer.line(index));
      const whole = pieces.join("").split("\n");
      if (whole.at(-1) === "") whole.pop();
      expect(lines).toEqual(whole);
    }),
  );
  const buffer = new LogBuffer();
  buffer.append("One\ntwo \u001b[31mON\u001b[0mE\r\nthree");
  expect(buffer.find("one")).toEqual([0, 1]);
});

test("a result is classified by its shape", () => {
  const kinds: [unknown, string][] = [
    [null, "nothing"],
    ["text", "text"],
    [7, "json"],
    [{ a: 1 }, "json"],
    [[1, 2], "json"],
    [[{ a: 1 }, { a: 2, b: 3 }], "table"],
    [
      [
        ["a", "b"],
        [1, 2],
      ],
      "table",
    ],
    [
      [
        ["a", "a"],
        ["x", "y"],
      ],
      "json",
    ],
    [{ html: "<p>" }, "html"],
    [{ html: "<p>", more: 1 }, "json"],
    [{ png: "AAAA" }, "image"],
    [{ svg: "<svg/>" }, "image"],
    [{ png: { content: "AAAA" } }, "image"],
    [{ markdown: "# x" }, "markdown"],
    [{ pdf: "AAAA" }, "file"],
    ["--- a\n+++ b\n", "patch"],
    ["--- a line", "text"],
    [{ diff: { before: "a", after: "b" } }, "difference"],
    [{ diff: 7 }, "json"],
    [[1, 2, 3, 4], "numbers"],
    [[1, 2, 3], "json"],
    [[{ s3: "a" }, { s3: "b" }], "stored"],
    [{ render_all: [1] }, "several"],
    [{ file: { content: "AAAA", filename: "a.bin" } }, "file"],
    [{ file: "AAAA", filename: "a.bin" }, "file"],
    [{ s3: "a/b.csv" }, "stored"],
    [{ error: { name: "E", message: "m", stack: "s" } }, "error"],
    [{ error: "m" }, "json"],
    [{ html: 7 }, "json"],
  ];
  expect(kinds.map(([value]) => classifyResult(value).kind)).toEqual(kinds.map(([, kind]) => kind) as never);
  expect(classifyResult({ file: { content: "AAAA", filename: "a.bin" } })).toMatchObject({
    name: "a.bin",
    base64: "AAAA",
  });
  fc.assert(fc.property(fc.jsonValue(), (value) => expect(typeof classifyResult(value).kind).toBe("string")));
});

test("a schema becomes a form: in its order, with a field for each type, and JSON for the others", () => {
  const { schema, ui } = prepareForm({
    type: "object",
    order: ["b", "gone", "a"],
    required: ["a"],
    properties: {
      a: { type: "string", format: "date-time" },
      b: { type: "string", contentEncoding: "base64" },
      secret: { type: "string", password: true },
      db: { type: "object", format: "resource-postgresql" },
      open: { type: "object" },
      any: {},
      list: { type: "array", items: { type: "object", properties: { deep: {} } } },
      loose: { type: "array" },
    },
  });
  expect(ui["ui:order"]).toEqual(["b", "a", "secret", "db", "open", "any", "list", "loose", "*"]);
  expect([ui.a["ui:widget"], ui.b["ui:widget"], ui.secret["ui:widget"]]).toEqual([
    "MomentWidget",
    "FileWidget",
    "VariableWidget",
  ]);
  expect(ui.db["ui:field"]).toBe("ResourceField");
  for (const name of ["open", "any", "loose"])
    expect([name, ui[name]["ui:field"]]).toEqual([name, "JsonField"]);
  expect(ui.list.items.deep["ui:field"]).toBe("JsonField");
  expect(schema.required).toEqual(["a"]);
  for (const odd of [null, 7, "x", [], {}, { properties: 7 }])
    expect(hasFields(prepareForm(odd))).toBe(false);
});

test("of an earlier schema only user edits are kept, at any depth", () => {
  const earlier = {
    type: "object",
    order: ["list", "reason", "gone"],
    minProperties: 1,
    properties: {
      reason: { type: "string", enum: ["late", "other"], description: "Why", default: "late", minLength: 2 },
      kind: { type: "string", enum: ["a", "b", "c"] },
      count: { type: "string", description: "Was a text" },
      list: {
        type: "array",
        title: "Lines",
        items: {
          type: "object",
          required: ["old"],
          properties: {
            old: { type: "string" },
            name: { type: "string", password: true },
            size: { type: "string", enum: ["s"] },
          },
        },
      },
      gone: { type: "string" },
    },
  };
  const inferred = {
    type: "object",
    order: ["reason", "kind", "count", "list"],
    required: ["reason"],
    properties: {
      reason: { type: "string" },
      kind: { type: "string", enum: ["a", "d"] },
      count: { type: "number" },
      list: {
        type: "array",
        items: { type: "object", properties: { name: { type: "string" }, size: { type: "number" } } },
      },
    },
  };
  expect(mergeSchema(earlier, inferred)).toEqual({
    type: "object",
    order: ["list", "reason", "kind", "count"],
    required: ["reason"],
    properties: {
      reason: { type: "string", enum: ["late", "other"], description: "Why" },
      kind: { type: "string", enum: ["a", "d"] },
      count: { type: "number" },
      list: {
        type: "array",
        title: "Lines",
        items: {
          type: "object",
          properties: { name: { type: "string", password: true }, size: { type: "number" } },
        },
      },
    },
  });
  for (const odd of [
    null,
    undefined,
    7,
    [],
    { properties: 7 },
    { type: "object", properties: { reason: 7 } },
  ])
    expect(mergeSchema(odd, inferred)).toEqual(inferred);
});
