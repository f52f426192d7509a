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
import { SignatureRule } from "../scripts/records.ts";
import * as service from "./service.ts";
import { AUTHENTICATION_METHODS, HTTP_METHODS, type HttpTrigger, REQUEST_TYPES } from "./tables.ts";

const base = "/w/{workspace}/http_triggers" as const;

const orNull = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? null);
const orFalse = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

const method = z.string().toLowerCase().pipe(z.enum(HTTP_METHODS));
/** Existing tools say `windmill` for a token of this service. */
const authentication = z.preprocess(
  (value) => (value === "windmill" ? "token" : value),
  z.enum(AUTHENTICATION_METHODS),
);

const StaticAssets = z.object({
  s3: z.string(),
  storage: optional(z.string()),
  filename: optional(
    z
      .string()
      .regex(/^[\x20-\x7e]{1,200}$/)
      .regex(/^[^"\\]*$/),
  ),
});

const written = {
  path: z.string(),
  route_path: z.string(),
  workspaced_route: orFalse,
  http_method: method,
  script_path: z
    .string()
    .nullish()
    .transform((value) => value ?? ""),
  is_flow: orFalse,
  summary: orNull(z.string()),
  description: orNull(z.string()),
  request_type: optional(z.enum(REQUEST_TYPES)),
  is_async: optional(z.boolean()),
  authentication_method: optional(authentication),
  requires_auth: optional(z.boolean()),
  authentication_resource_path: orNull(z.string().transform((path) => path.replace(/^\$res:/, ""))),
  signature: orNull(SignatureRule),
  raw_string: orFalse,
  wrap_body: orFalse,
  is_static_website: orFalse,
  static_asset_config: orNull(StaticAssets),
};

const EditRoute = z.object(written);
const NewRoute = z.object({
  ...written,
  enabled: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
});

/** How it was said first: by two flags, which the newer fields stand for. */
function settled<T extends z.output<typeof EditRoute>>({ is_async, requires_auth, ...body }: T) {
  return {
    ...body,
    request_type: body.request_type ?? (is_async ? ("async" as const) : ("sync" as const)),
    authentication_method:
      body.authentication_method ?? (requires_auth ? ("token" as const) : ("none" as const)),
  };
}

const HttpTriggerRecord = z
  .object({
    workspace_id: z.string(),
    path: z.string(),
    route_path: z.string(),
    workspaced_route: z.boolean(),
    http_method: z.enum(HTTP_METHODS),
    script_path: z.string(),
    is_flow: z.boolean(),
    enabled: z.boolean(),
    summary: z.string().nullish(),
    description: z.string().nullish(),
    is_async: z.boolean(),
    request_type: z.enum(REQUEST_TYPES),
    requires_auth: z.boolean(),
    authentication_method: z.enum(AUTHENTICATION_METHODS),
    authentication_resource_path: z.string().nullish(),
    signature: SignatureRule.nullish(),
    raw_string: z.boolean(),
    wrap_body: z.boolean(),
    is_static_website: z.boolean(),
    static_asset_config: StaticAssets.nullish(),
    edited_by: z.string(),
    edited_at: moment,
    email: z.string(),
    extra_perms: z.record(z.string(), z.boolean()),
  })
  .meta({ id: "HttpTrigger" });

const toRecord = (row: HttpTrigger): z.input<typeof HttpTriggerRecord> => ({
  ...row,
  is_async: row.request_type === "async",
  requires_auth: row.authentication_method !== "none",
});

export const createHttpTrigger = operation({
  name: "createHttpTrigger",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Serve a route below /api/r/ that runs a script or flow, or answers files",
  body: NewRoute,
  responds: responds.created("the path it is kept at"),
  audit: { operation: "http_triggers.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await service.createRoute(ctx, settled(body));
    return body.path;
  },
});

export const updateHttpTrigger = operation({
  name: "updateHttpTrigger",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Change a route; its runs act as whoever did so last",
  body: EditRoute,
  responds: responds.text("the path it is kept at"),
  audit: { operation: "http_triggers.update", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    await service.updateRoute(ctx, path, settled(body));
    return body.path;
  },
});

export const setHttpTriggerEnabled = operation({
  name: "setHttpTriggerEnabled",
  method: "POST",
  path: `${base}/setenabled/{path}`,
  access: "author",
  summary: "Switch a route on or off",
  body: z.object({ enabled: z.boolean() }),
  responds: responds.text("confirmation"),
  audit: { operation: "http_triggers.setenabled", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    await service.setRouteEnabled(ctx, path, body.enabled);
    return `HTTP route ${path} ${body.enabled ? "enabled" : "disabled"}`;
  },
});

export const deleteHttpTrigger = operation({
  name: "deleteHttpTrigger",
  method: "DELETE",
  path: `${base}/delete/{path}`,
  access: "author",
  summary: "Delete a route; what runs goes on",
  responds: responds.text("confirmation"),
  audit: { operation: "http_triggers.delete", action_kind: "Delete" },
  run: async (ctx, { path }) => {
    await service.deleteRoute(ctx, path);
    return `HTTP route ${path} deleted`;
  },
});

export const getHttpTrigger = operation({
  name: "getHttpTrigger",
  method: "GET",
  path: `${base}/get/{path}`,
  access: "member",
  summary: "Read a route",
  responds: responds.json(HttpTriggerRecord),
  run: async (ctx, { path }) => toRecord(await service.getRoute(ctx, path)),
});

const existsHttpTrigger = operation({
  name: "existsHttpTrigger",
  method: "GET",
  path: `${base}/exists/{path}`,
  access: "member",
  summary: "Say whether there is a route kept at a path",
  responds: responds.json(z.boolean()),
  run: (ctx, { path }) => service.routeExistsAt(ctx, path),
});

const existsRoute = operation({
  name: "existsRoute",
  method: "POST",
  path: `${base}/route_exists`,
  access: "member",
  scope: { domain: "http_triggers", action: "read" },
  summary: "Say whether something answers at a route",
  body: z.object({
    route_path: z.string(),
    http_method: method,
    workspaced_route: orFalse,
    trigger_path: optional(z.string()),
  }),
  responds: responds.json(z.boolean()),
  run: (ctx, { body: { trigger_path, ...asked } }) => service.routeExists(ctx, asked, trigger_path),
});

export const listHttpTriggers = operation({
  name: "listHttpTriggers",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List routes, last edited first",
  query: z.object({
    path: optional(z.string()),
    is_flow: optional(flag),
    path_start: optional(z.string()),
    page: wholeNumber.default(1),
    per_page: wholeNumber.min(1).max(10_000).default(1_000),
  }),
  responds: responds.json(z.array(HttpTriggerRecord)),
  run: async (ctx, { query }) => (await service.listRoutes(ctx, query)).map(toRecord),
});

export const httpTriggerOperations: Operation[] = [
  createHttpTrigger,
  updateHttpTrigger,
  setHttpTriggerEnabled,
  deleteHttpTrigger,
  getHttpTrigger,
  existsHttpTrigger,
  existsRoute,
  listHttpTriggers,
];
