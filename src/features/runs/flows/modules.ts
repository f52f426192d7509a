/** Finding modules in a flow. */
import { onlyLeaf } from "../../../engines/flow-engine/iterations.ts";
import type { FlowModule, FlowValue } from "../../../engines/flow-engine/types.ts";

const indexes = new WeakMap<FlowValue, Map<string, FlowModule>>();

/** Every module of a flow by its id, nested ones included. */
export function moduleIndex(value: FlowValue): Map<string, FlowModule> {
  let index = indexes.get(value);
  if (index) return index;
  index = new Map();
  const add = (module: FlowModule | undefined): void => {
    if (!module) return;
    index!.set(module.id, module);
    for (const { modules } of bodiesOf(module)) modules.forEach(add);
  };
  value.modules.forEach(add);
  add(value.failure_module);
  add(value.preprocessor_module);
  indexes.set(value, index);
  return index;
}

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

/** The step that a leaf job of this module runs: the module itself, or the only one inside a loop. */
export function leafOf(module: FlowModule): FlowModule {
  return onlyLeaf(module) ?? module;
}
