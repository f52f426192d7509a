/**
 * Flows of the test corpus are opened in the editor, changed, changed back and saved, and are unchanged
 * afterwards. `FLOW_CORPUS=folder` adds every `flow.yaml` below a folder.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { parseJson, writeJson } from "../../../../src/console/api/json.ts";
import { parseYaml } from "../../../../src/console/api/yaml.ts";
import { readFlow } from "../../../../src/console/pages/scripts/flow/yaml/problems.ts";
import { formatYaml } from "../../../../src/console/pages/scripts/flow/yaml/text.ts";
import * as commands from "../../../../src/console/pages/scripts/flow-editor/model/commands.ts";
import { compareFlows } from "../../../../src/console/pages/scripts/flow-editor/model/difference.ts";
import {
  type FlowDocument,
  toDocument,
} from "../../../../src/console/pages/scripts/flow-editor/model/document.ts";
import * as history from "../../../../src/console/pages/scripts/flow-editor/model/history.ts";
import { listSteps } from "../../../../src/console/pages/scripts/flow-editor/model/steps.ts";
import { flowOf } from "../../../engines/flow-engine/case.ts";
import { startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ token } = await server.workspace());
});
afterAll(() => server.stop());

/** As text, so that numbers keep their digits and fields their order. */
async function send(method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(`${server.url}/api/w/acme${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text;
}

/**
 * Makes the changes of an editor: sets and removes a field of every step, moves every step and moves it back.
 */
function changeAndUndo(first: FlowDocument): FlowDocument {
  let state = history.createHistory(first);
  const apply = (label: string, flow: FlowDocument) => {
    state = history.applyChange(state, { label, flow }, state.done.length * 10_000);
  };
  for (const { key } of listSteps(first)) {
    apply("Set", commands.setStepField(state.flow, key, ["later_option"], 1));
    apply("Unset", commands.setStepField(state.flow, key, ["later_option"], undefined));
  }
  expect(writeJson(state.flow)).toBe(writeJson(first));
  expect(history.isDirty(state)).toBe(false);
  for (const { key } of listSteps(first)) {
    apply("Move", commands.nudgeStep(state.flow, key, 1));
    apply("Duplicate", commands.duplicateSteps(state.flow, new Set([key]))[0]);
    apply("Delete", commands.removeSteps(state.flow, new Set([key])));
  }
  while (state.done.length > 0) state = history.undo(state);
  return state.flow;
}

async function openAndSave(path: string, given: object): Promise<void> {
  await send("POST", "/flows/create", writeJson({ ...given, path }));
  const found = parseJson(await send("GET", `/flows/get/draft/${path}`)) as any;
  const first = toDocument(found);
  const drawn = changeAndUndo(first);
  expect(compareFlows(first, drawn)).toEqual([]);
  // The content of the YAML tab, saved unchanged.
  const { flow, problems } = readFlow(formatYaml(found));
  expect([problems, writeJson(flow.value)]).toEqual([[], writeJson(first.value)]);
  await send(
    "POST",
    `/flows/update/${path}`,
    writeJson({ ...drawn, value: flow.value, parent_version: found.version_id }),
  );
  const after = parseJson(await send("GET", `/flows/get/draft/${path}`)) as any;
  // As text, because the order of fields and the digits of numbers matter.
  expect(writeJson([after.value, after.schema])).toBe(writeJson([found.value, found.schema]));
  expect({ ...after, version_id: 0, edited_at: 0 }).toEqual({ ...found, version_id: 0, edited_at: 0 });
}

const pathOf = (name: string, at: number) => `u/admin/f${at}_${name.replace(/\W+/g, "_").slice(-60)}`;

const CASES = join(import.meta.dir, "../../../engines/flow-engine/cases");
/** Its ids are not unique, which the engine tolerates and a deployment rejects. */
const REFUSED = "for-empty-array.yaml";
const cases = [...new Bun.Glob("*.yaml").scanSync(CASES)].filter((file) => file !== REFUSED);
for (const [at, file] of cases.sort().entries()) {
  test(file, async () => {
    const value = flowOf(await Bun.file(join(CASES, file)).text());
    await openAndSave(pathOf(file, at), { summary: file, value });
  });
}

test("unknown fields, long numbers, unusual ids and texts that look like something else", () =>
  openAndSave("u/admin/odd", {
    summary: "yes",
    description: "null",
    value: {
      zebra: { z: [1, 2.5, 1e21, 9007199254740993n, -0.1], a: "~" },
      modules: [
        { value: { type: "identity" }, unknown: null, empty: {}, list: [] },
        { id: "2", value: { type: "identity", "1": "first", "0": "second" } },
        {
          id: "c",
          value: {
            type: "rawscript",
            language: "bun",
            content: "#!/x\r\n\tif (a) {\n  /* é\u2028 \u{1f600} */\n}\n\n\n",
            input_transforms: {
              b: { type: "static", value: "2026-01-02" },
              a: { type: "javascript", expr: "`${results.d}`\n" },
            },
            lock: "",
          },
        },
        { id: "d", value: { type: "laterkind", of: "things" }, summary: "a: b # c" },
      ],
      failure_module: null,
    },
    schema: {
      $schema: "x",
      type: "object",
      order: ["n"],
      properties: { n: { type: "integer", later: true } },
    },
  }));

const corpus = process.env.FLOW_CORPUS;

/** Inserts the code of files that a flow refers to by `content: "!inline a.ts"`. */
async function withCode(value: unknown, folder: string): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => withCode(each, folder)));
  if (typeof value === "string" && /^(!inline )?[^\n]{1,200}$/.test(value)) {
    const file = Bun.file(join(folder, value.replace(/^!inline /, "")));
    return /\.\w+$/.test(value) && (await file.exists()) ? file.text() : value;
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(async ([name, each]) => [name, await withCode(each, folder)]);
  return Object.fromEntries(await Promise.all(fields));
}

const files = corpus ? [...new Bun.Glob("**/{flow.yaml,*.flow.yaml}").scanSync(corpus)].sort() : [];
for (const [at, file] of files.entries()) {
  test(file, async () => {
    const found = parseYaml(await Bun.file(join(corpus!, file)).text()) as Record<string, unknown>;
    const { summary = "", description = "", value, schema } = found;
    const whole = await withCode(value, join(corpus!, dirname(file)));
    await openAndSave(pathOf(file, 1_000 + at), { summary, description, value: whole, schema });
  });
}
