import { defineFeature } from "../../../platform/http/feature.ts";
import { instanceWebhookOperations } from "./api/instance-operations.ts";
import { webhookOperations } from "./api/operations.ts";
import { createWebhookSender } from "./sender/webhook-sender.ts";
import { webhookEndpoints } from "./tables.ts";

export const feature = defineFeature({
  folder: "signals/webhooks",
  operations: {
    "api/operations.ts": webhookOperations,
    "api/instance-operations.ts": instanceWebhookOperations,
  },
  usernameColumns: [webhookEndpoints.created_by],
  loops: [{ name: "webhook sender", roles: ["all"], create: createWebhookSender }],
});
