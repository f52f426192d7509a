/** Initial content of new steps. */

import type { Fields } from "../../../../api/json.ts";
import { getInitialCode } from "../../../../parts/editor/initial-code.ts";
import { LANGUAGES, type Language } from "../../../../parts/items/languages.ts";

export interface NewStep {
  group: string;
  /** Text for search and menu. */
  label: string;
  about: string;
  step: Fields;
}

const code = (language: Language): Fields => ({
  value: { type: "rawscript", language, content: getInitialCode(language), input_transforms: {} },
});

const newCode = ({ value, label }: (typeof LANGUAGES)[number]): NewStep => ({
  group: "Code",
  label: `Code in ${label}`,
  about: "",
  step: code(value),
});

export const createScriptStep = (path: string): Fields => ({
  value: { type: "script", path, input_transforms: {} },
});
export const createFlowStep = (path: string): Fields => ({
  value: { type: "flow", path, input_transforms: {} },
});
export const createIdentityStep = (): Fields => ({ value: { type: "identity" } });

const loop: Fields = {
  type: "forloopflow",
  iterator: { type: "javascript", expr: "previous_result" },
  skip_failures: false,
  modules: [],
};

/** The kinds of steps that can be inserted anywhere. */
export const NEW_STEPS: NewStep[] = [
  ...LANGUAGES.map(newCode),
  {
    group: "Loops and branches",
    label: "For each",
    about: "Runs its steps for each item of a list",
    step: { value: loop },
  },
  {
    group: "Loops and branches",
    label: "While",
    about: "Repeats its steps until one of them ends the loop",
    step: { value: { type: "whileloopflow", skip_failures: false, modules: [] } },
  },
  {
    group: "Loops and branches",
    label: "First matching branch",
    about: "Runs the first branch whose condition holds",
    step: { value: { type: "branchone", branches: [{ expr: "false", modules: [] }], default: [] } },
  },
  {
    group: "Loops and branches",
    label: "All branches",
    about: "Runs all branches, in sequence or in parallel",
    step: { value: { type: "branchall", branches: [{ modules: [] }, { modules: [] }], parallel: true } },
  },
  {
    group: "Waiting",
    label: "Approval",
    about: "Waits until somebody approves, then goes on",
    step: { ...createIdentityStep(), summary: "Approval", suspend: { required_events: 1 } },
  },
  {
    group: "Waiting",
    label: "Wait",
    about: "Goes on after some time",
    step: { ...createIdentityStep(), summary: "Wait", sleep: { type: "static", value: 60 } },
  },
  {
    group: "Others",
    label: "Pass on",
    about: "Passes on its input as its result",
    step: createIdentityStep(),
  },
];

/** Creates the failure step, which is outside of the list and exists at most once. */
export const createFailureStep = (): Fields => ({
  id: "failure",
  summary: "When a step fails",
  value: {
    type: "rawscript",
    language: "bun",
    content:
      'export async function main(error: { name: string; message: string; step_id: string }) {\n  console.log("failed at", error.step_id, error.message);\n}\n',
    input_transforms: { error: { type: "javascript", expr: "error" } },
  },
});

export const createPreprocessor = (): Fields => ({
  id: "preprocessor",
  summary: "Convert the request to arguments",
  value: {
    type: "rawscript",
    language: "bun",
    content:
      "/** Its result are the arguments of the flow. */\nexport async function preprocessor(event: { kind: string; body?: unknown }) {\n  return { event };\n}\n",
    input_transforms: {},
  },
});
