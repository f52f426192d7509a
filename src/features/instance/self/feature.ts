import { defineFeature } from "../../../platform/http/feature.ts";
import { createMaintenance } from "./maintenance.ts";
import { instanceOperations } from "./operations.ts";
import { sendStats } from "./statistics.ts";

export const feature = defineFeature({
  folder: "instance/self",
  operations: {
    "operations.ts": instanceOperations,
    "statistics.ts": [sendStats],
  },
  loops: [{ name: "caretaker", roles: ["all"], create: createMaintenance }],
});
