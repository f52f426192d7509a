import { defineFeature } from "../../../platform/http/feature.ts";
import { oauthChatOperations } from "./chat-operations.ts";
import { oauthOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "assets/connecting",
  operations: {
    "operations.ts": oauthOperations,
    "chat-operations.ts": oauthChatOperations,
  },
});
