import { defineFeature } from "../../../platform/http/feature.ts";
import { createMaintenance } from "./maintenance.ts";
import { instanceOperations } from "./operations.ts";
import { serviceLogOperations } from "./service-log-operations.ts";
import { sendStats } from "./statistics.ts";

export const feature = defineFeature({
  folder: "instance/self",
  operations: {
    "operations.ts": instanceOperations,
    "service-log-operations.ts": serviceLogOperations,
    "statistics.ts": [sendStats],
  },
  loops: [{ name: "caretaker", roles: ["all"], create: createMaintenance }],
});
