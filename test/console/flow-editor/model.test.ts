/** Edits of a flow are pure functions, checked against the server's own rules. */
import { expect, test } from "bun:test";
import type { Fields } from "../../../src/console/api/json.ts";
import { listProblems } from "../../../src/console/pages/scripts/flow-editor/model/check.ts";
import { parseSteps, toClipboard } from "../../../src/console/pages/scripts/flow-editor/model/clipboard.ts";
import * as commands from "../../../src/console/pages/scripts/flow-editor/model/commands.ts";
import { compareFlows } from "../../../src/console/pages/scripts/flow-editor/model/difference.ts";
import type { FlowDocument } from "../../../src/console/pages/scripts/flow-editor/model/document.ts";
import { collectMentionedSteps } from "../../../src/console/pages/scripts/flow-editor/model/expressions.ts";
import * as history from "../../../src/console/pages/scripts/flow-editor/model/history.ts";
import { identifyValue } from "../../../src/console/pages/scripts/flow-editor/model/identify.ts";
import { listKnownNames } from "../../../src/console/pages/scripts/flow-editor/model/known.ts";
import { truncateFlowAfter } from "../../../src/console/pages/scripts/flow-editor/model/partial.ts";
import {
  findSlotAfter,
  listSteps,
  ROOT,
} from "../../../src/console/pages/scripts/flow-editor/model/steps.ts";
import { code, createBranches, flow, ids, js, loop, select } from "./flows.ts";

/** The ids as they are nested: `a,l(x,y)`. */
const outline = (document: FlowDocument) =>
  listSteps(document)
    .map(({ id, around }) => "·".repeat(around.length) + id)
    .join(" ");

const EXAMPLE = flow(
  code("a"),
  loop("l", [
    code("x", { n: js("results.a + flow_input.iter.value") }),
    createBranches("c", [code("y")], [code("z")]),
  ]),
  code("end", { all: js("results.l") }),
);

test("steps are inserted, moved, wrapped, unwrapped and removed", () => {
  const [inserted, added] = commands.insertSteps(EXAMPLE, { list: ROOT, index: 1 }, [code("a"), code("")]);
  expect([added, outline(inserted)]).toEqual([["b", "d"], "a b d l ·x ·c ··y ··z end"]);
  const slot = findSlotAfter(listSteps(EXAMPLE).find(({ id }) => id === "y")!)!;
  expect(outline(commands.moveSteps(EXAMPLE, select("a", "end"), slot))).toBe("l ·x ·c ··y ··a ··end ··z");
  expect(commands.moveSteps(EXAMPLE, select("l"), slot)).toBe(EXAMPLE);
  const [wrapped, id] = commands.wrapSteps(EXAMPLE, select("l", "end"), "branchall");
  expect([id, outline(wrapped)]).toEqual(["b", "a b ·l ··x ··c ···y ···z ·end"]);
  expect(commands.wrapSteps(EXAMPLE, select("a", "end"), "forloopflow")[0]).toBe(EXAMPLE);
  expect(outline(commands.unwrapStep(EXAMPLE, "c"))).toBe("a l ·x ·y ·z end");
  expect(outline(commands.removeSteps(EXAMPLE, select("l", "y")))).toBe("a end");
  const [failing] = commands.addSpecialStep(EXAMPLE, "failure");
  const [both] = commands.addSpecialStep(failing, "preprocessor");
  expect(outline(commands.removeSteps(both, select("failure", "preprocessor")))).toBe(outline(EXAMPLE));
  const [copied, copies] = commands.duplicateSteps(EXAMPLE, select("l"));
  expect([copies, outline(copied)]).toEqual([["b"], "a l ·x ·c ··y ··z b ·d ·e ··f ··g end"]);
});

test("a step is moved past its neighbours, and out of its list", () => {
  expect(outline(commands.nudgeStep(EXAMPLE, "a", 1))).toBe("l ·x ·c ··y ··z a end");
  expect(outline(commands.nudgeStep(EXAMPLE, "x", -1))).toBe("a x l ·c ··y ··z end");
  expect(outline(commands.nudgeStep(EXAMPLE, "c", 1))).toBe("a l ·x c ·y ·z end");
  expect(commands.nudgeStep(EXAMPLE, "a", -1)).toBe(EXAMPLE);
});

