import { defineFeature } from "../../../platform/http/feature.ts";
import { tokenOperations } from "./operations.ts";
import { createTokenNotifier } from "./token-expiry.ts";

export const feature = defineFeature({
  folder: "accounts/tokens",
  operations: {
    "operations.ts": tokenOperations,
  },
  loops: [{ name: "token notifier", roles: ["all"], create: createTokenNotifier }],
});
