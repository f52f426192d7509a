/** Going through the steps of a flow. */
import type { FlowModule, FlowValue, RawScript } from "../../flow-engine/types.ts";

/** The lists of steps a step holds, each with the name of its field. */
export function bodiesOf({ value }: FlowModule): { field: string; modules: FlowModule[] }[] {
  switch (value.type) {
    case "forloopflow":
    case "whileloopflow":
      return [{ field: "modules", modules: value.modules }];
    case "branchone":
      return [
        ...value.branches.map(({ modules }, index) => ({ field: `branches.${index}.modules`, modules })),
        { field: "default", modules: value.default },
      ];
    case "branchall":
      return value.branches.map(({ modules }, index) => ({ field: `branches.${index}.modules`, modules }));
    default:
      return [];
  }
}

interface Place {
  module: FlowModule;
  /** Where it stands, such as `value.modules.0.value.default.2`. */
  at: string;
  /** Ids of the steps that hold it, outermost first. */
  outer: string[];
}

/** Every step, outer ones before what they hold; the failure step and the preprocessor come last. */
export function* everyStep(value: FlowValue): Generator<Place> {
  const { modules, failure_module, preprocessor_module } = value;
  for (const [index, module] of modules.entries()) yield* within(module, `value.modules.${index}`, []);
  if (failure_module) yield* within(failure_module, "value.failure_module", []);
  if (preprocessor_module) yield* within(preprocessor_module, "value.preprocessor_module", []);
}

function* within(module: FlowModule, at: string, outer: string[]): Generator<Place> {
  yield { module, at, outer };
  const inner = [...outer, module.id];
  for (const { field, modules } of bodiesOf(module)) {
    for (const [index, each] of modules.entries()) {
      yield* within(each, `${at}.value.${field}.${index}`, inner);
    }
  }
}

/** The scripts that are written in the flow itself, with the ids of their steps. */
export function* rawScripts(value: FlowValue): Generator<{ id: string; script: RawScript }> {
  for (const { module } of everyStep(value)) {
    if (module.value.type === "rawscript") yield { id: module.id, script: module.value };
  }
}
