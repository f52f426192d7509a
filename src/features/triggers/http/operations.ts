import type { Retry as RetryRule } from "../../../engines/flow-engine/types.ts";
import { optionalField, withDefault } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { RetrySchema } from "../../code/flows/value/open-flow.ts";
import { SignatureRuleSchema } from "../../code/scripts/records.ts";
import { keepUnknownFields, mergeUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { isTriggerEnabled, TriggerMode, toTriggerMode } from "../common/mode.ts";
import { createTriggerOperations, triggerRecordFields } from "../common/trigger-operations.ts";
import { getActiveRoutes } from "./active-routes.ts";
import { HTTP_METHODS } from "./methods.ts";
import { createRouteKey } from "./route-conflicts.ts";
import * as service from "./service.ts";
import { AUTHENTICATION_METHODS, type HttpTrigger, REQUEST_TYPES } from "./tables.ts";

const base = "/w/{workspace}/http_triggers" as const;

const orNull = <T extends z.ZodType>(schema: T) => withDefault(schema, null);
const orFalse = withDefault(z.boolean(), false);

const method = z.string().toLowerCase().pipe(z.enum(HTTP_METHODS));
/** Existing tools use `windmill` for `token`. */
const authentication = z.preprocess(
  (value) => (value === "windmill" ? "token" : value),
  z.enum(AUTHENTICATION_METHODS),
);

const StaticAssets = z.object({
  s3: z.string(),
  storage: optionalField(z.string()),
  filename: optionalField(
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
  script_path: withDefault(z.string(), ""),
  is_flow: orFalse,
  summary: orNull(z.string()),
  description: orNull(z.string()),
  request_type: optionalField(z.enum(REQUEST_TYPES)),
  is_async: optionalField(z.boolean()),
  authentication_method: optionalField(authentication),
  requires_auth: optionalField(z.boolean()),
  authentication_resource_path: orNull(z.string().transform((path) => path.replace(/^\$res:/, ""))),
  signature: orNull(SignatureRuleSchema),
  raw_string: orFalse,
  wrap_body: orFalse,
  is_static_website: orFalse,
  static_asset_config: orNull(StaticAssets),
  retry: orNull(RetrySchema),
};

/** Route path and method may be omitted: they then stay the same. */
const EditRoute = keepUnknownFields(
  z.object({
    ...written,
    route_path: optionalField(z.string()),
    workspaced_route: optionalField(z.boolean()),
    mode: TriggerMode,
  }),
  ["enabled"],
);
const NewRoute = keepUnknownFields(
  z.object({ ...written, enabled: optionalField(z.boolean()), mode: TriggerMode }),
);

/** Normalises a route: two older flags are replaced by the fields that newer clients use. */
export function normaliseRoute({
  is_async,
  requires_auth,
  mode: _,
  extra,
  ...body
}: Omit<z.output<typeof NewRoute>, "enabled">) {
  return {
    ...body,
    extra: mergeUnknownFields(null, extra),
    retry: body.retry as RetryRule | null,
    request_type: body.request_type ?? (is_async ? ("async" as const) : ("sync" as const)),
    authentication_method:
      body.authentication_method ?? (requires_auth ? ("token" as const) : ("none" as const)),
  };
}

const HttpTriggerRecord = z
  .object({
    ...triggerRecordFields,
    route_path: z.string(),
    workspaced_route: z.boolean(),
    http_method: z.enum(HTTP_METHODS),
    description: z.string().nullish(),
    is_async: z.boolean(),
    request_type: z.enum(REQUEST_TYPES),
    requires_auth: z.boolean(),
    authentication_method: z.enum(AUTHENTICATION_METHODS),
    authentication_resource_path: z.string().nullish(),
    signature: SignatureRuleSchema.nullish(),
    raw_string: z.boolean(),
    wrap_body: z.boolean(),
    is_static_website: z.boolean(),
    static_asset_config: StaticAssets.nullish(),
    retry: z.unknown().nullish(),
    mode: TriggerMode,
    /** Why the route is not served although it is enabled. */
    error: z.string().nullish(),
  })
  .meta({ id: "HttpTrigger" });

const toRecord = async (
  { extra, ...row }: HttpTrigger,
  { app }: WorkspaceContext,
): Promise<z.input<typeof HttpTriggerRecord>> => ({
  ...extra,
  ...row,
  mode: toTriggerMode(row.enabled),
  error: (await getActiveRoutes(app)).errors.get(createRouteKey(row)),
  is_async: row.request_type === "async",
  requires_auth: row.authentication_method !== "none",
});

export const createHttpTrigger = operation({
  name: "createHttpTrigger",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Create a route below /api/r/ that runs a script or flow, or serves files",
  body: NewRoute,
  responds: responds.created("the path it is kept at"),
  audit: { operation: "http_triggers.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    const { enabled, ...route } = body;
    await service.createRoute(ctx, {
      ...normaliseRoute(route),
      enabled: isTriggerEnabled(enabled, body.mode),
    });
    return body.path;
  },
});

export const updateHttpTrigger = operation({
  name: "updateHttpTrigger",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Update a route; its runs act as its last editor",
  body: EditRoute,
  responds: responds.text("the path it is kept at"),
  audit: { operation: "http_triggers.update", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    const enabled = body.mode && { enabled: isTriggerEnabled(undefined, body.mode) };
    const before =
      body.route_path === undefined ? await service.routeStore.getWritable(ctx, path) : undefined;
    const place = {
      route_path: body.route_path ?? before!.route_path,
      workspaced_route: body.workspaced_route ?? before?.workspaced_route ?? false,
    };
    await service.updateRoute(ctx, path, { ...normaliseRoute({ ...body, ...place }), ...enabled });
    return body.path;
  },
});

/** `setenabled`, `delete`, `get`, `list` and `exists`, which all kinds of triggers have. */
const common = createTriggerOperations({
  noun: "http_triggers",
  name: "HttpTrigger",
  audit: "http_triggers",
  store: service.routeStore,
  record: HttpTriggerRecord,
  toRecord,
});
export const {
  setEnabled: setHttpTriggerEnabled,
  delete: deleteHttpTrigger,
  get: getHttpTrigger,
  list: listHttpTriggers,
} = common;

const existsRoute = operation({
  name: "existsRoute",
  method: "POST",
  path: `${base}/route_exists`,
  access: "member",
  scope: { domain: "http_triggers", action: "read" },
  summary: "Check whether a route exists",
  body: z.object({
    route_path: z.string(),
    http_method: method,
    workspaced_route: orFalse,
    trigger_path: optionalField(z.string()),
  }),
  responds: responds.json(z.boolean()),
  run: (ctx, { body: { trigger_path, ...asked } }) => service.isRouteAnswered(ctx, asked, trigger_path),
});

export const httpTriggerOperations: Operation[] = [
  createHttpTrigger,
  updateHttpTrigger,
  ...Object.values(common),
  existsRoute,
];
