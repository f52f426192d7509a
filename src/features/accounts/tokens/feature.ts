import { defineFeature } from "../../../platform/http/feature.ts";
import { createTokenExpiry } from "./expiry-task.ts";
import { tokenOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "accounts/tokens",
  operations: {
    "operations.ts": tokenOperations,
  },
  loops: [{ name: "token notifier", roles: ["all"], create: createTokenExpiry }],
});
