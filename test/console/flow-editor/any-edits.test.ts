/** After any edits in the editor, a flow stays valid, and the edits can be undone. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Fields } from "../../../src/console/api/json.ts";
import * as commands from "../../../src/console/pages/scripts/flow-editor/model/commands.ts";
import type { FlowDocument } from "../../../src/console/pages/scripts/flow-editor/model/document.ts";
import * as history from "../../../src/console/pages/scripts/flow-editor/model/history.ts";
import {
  findSlotAfter,
  listSteps,
  ROOT,
} from "../../../src/console/pages/scripts/flow-editor/model/steps.ts";
import { validateFlow } from "../../../src/features/code/flows/value/validate.ts";
import { code, createBranches, flow, ids, js, loop, select } from "./flows.ts";

const anyStep = fc.letrec<{ step: Fields; list: Fields[] }>((tie) => ({
  list: fc.array(tie("step"), { maxLength: 4 }),
  step: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constant(code("")),
    fc.constant({
      id: "",
      value: { type: "script", path: "f/a/b", input_transforms: { n: js("results.a") } },
    }),
    tie("list").map((list) => loop("", list)),
    fc.tuple(tie("list"), tie("list")).map(([first, other]) => createBranches("", first, other)),
    tie("list").map((list) => ({
      id: "",
      value: { type: "branchall", branches: [{ modules: list }, { modules: [] }] },
    })),
  ),
}));
const anyFlow = anyStep.list.map((list) => commands.insertSteps(flow(), { list: ROOT, index: 0 }, list)[0]);

interface Edit {
  kind: string;
  at: number;
  to: number;
}
const anyEdit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom(
    "insert",
    "remove",
    "move",
    "nudge",
    "duplicate",
    "wrap",
    "unwrap",
    "rename",
    "branch",
    "field",
  ),
  at: fc.nat(),
  to: fc.nat(),
});

function edit(document: FlowDocument, { kind, at, to }: Edit): FlowDocument {
  const steps = listSteps(document);
  const pick = (n: number) => steps[n % steps.length]!;
  if (steps.length === 0) return commands.insertSteps(document, { list: ROOT, index: 0 }, [code("")])[0];
  const { key } = pick(at);
  switch (kind) {
    case "insert":
      return commands.insertSteps(document, findSlotAfter(pick(to))!, [code("")])[0];
    case "remove":
      return commands.removeSteps(document, select(key));
    case "move":
      return commands.moveSteps(document, select(key, pick(at + 3).key), findSlotAfter(pick(to))!);
    case "nudge":
      return commands.nudgeStep(document, key, to % 2 ? 1 : -1);
    case "duplicate":
      return steps.length > 60 ? document : commands.duplicateSteps(document, select(key))[0];
    case "wrap":
      return commands.wrapSteps(document, select(key), (["forloopflow", "branchone"] as const)[to % 2]!)[0];
    case "unwrap":
      return commands.unwrapStep(document, key);
    case "rename":
      return ids(document).includes(`n${to}`) ? document : commands.renameStep(document, key, `n${to}`);
    case "branch":
      return commands.moveBranch(commands.addBranch(document, key), key, 0, 1);
    default:
      return commands.setStepField(document, key, ["retry", "constant", "attempts"], to);
  }
}

test("after any edits the flow is valid, nothing is lost, and undo restores it", () => {
  fc.assert(
    fc.property(anyFlow, fc.array(anyEdit, { maxLength: 12 }), (first, edits) => {
      const original = structuredClone(first);
      let state = history.createHistory(first);
      const passed = [first];
      for (const [at, each] of edits.entries()) {
        const before = listSteps(state.flow).length;
        const next = edit(state.flow, each);
        if (["move", "nudge", "rename"].includes(each.kind)) expect(listSteps(next).length).toBe(before || 1);
        validateFlow(next.value as never);
        state = history.applyChange(state, { label: each.kind, flow: next }, at * 10_000);
        if (next !== passed.at(-1)) passed.push(next);
      }
      for (const earlier of passed.toReversed()) {
        expect(state.flow).toBe(earlier);
        state = history.undo(state);
      }
      expect(first).toEqual(original);
      expect(history.isDirty(state)).toBe(false);
      for (const later of passed.slice(1)) {
        state = history.redo(state);
        expect(state.flow).toBe(later);
      }
    }),
    { numRuns: 300 },
  );
}, 60_000);
