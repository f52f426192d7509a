import type { Retry } from "../../../engines/flow-engine/types.ts";
import { optionalField, withDefault } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { isoTimestamp, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { RetrySchema } from "../../code/flows/value/open-flow.ts";
import { keepUnknownFields, mergeUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { isTriggerEnabled, TriggerMode, toTriggerMode } from "../common/mode.ts";
import { createTriggerOperations, triggerRecordFields } from "../common/trigger-operations.ts";
import * as service from "./service.ts";
import type { WebsocketTrigger } from "./tables.ts";

const base = "/w/{workspace}/websocket_triggers" as const;

const MAX_LIST_ENTRIES = 50;

const object = z.record(z.string(), z.unknown());
const orFalse = withDefault(z.boolean(), false);

const Filter = z.object({ key: z.string().min(1), value: z.unknown() });
const InitialMessage = z.union(
  [
    z.object({ raw_message: z.string() }),
    z.object({
      runnable_result: z.object({
        path: z.string(),
        is_flow: z.boolean().default(false),
        args: object.default({}),
      }),
    }),
  ],
  { error: "must be {raw_message: text} or {runnable_result: {path, is_flow, args}}" },
);

const written = {
  path: z.string(),
  script_path: z.string(),
  is_flow: orFalse,
  url: z.string().trim(),
  url_runnable_args: withDefault(object, null),
  summary: withDefault(z.string(), null),
  filters: withDefault(z.array(Filter).max(MAX_LIST_ENTRIES), []),
  initial_messages: withDefault(z.array(InitialMessage).max(MAX_LIST_ENTRIES), []),
  can_return_message: orFalse,
  can_return_error_result: orFalse,
  retry: withDefault(RetrySchema, null),
};

const WebsocketTriggerRecord = z
  .object({
    ...triggerRecordFields,
    url: z.string(),
    url_runnable_args: object,
    filters: z.array(Filter),
    initial_messages: z.array(InitialMessage),
    can_return_message: z.boolean(),
    can_return_error_result: z.boolean(),
    retry: z.unknown().nullish(),
    mode: TriggerMode,
    error: z.string().nullish(),
    server_id: z.string().nullish(),
    last_server_ping: isoTimestamp.nullish(),
  })
  .meta({ id: "WebsocketTrigger" });

export const createWebsocketTrigger = operation({
  name: "createWebsocketTrigger",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Create a trigger that runs a script or flow for each message of a WebSocket server",
  body: keepUnknownFields(z.object({ ...written, enabled: optionalField(z.boolean()), mode: TriggerMode })),
  responds: responds.created("the path it is kept at"),
  audit: { operation: "websocket_triggers.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    const { enabled, mode, extra, ...trigger } = body;
    const row = {
      ...trigger,
      retry: trigger.retry as Retry | null,
      extra: mergeUnknownFields(null, extra),
      enabled: isTriggerEnabled(enabled, mode),
    };
    await service.createTrigger(ctx, row);
    return body.path;
  },
});

export const updateWebsocketTrigger = operation({
  name: "updateWebsocketTrigger",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Update a WebSocket trigger, which then reconnects; its runs act as its last editor",
  body: keepUnknownFields(z.object({ ...written, mode: TriggerMode }), ["enabled"]),
  responds: responds.text("the path it is kept at"),
  audit: { operation: "websocket_triggers.update", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    const { mode, extra, ...trigger } = body;
    const enabled = mode && { enabled: isTriggerEnabled(undefined, mode) };
    await service.updateTrigger(ctx, path, {
      ...trigger,
      ...enabled,
      retry: trigger.retry as Retry | null,
      extra: mergeUnknownFields(null, extra),
    });
    return body.path;
  },
});

/** `setenabled`, `delete`, `get`, `list` and `exists`, which all kinds of triggers have. */
const common = createTriggerOperations({
  noun: "websocket_triggers",
  name: "WebsocketTrigger",
  audit: "websocket_triggers",
  store: service.triggerStore,
  record: WebsocketTriggerRecord,
  toRecord: ({ extra, ...row }: WebsocketTrigger) => ({
    ...extra,
    ...row,
    url_runnable_args: row.url_runnable_args ?? {},
    mode: toTriggerMode(row.enabled),
  }),
});
export const {
  setEnabled: setWebsocketTriggerEnabled,
  delete: deleteWebsocketTrigger,
  get: getWebsocketTrigger,
  list: listWebsocketTriggers,
} = common;

export const websocketTriggerOperations: Operation[] = [
  createWebsocketTrigger,
  updateWebsocketTrigger,
  ...Object.values(common),
];
