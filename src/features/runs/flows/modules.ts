/** Looks up modules in a flow. */
import { findOnlyLeaf } from "../../../engines/flow-engine/iterations.ts";
import type { FlowModule, FlowValue } from "../../../engines/flow-engine/types.ts";

const indexes = new WeakMap<FlowValue, Map<string, FlowModule>>();

/** Returns all modules of a flow by id, including nested ones. */
export function indexModules(value: FlowValue): Map<string, FlowModule> {
  let index = indexes.get(value);
  if (index) return index;
  index = new Map();
  const add = (module: FlowModule | undefined): void => {
    if (!module) return;
    index!.set(module.id, module);
    for (const { modules } of listBodies(module)) modules.forEach(add);
  };
  value.modules.forEach(add);
  add(value.failure_module);
  add(value.preprocessor_module);
  indexes.set(value, index);
  return index;
}

/** Lists the bodies of a loop or branch, each with the path of its field. */
export function listBodies({ value }: FlowModule): { field: string; modules: FlowModule[] }[] {
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

/** Returns the module that a leaf job runs: the module itself, or the only one inside a loop. */
export function findLeafModule(module: FlowModule): FlowModule {
  return findOnlyLeaf(module) ?? module;
}
