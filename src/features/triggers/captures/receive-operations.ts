/** URLs for senders while a user captures requests. They start no job. */
import { NotFound } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { Context } from "../../../platform/app/context.ts";
import {
  type Method,
  type Operation,
  operation,
  queryBoolean,
  responds,
} from "../../../platform/http/operation.ts";
import { readRouteCapture, readWebhookCapture } from "./captured-request.ts";
import { storeCapture } from "./captures.ts";
import { type CapturePlace, findActiveConfig } from "./configs.ts";
import { parseRunnableKind } from "./runnable-kind.ts";
import type { CaptureConfig } from "./tables.ts";

const base = "/w/{workspace}/capture_u" as const;

const WebhookQuery = z.object({
  raw: queryBoolean.default(false),
  wrap_body: queryBoolean.default(false),
  include_header: z.string().optional(),
  include_query: z.string().optional(),
});

/** No credentials are needed: a sender has none while its receiver is still being developed. */
const common = {
  access: "anyone",
  scope: false,
  allowsWorkspaceTokens: true,
  cors: "any method",
  cookie: "ignored",
  responds: { ...responds.raw("text/plain", "empty, once it is stored"), status: 204 },
} as const;

/** Returns the capture config of a trigger while it is active. @throws NotFound unless a user is capturing for it */
async function requireActiveConfig({ app }: Context, place: CapturePlace): Promise<CaptureConfig> {
  const config = await findActiveConfig(app, place);
  if (config) return config;
  throw new NotFound(`no capture is active here: set or ping the ${place.trigger_kind} config`);
}

const stored = () => new Response(null, { status: 204 });

const receiveWebhook = operation({
  ...common,
  name: "captureWebhook",
  method: "POST",
  path: `${base}/webhook/{runnable_kind}/{path}`,
  summary: "Capture a webhook's request while a config for it is active",
  query: WebhookQuery,
  run: async (ctx, { workspace, runnable_kind, path, query }) => {
    const is_flow = parseRunnableKind(runnable_kind);
    const place = { workspace_id: workspace, path, is_flow, trigger_kind: "webhook" } as const;
    await requireActiveConfig(ctx, place);
    await storeCapture(ctx.app, place, await readWebhookCapture(ctx.request, query));
    return stored();
  },
});

const receiveFlowPayload = operation({
  ...common,
  name: "updateCapture",
  method: "POST",
  path: `${base}/{path}`,
  summary: "Capture requests to a flow, for older clients, while a config for its webhook is active",
  run: async (ctx, { workspace, path }) => {
    const place = { workspace_id: workspace, path, is_flow: true, trigger_kind: "webhook" } as const;
    await requireActiveConfig(ctx, place);
    const query = WebhookQuery.parse({});
    await storeCapture(ctx.app, place, await readWebhookCapture(ctx.request, query));
    return stored();
  },
});

const createRouteOperation = (name: string, method: Method) =>
  operation({
    ...common,
    name,
    method,
    path: `${base}/http/{runnable_kind}/{runnable}/{route_path}`,
    summary: `Capture a ${method} to a route; the path of the script or flow has dots instead of slashes`,
    run: async (ctx, { workspace, runnable_kind, runnable, route_path }) => {
      const is_flow = parseRunnableKind(runnable_kind);
      const path = runnable.replaceAll(".", "/");
      const place = { workspace_id: workspace, path, is_flow, trigger_kind: "http" } as const;
      const { trigger_config } = await requireActiveConfig(ctx, place);
      const input = await readRouteCapture(ctx.request, route_path, Object(trigger_config));
      await storeCapture(ctx.app, place, input);
      return stored();
    },
  });

export const receiveOperations: Operation[] = [
  receiveWebhook,
  receiveFlowPayload,
  createRouteOperation("captureRouteGet", "GET"),
  createRouteOperation("captureRoutePost", "POST"),
  createRouteOperation("captureRoutePut", "PUT"),
  createRouteOperation("captureRoutePatch", "PATCH"),
  createRouteOperation("captureRouteDelete", "DELETE"),
];
