import type * as audit from "../../../src/features/signals/audit/operations.ts";
import type * as api from "../../../src/features/signals/webhooks/api/operations.ts";
import { remote } from "../remote-operation.ts";

export const exportAllAuditLogs = remote<typeof audit.exportAllAuditLogs>("GET", "/audit/export", "raw");
export const exportAuditLogs = remote<typeof audit.exportAuditLogs>(
  "GET",
  "/w/{workspace}/audit/export",
  "raw",
);
export const listAllAuditLogs = remote<typeof audit.listAllAuditLogs>("GET", "/audit/list", "json");
export const listAuditLogs = remote<typeof audit.listAuditLogs>("GET", "/w/{workspace}/audit/list", "json");

export const createWebhook = remote<typeof api.createWebhook>(
  "POST",
  "/w/{workspace}/webhooks/create",
  "json",
);
export const deleteWebhook = remote<typeof api.deleteWebhook>(
  "DELETE",
  "/w/{workspace}/webhooks/delete/{id}",
  "text",
);
export const listWebhookDeliveries = remote<typeof api.listWebhookDeliveries>(
  "GET",
  "/w/{workspace}/webhooks/deliveries/{id}",
  "json",
);
export const listWebhooks = remote<typeof api.listWebhooks>("GET", "/w/{workspace}/webhooks/list", "json");
export const redeliverWebhook = remote<typeof api.redeliverWebhook>(
  "POST",
  "/w/{workspace}/webhooks/redeliver/{id}",
  "json",
);
export const rotateWebhookSecret = remote<typeof api.rotateWebhookSecret>(
  "POST",
  "/w/{workspace}/webhooks/rotate_secret/{id}",
  "json",
);
export const updateWebhook = remote<typeof api.updateWebhook>(
  "POST",
  "/w/{workspace}/webhooks/update/{id}",
  "text",
);
