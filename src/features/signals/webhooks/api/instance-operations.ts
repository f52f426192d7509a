/** Operations on the endpoint of instance events. Its URL is the setting `instance_events_webhook`. */
import { optionalField } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import { type Operation, operation, optionalBody, responds } from "../../../../platform/http/operation.ts";
import { requireLicense } from "../../../tenancy/license/service.ts";
import { listDeliveries, redeliverEvents } from "../deliveries.ts";
import { getEndpoint, INSTANCE_ENDPOINT_ID, rotateSecret } from "../endpoints.ts";
import { INSTANCE_WORKSPACE } from "../event-types.ts";
import { DeliveriesQuery, Delivery, Endpoint, toEndpointRecord } from "./operations.ts";

const base = "/webhooks/instance" as const;

const getInstanceWebhook = operation({
  name: "getInstanceWebhook",
  method: "GET",
  path: base,
  access: "superAdmin",
  summary: "Read the endpoint of events about users of the instance, and its state",
  responds: responds.json(Endpoint),
  run: async ({ app }) => {
    await requireLicense(app);
    return toEndpointRecord(await getEndpoint(app.db.read, INSTANCE_WORKSPACE, INSTANCE_ENDPOINT_ID));
  },
});

const rotateInstanceWebhookSecret = operation({
  name: "rotateInstanceWebhookSecret",
  method: "POST",
  path: `${base}/rotate_secret`,
  access: "superAdmin",
  summary:
    "Rotate the signing secret of the instance's events, shown only now; for a day the previous one signs too",
  responds: responds.json(z.object({ secret: z.string() }), "the new secret"),
  audit: { operation: "webhooks.rotate_secret", action_kind: "Update" },
  run: async (ctx) => {
    await requireLicense(ctx.app);
    return { secret: await rotateSecret(ctx, INSTANCE_WORKSPACE, INSTANCE_ENDPOINT_ID) };
  },
});

const listInstanceWebhookDeliveries = operation({
  name: "listInstanceWebhookDeliveries",
  method: "GET",
  path: `${base}/deliveries`,
  access: "superAdmin",
  summary: "List deliveries of the instance's events, newest first",
  query: DeliveriesQuery,
  responds: responds.json(z.array(Delivery)),
  run: async ({ app }, { query }) => {
    await requireLicense(app);
    return listDeliveries(app.db.read, INSTANCE_WORKSPACE, INSTANCE_ENDPOINT_ID, query);
  },
});

const redeliverInstanceWebhook = operation({
  name: "redeliverInstanceWebhook",
  method: "POST",
  path: `${base}/redeliver`,
  access: "superAdmin",
  summary: "Redeliver one of the instance's events, or all failed ones",
  body: optionalBody(z.object({ event_seq: optionalField(z.number().int()) })),
  responds: responds.json(z.object({ count: z.number() }), "how many are sent again"),
  audit: { operation: "webhooks.redeliver", action_kind: "Execute" },
  run: async (ctx, { body }) => {
    await requireLicense(ctx.app);
    return { count: await redeliverEvents(ctx, INSTANCE_WORKSPACE, INSTANCE_ENDPOINT_ID, body.event_seq) };
  },
});

export const instanceWebhookOperations: Operation[] = [
  getInstanceWebhook,
  rotateInstanceWebhookSecret,
  listInstanceWebhookDeliveries,
  redeliverInstanceWebhook,
];
