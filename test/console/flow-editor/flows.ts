/** Short constructors of flows and steps for tests of the editor's model. */
import type { Fields } from "../../../src/console/api/json.ts";
import type { FlowDocument } from "../../../src/console/pages/scripts/flow-editor/model/document.ts";
import { listSteps } from "../../../src/console/pages/scripts/flow-editor/model/steps.ts";

export const js = (expr: string) => ({ type: "javascript", expr });
export const code = (id: string, inputs: Fields = {}): Fields => ({
  id,
  value: {
    type: "rawscript",
    language: "bun",
    content: "export const main = () => 1",
    input_transforms: inputs,
  },
});
export const loop = (id: string, modules: Fields[]): Fields => ({
  id,
  value: { type: "forloopflow", iterator: js("[1]"), skip_failures: false, modules },
});
export const createBranches = (id: string, first: Fields[], otherwise: Fields[]): Fields => ({
  id,
  unknown_field: { kept: true },
  value: { type: "branchone", branches: [{ expr: "results.a > 1", modules: first }], default: otherwise },
});
export const flow = (...modules: unknown[]): FlowDocument => ({
  path: "f/a/b",
  summary: "",
  value: { modules },
});

export const ids = (document: FlowDocument) => listSteps(document).map(({ id }) => id);

export const select = (...keys: string[]) => new Set(keys);
