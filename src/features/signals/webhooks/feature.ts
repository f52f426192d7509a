import { and, eq, gt } from "drizzle-orm";
import { subtractMilliseconds } from "../../../database/conditions.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { instanceWebhookOperations } from "./api/instance-operations.ts";
import { webhookOperations } from "./api/operations.ts";
import { deleteWorkspaceEndpoints } from "./endpoints.ts";
import { getWebhookSender, recordChange } from "./outbox.ts";
import { webhookRetention } from "./retention.ts";
import { createWebhookSender } from "./sender/webhook-sender.ts";
import { webhookDeliveries, webhookEndpoints } from "./tables.ts";

export const feature = defineFeature({
  folder: "signals/webhooks",
  operations: {
    "api/operations.ts": webhookOperations,
    "api/instance-operations.ts": instanceWebhookOperations,
  },
  usernameColumns: [webhookEndpoints.created_by],
  loops: [{ name: "webhook sender", roles: ["all"], create: createWebhookSender }],
  secretColumns: [webhookEndpoints.secret, webhookEndpoints.previous_secret].map((column) => ({
    column,
    key: webhookEndpoints.id,
    isImported: false,
  })),
  retention: webhookRetention,
  tablesDeletedLast: [webhookEndpoints],
  on: {
    changeAudited: recordChange,
    workspaceDeleted: deleteWorkspaceEndpoints,
    /** Keeps the remaining time until the next attempt of failed deliveries. */
    async clockSetBack(app, by_ms) {
      const { state, next_at } = webhookDeliveries;
      await app.db.write((tx) =>
        tx
          .update(webhookDeliveries)
          .set({ next_at: subtractMilliseconds(next_at, by_ms) })
          .where(and(eq(state, "pending"), gt(next_at, app.clock()))),
      );
      getWebhookSender(app).wake();
    },
  },
});
