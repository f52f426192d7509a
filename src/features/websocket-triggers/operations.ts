import { z } from "zod";
import {
  flag,
  moment,
  type Operation,
  operation,
  optional,
  responds,
  wholeNumber,
} from "../../http/operation.ts";
import * as service from "./service.ts";
import type { WebsocketTrigger } from "./tables.ts";

const base = "/w/{workspace}/websocket_triggers" as const;

const MOST_LISTED = 50;

const object = z.record(z.string(), z.unknown());
const orFalse = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

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
  url_runnable_args: object.nullish().transform((value) => value ?? null),
  summary: z
    .string()
    .nullish()
    .transform((value) => value ?? null),
  filters: z
    .array(Filter)
    .max(MOST_LISTED)
    .nullish()
    .transform((value) => value ?? []),
  initial_messages: z
    .array(InitialMessage)
    .max(MOST_LISTED)
    .nullish()
    .transform((value) => value ?? []),
  can_return_message: orFalse,
  can_return_error_result: orFalse,
};

const WebsocketTriggerRecord = z
  .object({
    workspace_id: z.string(),
    path: z.string(),
    script_path: z.string(),
    is_flow: z.boolean(),
    url: z.string(),
    url_runnable_args: object.nullish(),
    enabled: z.boolean(),
    summary: z.string().nullish(),
    filters: z.array(Filter),
    initial_messages: z.array(InitialMessage),
    can_return_message: z.boolean(),
    can_return_error_result: z.boolean(),
    edited_by: z.string(),
    edited_at: moment,
    email: z.string(),
    extra_perms: z.record(z.string(), z.boolean()),
    error: z.string().nullish(),
    server_id: z.string().nullish(),
    last_server_ping: moment.nullish(),
  })
  .meta({ id: "WebsocketTrigger" });

const toRecord = (row: WebsocketTrigger): z.input<typeof WebsocketTriggerRecord> => row;

export const createWebsocketTrigger = operation({
  name: "createWebsocketTrigger",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Run a script or flow for each message of a WebSocket elsewhere",
  body: z.object({
    ...written,
    enabled: z
      .boolean()
      .nullish()
      .transform((value) => value ?? true),
  }),
  responds: responds.created("the path it is kept at"),
  audit: { operation: "websocket_triggers.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await service.createTrigger(ctx, body);
    return body.path;
  },
});

export const updateWebsocketTrigger = operation({
  name: "updateWebsocketTrigger",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Change a WebSocket trigger, which connects anew; its runs act as whoever did so last",
  body: z.object(written),
  responds: responds.text("the path it is kept at"),
  audit: { operation: "websocket_triggers.update", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    await service.updateTrigger(ctx, path, body);
    return body.path;
  },
});

export const setWebsocketTriggerEnabled = operation({
  name: "setWebsocketTriggerEnabled",
  method: "POST",
  path: `${base}/setenabled/{path}`,
  access: "author",
  summary: "Connect a WebSocket trigger, or end its connection",
  body: z.object({ enabled: z.boolean() }),
  responds: responds.text("confirmation"),
  audit: { operation: "websocket_triggers.setenabled", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    await service.setTriggerEnabled(ctx, path, body.enabled);
    return `WebSocket trigger ${path} ${body.enabled ? "enabled" : "disabled"}`;
  },
});

export const deleteWebsocketTrigger = operation({
  name: "deleteWebsocketTrigger",
  method: "DELETE",
  path: `${base}/delete/{path}`,
  access: "author",
  summary: "Delete a WebSocket trigger; what runs goes on",
  responds: responds.text("confirmation"),
  audit: { operation: "websocket_triggers.delete", action_kind: "Delete" },
  run: async (ctx, { path }) => {
    await service.deleteTrigger(ctx, path);
    return `WebSocket trigger ${path} deleted`;
  },
});

export const getWebsocketTrigger = operation({
  name: "getWebsocketTrigger",
  method: "GET",
  path: `${base}/get/{path}`,
  access: "member",
  summary: "Read a WebSocket trigger, and what is wrong with its connection",
  responds: responds.json(WebsocketTriggerRecord),
  run: async (ctx, { path }) => toRecord(await service.getTrigger(ctx, path)),
});

const existsWebsocketTrigger = operation({
  name: "existsWebsocketTrigger",
  method: "GET",
  path: `${base}/exists/{path}`,
  access: "member",
  summary: "Say whether there is a WebSocket trigger at a path",
  responds: responds.json(z.boolean()),
  run: (ctx, { path }) => service.triggerExists(ctx, path),
});

export const listWebsocketTriggers = operation({
  name: "listWebsocketTriggers",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List WebSocket triggers, last edited first",
  query: z.object({
    path: optional(z.string()),
    is_flow: optional(flag),
    path_start: optional(z.string()),
    page: wholeNumber.default(1),
    per_page: wholeNumber.min(1).max(10_000).default(1_000),
  }),
  responds: responds.json(z.array(WebsocketTriggerRecord)),
  run: async (ctx, { query }) => (await service.listTriggers(ctx, query)).map(toRecord),
});

export const websocketTriggerOperations: Operation[] = [
  createWebsocketTrigger,
  updateWebsocketTrigger,
  setWebsocketTriggerEnabled,
  deleteWebsocketTrigger,
  getWebsocketTrigger,
  existsWebsocketTrigger,
  listWebsocketTriggers,
];
