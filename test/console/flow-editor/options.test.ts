/**
 * Every option of flows and steps that the server knows has a field in the editor, which writes it to the right
 * place.
 */
import { expect, test } from "bun:test";
import { type Fields, getAt, isRecord } from "../../../src/console/api/json.ts";
import { setStepField } from "../../../src/console/pages/scripts/flow-editor/model/commands.ts";
import {
  type FlowDocument,
  setValueAt,
} from "../../../src/console/pages/scripts/flow-editor/model/document.ts";
import {
  findShownField,
  readUnshownFields,
  replaceUnshownFields,
} from "../../../src/console/pages/scripts/flow-editor/model/rest.ts";
import {
  FLOW_OPTIONS,
  listNonOptionFields,
  listShownFields,
  listStepOptions,
  type OptionField,
  type OptionSection,
} from "../../../src/console/pages/scripts/flow-editor/step/option-fields.ts";
import { KnownFlowValue } from "../../../src/features/code/flows/value/open-flow.ts";
import * as z from "../../../src/lib/zod/z.ts";

const SCHEMA = z.toJSONSchema(KnownFlowValue, { unrepresentable: "any", io: "input" }) as Fields;
const { FlowModule: STEP, FlowValue: FLOW } = SCHEMA.$defs as {
  FlowModule: { properties: Fields };
  FlowValue: { properties: Fields };
};

/** The schema without `null`, and the definition that it refers to. */
function resolve(schema: Fields): Fields {
  const choices = (schema.anyOf ?? schema.oneOf) as Fields[] | undefined;
  const [only, ...others] = (choices ?? []).filter(({ type }) => type !== "null");
  return choices && only && others.length === 0 ? resolve(only) : schema;
}

/**
 * Paths of the options, such as `retry.constant.attempts`. Inputs, free values and steps have no options of
 * their own.
 */
function pathsOf(schema: Fields, before: string[] = []): string[] {
  return Object.entries(schema.properties as Fields).flatMap(([name, each]) => {
    const inner = resolve(each as Fields);
    const path = [...before, name];
    return isRecord(inner.properties) ? pathsOf(inner, path) : [path.join(".")];
  });
}

const kinds = (resolve(STEP.properties.value as Fields).oneOf as Fields[]).map((schema) => ({
  schema,
  type: String((schema.properties as { type: { const: string } }).type.const),
}));

const SAMPLES: Record<OptionField["kind"], unknown> = {
  switch: true,
  number: 7,
  text: "0123456789abcdef",
  lines: "one\ntwo",
  expression: "results.a > 1",
  transform: { type: "javascript", expr: "flow_input.n" },
  json: { schema: {} },
};
const fieldsOf = (sections: OptionSection[]) => sections.flatMap(({ fields }) => fields);
const names = (sections: OptionSection[]) => fieldsOf(sections).map(({ path }) => path.join("."));

/** Required fields of each kind of step. */
const STEPS: Record<string, Fields> = {
  rawscript: { content: "", language: "bun", input_transforms: {} },
  script: { path: "f/a/b", input_transforms: {} },
  flow: { path: "f/a/b", input_transforms: {} },
  forloopflow: { iterator: { type: "static" }, modules: [], skip_failures: false },
  whileloopflow: { modules: [], skip_failures: false },
  branchone: { branches: [], default: [] },
  branchall: { branches: [] },
  identity: {},
};

test.each(kinds)("$type: each option has a form field", ({ type, schema }) => {
  const { value: _value, ...properties } = STEP.properties;
  const known = [...pathsOf({ properties }), ...pathsOf(schema, ["value"])];
  const sections = listStepOptions(type);
  const shown = [...names(sections), ...listNonOptionFields(type)];
  expect(known.filter((path) => !shown.includes(path))).toEqual([]);
  const step = { id: "a", value: { type, ...STEPS[type] } };
  let flow: FlowDocument = { path: "f/a/b", value: { modules: [step] } };
  for (const { root, initial } of sections) if (root) flow = setStepField(flow, "a", root, initial);
  for (const { path, kind } of fieldsOf(sections)) {
    flow = setStepField(flow, "a", path, SAMPLES[kind]);
    expect([path.join("."), getAt(flow, ["value", "modules", 0, ...path])]).toEqual([
      path.join("."),
      SAMPLES[kind],
    ]);
  }
  expect(KnownFlowValue.parse(flow.value)).toEqual(flow.value as never);
  for (const { path } of fieldsOf(sections)) flow = setStepField(flow, "a", path, undefined);
  expect(fieldsOf(sections).filter(({ path }) => getAt(flow, ["value", "modules", 0, ...path]))).toEqual([]);
});

test("the flow: each option has a form field", () => {
  const drawn = ["modules", "failure_module", "preprocessor_module"];
  const known = Object.keys(FLOW.properties).filter((name) => !drawn.includes(name));
  expect(known.filter((name) => !names(FLOW_OPTIONS).includes(`value.${name}`))).toEqual([]);
  let flow: FlowDocument = { path: "f/a/b", value: { modules: [] } };
  for (const { path, kind } of fieldsOf(FLOW_OPTIONS)) flow = setValueAt(flow, path, SAMPLES[kind]);
  expect(fieldsOf(FLOW_OPTIONS).filter(({ path, kind }) => getAt(flow, path) !== SAMPLES[kind])).toEqual([]);
  expect(KnownFlowValue.parse(flow.value)).toEqual(flow.value as never);
});

test("unknown fields are shown at any depth, and replaced without changing the others", () => {
  const step = {
    id: "a",
    retry: { constant: { attempts: 2, seconds: 1, jitter: 0.5 }, budget: 9 },
    value: { type: "script", path: "f/a/b", input_transforms: { x: 1 }, hash: "ab", pool: "big" },
    colour: "red",
  };
  const shown = listShownFields(listStepOptions("script"), listNonOptionFields("script"));
  const rest = readUnshownFields(step, shown);
  expect(rest).toEqual({
    retry: { constant: { jitter: 0.5 }, budget: 9 },
    value: { pool: "big" },
    colour: "red",
  });
  expect(JSON.stringify(replaceUnshownFields(step, shown, rest))).toBe(JSON.stringify(step));
  expect(replaceUnshownFields(step, shown, { value: { pool: "small" }, retry: {}, size: 3 })).toEqual({
    id: "a",
    retry: { constant: { attempts: 2, seconds: 1 } },
    value: { ...step.value, pool: "small" },
    size: 3,
  });
  expect(findShownField({ retry: { constant: { attempts: 3 } } }, shown)).toBe("retry.constant.attempts");
  expect(findShownField({ value: 7 }, shown)).toBe("value");
  expect(findShownField(rest, shown)).toBeUndefined();
});
