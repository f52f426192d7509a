/** The tree from which the graph is rendered: only changed parts are rendered again. */
import { expect, test } from "bun:test";
import { setStepField } from "../../../src/console/pages/scripts/flow-editor/model/commands.ts";
import { buildTree, reuseNodes, type StepNode } from "../../../src/console/parts/flow/tree.ts";

const step = (id: string) => ({ id, value: { type: "rawscript", language: "bun", content: "1" } });
const loop = (id: string, modules: object[]) => ({ id, value: { type: "forloopflow", modules } });
const FLOW = {
  path: "f/a/b",
  value: {
    modules: [step("a"), loop("l", [step("x"), step("y")]), loop("m", [step("z")])],
    failure_module: step("failure"),
  },
};

const idsOf = (nodes: StepNode[]): StepNode[] =>
  nodes.flatMap((node) => [node, ...node.bodies.flatMap((body) => idsOf(body.nodes))]);

test("nodes of unchanged steps are those of the earlier tree", () => {
  const before = buildTree(FLOW.value);
  const edited = buildTree(setStepField(FLOW, "x", ["summary"], "Another").value);
  const after = reuseNodes(edited, before);
  expect(after).toEqual(edited);
  const known = new Set(idsOf([...before.nodes, before.failure!]));
  const rendered = idsOf([...after.nodes, after.failure!]).filter((node) => !known.has(node));
  expect(rendered.map(({ id }) => id)).toEqual(["l", "x"]);
});
