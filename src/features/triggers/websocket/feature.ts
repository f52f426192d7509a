import { defineFeature } from "../../../platform/http/feature.ts";
import { websocketTriggerOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "triggers/websocket",
  operations: {
    "operations.ts": websocketTriggerOperations,
  },
});