test("expressions follow a changed id, other texts do not", () => {
  const text =
    "results.a + results?.a + results['a'] + 'results.a' /* results.a */ + results.ab + x.results.a";
  const before = flow(
    code("a"),
    code("b", { n: js(text), fixed: { type: "static", value: { expr: "results.a" } } }),
  );
  const inputs = (document: FlowDocument) => {
    const { value } = (document.value.modules as Fields[])[1]! as { value: Fields };
    return value.input_transforms as { n: Fields; fixed: { value: Fields } };
  };
  const plain = inputs(commands.renameStep(before, "a", "first"));
  expect(plain.n.expr).toBe(
    `results.first + results?.first + results["first"] + 'results.a' /* results.a */ + results.ab + x.results.a`,
  );
  expect(plain.fixed.value.expr).toBe("results.a");
  const quoted = inputs(commands.renameStep(before, "a", "the first"));
  expect(quoted.n.expr).toContain('results["the first"] + results?.["the first"] + results["the first"]');
});

test("steps are copied as text, and pasted with new ids", () => {
  const text = toClipboard(commands.listOutermost(EXAMPLE, select("a", "l")));
  const [pasted, added] = commands.insertSteps(EXAMPLE, { list: ROOT, index: 3 }, parseSteps(text)!);
  expect(added.length).toBe(2);
  expect(new Set(ids(pasted)).size).toBe(ids(pasted).length);
  const copy = listSteps(pasted).find(({ around, id }) => around.includes(added[1]!) && id !== "")!;
  expect(JSON.stringify(copy.step)).toContain(`results.${added[0]} + flow_input.iter.value`);
  expect(parseSteps(JSON.stringify({ value: { modules: [code("q")] } }))).toEqual([code("q")]);
  for (const other of ["", "hello", "- 1\n- 2", "a: [", "{}"]) expect(parseSteps(other)).toBeUndefined();
});

test("a flow is cut after a step, at every level", () => {
  expect(outline(truncateFlowAfter(EXAMPLE, "y"))).toBe("a l ·x ·c ··y ··z");
  expect(outline(truncateFlowAfter(EXAMPLE, "x"))).toBe("a l ·x");
  expect(outline(truncateFlowAfter(EXAMPLE, "a"))).toBe("a");
});

test("the names that an expression can use are listed", () => {
  const schema = { properties: { order: { type: "number", description: "its number" } } };
  const names = (key: string) =>
    listKnownNames({ ...EXAMPLE, schema }, key, { input: { order: 7 }, results: new Map([["a", 5]]) });
  expect(names("x").map(({ expression }) => expression)).toEqual([
    "flow_input.order",
    "flow_input.iter.value",
    "flow_input.iter.index",
    "previous_result",
    "results.a",
  ]);
  expect(names("x")[0]).toEqual({
    expression: "flow_input.order",
    about: "Input, number, its number",
    value: 7,
    hasValue: true,
  });
  expect(names("end").map(({ expression }) => expression)).toContain("results.l");
  const previous = (key: string) =>
    names(key).find(({ expression }) => expression === "previous_result")?.step;
  expect(["a", "x", "c", "y", "z", "end"].map(previous)).toEqual([undefined, "a", "x", "x", "x", "l"]);
});

test("problems name their step", () => {
  const wrong = flow(
    code("a"),
    code("a"),
    { id: "s", value: { type: "script", path: "" } },
    code("b", { n: js("results.gone") }),
  );
  expect(listProblems(wrong).map(({ key, message }) => `${key} ${message}`)).toEqual([
    "/value/modules/1 Another step has the id a.",
    "s Choose the script that it runs.",
    "b An expression refers to the step gone, which does not exist.",
  ]);
  expect(listProblems(EXAMPLE)).toEqual([]);
});

