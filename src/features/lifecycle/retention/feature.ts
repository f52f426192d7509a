import { defineFeature } from "../../../platform/http/feature.ts";
import { createFilePruner, createPruner } from "./pruner.ts";

export const feature = defineFeature({
  folder: "lifecycle/retention",
  operations: {},
  loops: [
    { name: "file pruner", roles: ["all", "worker"], create: createFilePruner },
    { name: "pruner", roles: ["all"], create: createPruner },
  ],
});
