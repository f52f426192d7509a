import { z } from "zod";
import { optional, orElse } from "../../../lib/zod.ts";
import { moment, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { keepingOthers, mergeKept } from "../../tenancy/rights/unknown-fields.ts";
import { triggerOperations, triggerRecord } from "../common/kind-operations.ts";
import { isEnabled, Mode, modeOf } from "../common/mode.ts";
import * as service from "./service.ts";
import type { WebsocketTrigger } from "./tables.ts";

const base = "/w/{workspace}/websocket_triggers" as const;

const MOST_LISTED = 50;

const object = z.record(z.string(), z.unknown());
const orFalse = orElse(z.boolean(), false);

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
  url_runnable_args: orElse(object, null),
  summary: orElse(z.string(), null),
  filters: orElse(z.array(Filter).max(MOST_LISTED), []),
  initial_messages: orElse(z.array(InitialMessage).max(MOST_LISTED), []),
  can_return_message: orFalse,
  can_return_error_result: orFalse,
};

const WebsocketTriggerRecord = z
  .object({
    ...triggerRecord,
    url: z.string(),
    url_runnable_args: object.nullish(),
    filters: z.array(Filter),
    initial_messages: z.array(InitialMessage),
    can_return_message: z.boolean(),
    can_return_error_result: z.boolean(),
    mode: Mode,
    error: z.string().nullish(),
    server_id: z.string().nullish(),
    last_server_ping: moment.nullish(),
  })
  .meta({ id: "WebsocketTrigger" });

export const createWebsocketTrigger = operation({
  name: "createWebsocketTrigger",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Run a script or flow for each message of a WebSocket elsewhere",
  body: keepingOthers(z.object({ ...written, enabled: optional(z.boolean()), mode: Mode })),
  responds: responds.created("the path it is kept at"),
  audit: { operation: "websocket_triggers.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    const { enabled, mode, extra, ...trigger } = body;
    const row = { ...trigger, extra: mergeKept(null, extra), enabled: isEnabled(enabled, mode) };
    await service.createTrigger(ctx, row);
    return body.path;
  },
});

export const updateWebsocketTrigger = operation({
  name: "updateWebsocketTrigger",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Change a WebSocket trigger, which reconnects; its runs act as whoever changed it last",
  body: keepingOthers(z.object({ ...written, mode: Mode })),
  responds: responds.text("the path it is kept at"),
  audit: { operation: "websocket_triggers.update", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    const { mode, extra, ...trigger } = body;
    const enabled = mode && { enabled: isEnabled(undefined, mode) };
    await service.updateTrigger(ctx, path, { ...trigger, ...enabled, extra: mergeKept(null, extra) });
    return body.path;
  },
});

const common = triggerOperations({
  noun: "websocket_triggers",
  name: "WebsocketTrigger",
  audit: "websocket_triggers",
  store: service.triggers,
  record: WebsocketTriggerRecord,
  toRecord: ({ extra, ...row }: WebsocketTrigger) => ({ ...extra, ...row, mode: modeOf(row.enabled) }),
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
