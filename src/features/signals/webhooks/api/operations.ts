/**
 * Operations on webhook endpoints of a workspace. They extend the contract, which knows only the one webhook in the
 * workspace settings.
 */
import { optionalField } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  optionalBody,
  responds,
} from "../../../../platform/http/operation.ts";
import { listDeliveries, redeliverEvents } from "../deliveries.ts";
import { createEndpoint, deleteEndpoint, listEndpoints, rotateSecret, updateEndpoint } from "../endpoints.ts";
import { EVENT_TYPES } from "../event-types.ts";
import type { WebhookEndpoint } from "../tables.ts";

const base = "/w/{workspace}/webhooks" as const;

const types = z.array(z.enum(EVENT_TYPES)).min(1, "name at least one type; leave it out for all");

const NewEndpoint = z.object({
  url: z.string(),
  description: z
    .string()
    .nullish()
    .transform((text) => text ?? ""),
  types: types.nullish().transform((list) => list ?? null),
  enabled: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
});

const EditEndpoint = z.object({
  url: optionalField(z.string()),
  description: optionalField(z.string()),
  types: types.nullable().optional(),
  enabled: optionalField(z.boolean()),
});

export const Endpoint = z
  .object({
    id: z.string(),
    url: z.string(),
    description: z.string(),
    types: z.array(z.string()).nullable(),
    is_workspace_webhook: z.boolean(),
    enabled: z.boolean(),
    created_by: z.string(),
    created_at: isoTimestamp,
    failing_since: isoTimestamp.nullable(),
  })
  .meta({ id: "WebhookEndpoint" });

export const DeliveriesQuery = z.object({
  state: optionalField(z.enum(["pending", "delivered", "failed"])),
  /** `event_seq` of the last delivery on the page before. */
  before: optionalField(z.coerce.number().int()),
  per_page: z.coerce.number().int().min(1).max(1_000).default(100),
});

export const Delivery = z
  .object({
    event_seq: z.number(),
    event_id: z.string(),
    type: z.string(),
    payload: z.string(),
    created_at: isoTimestamp,
    state: z.enum(["pending", "delivered", "failed"]),
    attempts: z.number(),
    next_at: isoTimestamp,
    status: z.number().nullable(),
    error: z.string().nullable(),
    last_attempt_at: isoTimestamp.nullable(),
  })
  .meta({ id: "WebhookDelivery" });

export function toEndpointRecord({
  secret,
  previous_secret,
  previous_secret_until,
  ...shown
}: WebhookEndpoint) {
  return shown;
}

export const createWebhook = operation({
  name: "createWebhookEndpoint",
  method: "POST",
  path: `${base}/create`,
  access: "admin",
  summary: "Create an endpoint for events of the workspace; the signing secret is shown only now",
  body: NewEndpoint,
  responds: responds.json(z.object({ id: z.string(), secret: z.string() }), "the endpoint and its secret"),
  audit: { operation: "webhooks.create", action_kind: "Create" },
  run: (ctx, { body }) => createEndpoint(ctx, body),
});

export const listWebhooks = operation({
  name: "listWebhookEndpoints",
  method: "GET",
  path: `${base}/list`,
  access: "admin",
  summary: "List the endpoints that receive events",
  responds: responds.json(z.array(Endpoint)),
  run: async (ctx) => (await listEndpoints(ctx)).map(toEndpointRecord),
});

export const updateWebhook = operation({
  name: "updateWebhookEndpoint",
  method: "POST",
  path: `${base}/update/{id}`,
  access: "admin",
  summary: "Update an endpoint; while it is disabled, no events are sent or stored for it",
  body: EditEndpoint,
  responds: responds.text("confirmation"),
  audit: { operation: "webhooks.update", action_kind: "Update" },
  run: async (ctx, { id, body }) => {
    const given = Object.entries(body).filter(([, value]) => value !== undefined);
    await updateEndpoint(ctx, id, Object.fromEntries(given));
    return `webhook endpoint ${id} updated`;
  },
});

export const deleteWebhook = operation({
  name: "deleteWebhookEndpoint",
  method: "DELETE",
  path: `${base}/delete/{id}`,
  access: "admin",
  summary: "Delete an endpoint with its deliveries",
  responds: responds.text("confirmation"),
  audit: { operation: "webhooks.delete", action_kind: "Delete" },
  run: async (ctx, { id }) => {
    await deleteEndpoint(ctx, id);
    return `webhook endpoint ${id} deleted`;
  },
});

export const rotateWebhookSecret = operation({
  name: "rotateWebhookSecret",
  method: "POST",
  path: `${base}/rotate_secret/{id}`,
  access: "admin",
  summary: "Rotate the secret, which is shown only now; for a day the previous one signs too",
  responds: responds.json(z.object({ secret: z.string() }), "the new secret"),
  audit: { operation: "webhooks.rotate_secret", action_kind: "Update" },
  run: async (ctx, { workspace, id }) => ({ secret: await rotateSecret(ctx, workspace, id) }),
});

export const listWebhookDeliveries = operation({
  name: "listWebhookDeliveries",
  method: "GET",
  path: `${base}/deliveries/{id}`,
  access: "admin",
  summary: "List the deliveries of an endpoint, newest first",
  query: DeliveriesQuery,
  responds: responds.json(z.array(Delivery)),
  run: (ctx, { workspace, id, query }) => listDeliveries(ctx.app.db.read, workspace, id, query),
});

export const redeliverWebhook = operation({
  name: "redeliverWebhook",
  method: "POST",
  path: `${base}/redeliver/{id}`,
  access: "admin",
  summary: "Redeliver an event, or all failed ones",
  body: optionalBody(z.object({ event_seq: optionalField(z.number().int()) })),
  responds: responds.json(z.object({ count: z.number() }), "how many are sent again"),
  audit: { operation: "webhooks.redeliver", action_kind: "Execute" },
  run: async (ctx, { workspace, id, body }) => ({
    count: await redeliverEvents(ctx, workspace, id, body.event_seq),
  }),
});

export const webhookOperations: Operation[] = [
  createWebhook,
  listWebhooks,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  listWebhookDeliveries,
  redeliverWebhook,
];
