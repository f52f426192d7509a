import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { withDefault } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  responds,
} from "../../../platform/http/operation.ts";
import * as service from "./captures.ts";
import { listConfigs, pingConfig, setConfig } from "./configs.ts";
import { parseRunnableKind } from "./runnable-kind.ts";
import { CAPTURE_KINDS, type CaptureKind } from "./tables.ts";

const base = "/w/{workspace}/capture" as const;

const TriggerKind = z.enum(CAPTURE_KINDS, {
  error: `captures exist for ${CAPTURE_KINDS.join(", ")}: \`trigger_kind\` must be one of them`,
});

const CaptureConfigRecord = z
  .object({
    trigger_kind: z.string(),
    trigger_config: z.unknown(),
    edited_by: z.string(),
    last_client_ping: isoTimestamp,
  })
  .meta({ id: "CaptureConfig" });

const CaptureRecord = z
  .object({
    id: z.number().int(),
    trigger_kind: z.string(),
    /** Arguments that the script or flow would receive. */
    main_args: z.unknown(),
    /** Arguments that its preprocessor would receive. */
    preprocessor_args: z.unknown(),
    payload: z.unknown(),
    trigger_extra: z.unknown(),
    created_at: isoTimestamp,
  })
  .meta({ id: "Capture" });

const setCaptureConfig = operation({
  name: "setCaptureConfig",
  method: "POST",
  path: `${base}/set_config`,
  access: "author",
  summary: "Start capturing what a trigger of a script or flow receives",
  body: z.object({
    trigger_kind: TriggerKind,
    path: z.string(),
    is_flow: z.boolean(),
    trigger_config: withDefault(z.record(z.string(), z.unknown()), null),
  }),
  responds: responds.text("the path of the script or flow"),
  audit: { operation: "capture.set_config", action_kind: "Update" },
  run: async (ctx, { body }) => {
    await setConfig(ctx, body);
    return body.path;
  },
});

const createCapture = operation({
  name: "createCapture",
  method: "PUT",
  path: `${base}/{path}`,
  access: "author",
  summary: "Start capturing what the webhook of a flow receives, for older clients",
  responds: responds.created("the path of the flow"),
  audit: { operation: "capture.create", action_kind: "Update" },
  run: async (ctx, { path }) => {
    await setConfig(ctx, { path, is_flow: true, trigger_kind: "webhook", trigger_config: null });
    return path;
  },
});

const getFlowCapture = operation({
  name: "getFlowCapture",
  method: "GET",
  path: `${base}/{path}`,
  access: "author",
  summary: "Read the arguments of a flow's last capture, for older clients",
  responds: responds.json(z.unknown()),
  run: async (ctx, { workspace, path }) => {
    const newest = { trigger_kind: "webhook", page: 1, per_page: 1 } as const;
    const [last] = await service.listCaptures(ctx, { path, is_flow: true }, newest);
    if (!last) throw new NotFound(`capture of flow ${path} in workspace ${workspace}`);
    return last.main_args;
  },
});

const pingCaptureConfig = operation({
  name: "pingCaptureConfig",
  method: "POST",
  path: `${base}/ping_config/{trigger_kind}/{runnable_kind}/{path}`,
  access: "author",
  summary: "Continue capturing for another minute",
  responds: responds.text("the path of the script or flow"),
  run: async (ctx, { trigger_kind, runnable_kind, path }) => {
    const kind = parseTriggerKind(trigger_kind);
    await pingConfig(ctx, { trigger_kind: kind, path, is_flow: parseRunnableKind(runnable_kind) });
    return path;
  },
});

const getCaptureConfigs = operation({
  name: "getCaptureConfigs",
  method: "GET",
  path: `${base}/get_configs/{runnable_kind}/{path}`,
  access: "author",
  summary: "List the active captures of a script or flow",
  responds: responds.json(z.array(CaptureConfigRecord)),
  run: (ctx, { runnable_kind, path }) =>
    listConfigs(ctx, { path, is_flow: parseRunnableKind(runnable_kind) }),
});

const listCaptures = operation({
  name: "listCaptures",
  method: "GET",
  path: `${base}/list/{runnable_kind}/{path}`,
  access: "author",
  summary: "List the captures of a script or flow, newest first",
  query: z.object({ trigger_kind: TriggerKind.optional(), ...pagingFields }),
  responds: responds.json(z.array(CaptureRecord)),
  run: (ctx, { runnable_kind, path, query }) =>
    service.listCaptures(ctx, { path, is_flow: parseRunnableKind(runnable_kind) }, query),
});

const moveCapturesAndConfigs = operation({
  name: "moveCapturesAndConfigs",
  method: "POST",
  path: `${base}/move/{runnable_kind}/{path}`,
  access: "author",
  summary: "Move captures and configs of a script or flow to its new path",
  body: z.object({ new_path: z.string() }),
  responds: responds.text("the new path"),
  audit: { operation: "capture.move", action_kind: "Update" },
  run: async (ctx, { runnable_kind, path, body }) => {
    await service.moveCaptures(ctx, { path, is_flow: parseRunnableKind(runnable_kind) }, body.new_path);
    return body.new_path;
  },
});

const getCapture = operation({
  name: "getCapture",
  method: "GET",
  path: `${base}/{id}`,
  access: "author",
  summary: "Read a capture",
  responds: responds.json(CaptureRecord),
  run: (ctx, { id }) => service.getCapture(ctx, id),
});

const deleteCapture = operation({
  name: "deleteCapture",
  method: "DELETE",
  path: `${base}/{id}`,
  access: "author",
  summary: "Delete a capture",
  responds: responds.text("the id"),
  audit: { operation: "capture.delete", action_kind: "Delete" },
  run: async (ctx, { id }) => {
    await service.deleteCapture(ctx, id);
    return id;
  },
});

/** Parses the kind of a trigger in a URL. @throws BadRequest */
function parseTriggerKind(given: string): CaptureKind {
  const { data, error } = TriggerKind.safeParse(given);
  if (error) throw new BadRequest(error.issues[0]!.message);
  return data;
}

export const captureOperations: Operation[] = [
  createCapture,
  getFlowCapture,
  setCaptureConfig,
  pingCaptureConfig,
  getCaptureConfigs,
  listCaptures,
  moveCapturesAndConfigs,
  getCapture,
  deleteCapture,
];