test("two versions are compared step by step", () => {
  const changed = commands.setStepField(EXAMPLE, "y", ["summary"], "Why");
  const moved = commands.moveSteps(changed, select("end"), { list: ROOT, index: 0 });
  const [after] = commands.insertSteps(commands.removeSteps(moved, select("z")), { list: ROOT, index: 0 }, [
    code("new"),
  ]);
  expect(compareFlows(EXAMPLE, after).map(({ id, kind }) => `${id} ${kind}`)).toEqual(
    expect.arrayContaining(["new added", "y changed", "z removed"]),
  );
  expect(compareFlows(EXAMPLE, moved).some(({ kind }) => kind === "moved")).toBe(true);
  expect(compareFlows(EXAMPLE, EXAMPLE)).toEqual([]);
});

test("typing into one field is one undo entry; a pause or another field starts another", () => {
  const typed = (document: FlowDocument, summary: string, at: number, state: history.History) =>
    history.applyChange(
      state,
      {
        label: "Summary",
        flow: commands.setStepField(document, "a", ["summary"], summary),
        mergeKey: "a/summary",
      },
      at,
    );
  let state = history.createHistory(EXAMPLE);
  for (const [index, text] of ["R", "Re", "Ref"].entries())
    state = typed(state.flow, text, index * 100, state);
  expect(state.done.length).toBe(1);
  state = typed(state.flow, "Refund", 5_000, state);
  expect(state.done.length).toBe(2);
  const saved = history.markSaved(state, state.flow);
  expect([history.isDirty(state), history.isDirty(saved), history.isDirty(history.undo(saved))]).toEqual([
    true,
    false,
    true,
  ]);
  expect(history.isDirty(history.redo(history.undo(saved)))).toBe(false);
});

test("data that looks like an expression stays; unusual steps and large numbers are pasted unchanged", () => {
  const data = { expr: "results.a" };
  const before = flow({ ...code("b"), mock: { enabled: true, return_value: data } }, code("a"));
  const after = commands.renameStep(before, "a", "c");
  expect((after.value.modules as Fields[])[0]).toBe((before.value.modules as Fields[])[0]!);
  const commented = flow(code("a"), code("b", { n: js("results./*c*/a") }));
  expect(ids(commands.renameStep(commented, "a", "the first"))).toEqual(["the first", "b"]);
  const text = "- id: x\n  value: { type: forloopflow, limit: 9007199254740993, modules: [null] }\n";
  const [pasted] = commands.insertSteps(flow(), { list: ROOT, index: 0 }, parseSteps(text)!);
  expect((pasted.value.modules as any[])[0].value.limit).toBe(9007199254740993n);
  expect(commands.setStepField(before, "b", ["summary"], undefined)).toBe(before);
});

test("after a deletion the next step has the focus, or else the previous one", () => {
  const document = flow(code("a"), loop("l", [code("x"), code("y")]), code("b"));
  const after = (...keys: string[]) => commands.findStepAfterRemoval(listSteps(document), new Set(keys));
  expect([after("a"), after("x"), after("l"), after("b"), after("a", "l", "b")]).toEqual([
    "l",
    "y",
    "b",
    "y",
    undefined,
  ]);
});

test("after a change, a flow of 500 steps is checked without checking the unchanged ones again", () => {
  const steps = Array.from({ length: 500 }, (_, index) =>
    code(`s${index}`, { n: js(index === 0 ? "1" : `results.s${index - 1}.n + results.gone`) }),
  );
  const document = flow(...steps);
  expect(listProblems(document)).toHaveLength(499);
  const changed = commands.setStepField(document, "s7", ["summary"], "Seven");
  const before = listSteps(document).map(({ step }) => collectMentionedSteps(step));
  const after = listSteps(changed).map(({ step }) => collectMentionedSteps(step));
  expect(after.flatMap((found, index) => (found === before[index] ? [] : [index]))).toEqual([7]);
});

test("an object is identified by identity, not by its text", () => {
  const large = { rows: [1] };
  expect(identifyValue(large)).toBe(identifyValue(large));
  expect(identifyValue(large)).not.toBe(identifyValue({ rows: [1] }));
  expect(new Set([1, "1", null, undefined, true].map(identifyValue)).size).toBe(5);
});
