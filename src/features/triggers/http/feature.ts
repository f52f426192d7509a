import { defineFeature } from "../../../platform/http/feature.ts";
import { httpTriggerOperations } from "./operations.ts";
import { routeOperations } from "./serve/serve-operations.ts";

export const feature = defineFeature({
  folder: "triggers/http",
  operations: {
    "operations.ts": httpTriggerOperations,
    "serve/serve-operations.ts": routeOperations,
  },
});
