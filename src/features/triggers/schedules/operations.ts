import { containsJson } from "../../../lib/json/contains.ts";
import { optionalField, withDefault } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  responds,
} from "../../../platform/http/operation.ts";
import { RetrySchema } from "../../code/flows/value/open-flow.ts";
import { jsonFilter } from "../../runs/api/lists/json-filter.ts";
import { addNotOfferedHeader } from "../../tenancy/rights/not-offered.ts";
import {
  keepUnknownFields,
  mergeUnknownFields,
  type UnknownFields,
} from "../../tenancy/rights/unknown-fields.ts";
import { createTriggerOperations, triggerRecordFields } from "../common/trigger-operations.ts";
import { computeEarliestRunTime, listNextRuns } from "./cron/cron.ts";
import { HANDLER_TYPES, storeDefaultHandler } from "./default-handlers.ts";
import * as service from "./service.ts";
import type { Schedule } from "./tables.ts";

const base = "/w/{workspace}/schedules" as const;

/** Default number of times in a preview. */
const PREVIEW_COUNT = 5;
const MAX_PREVIEW_COUNT = 100;

const object = z.record(z.string(), z.unknown());
const orNull = <T extends z.ZodType>(schema: T) => withDefault(schema, null);
const orFalse = withDefault(z.boolean(), false);
const times = z.number().int().min(1);

const changeable = {
  schedule: z.string(),
  timezone: z.string(),
  args: withDefault(object, {}),
  summary: orNull(z.string()),
  description: orNull(z.string()),
  tag: orNull(z.string()),
  no_flow_overlap: orFalse,
  paused_until: orNull(isoTimestamp),
  retry: orNull(RetrySchema),
  cron_version: orNull(z.string()),
  ws_error_handler_muted: orFalse,
  on_failure: orNull(z.string()),
  on_failure_times: orNull(times),
  on_failure_exact: orNull(z.boolean()),
  on_failure_extra_args: orNull(object),
  on_recovery: orNull(z.string()),
  on_recovery_times: orNull(times),
  on_recovery_extra_args: orNull(object),
  on_success: orNull(z.string()),
  on_success_extra_args: orNull(object),
};

const EditSchedule = keepUnknownFields(z.object(changeable), ["script_path", "is_flow", "enabled"]);
const NewSchedule = keepUnknownFields(
  z.object({
    path: z.string(),
    script_path: z.string(),
    is_flow: orFalse,
    enabled: withDefault(z.boolean(), true),
    ...changeable,
  }),
);

const ScheduleRecord = z
  .object({
    ...triggerRecordFields,
    schedule: z.string(),
    timezone: z.string(),
    args: object,
    error: z.string().nullish(),
    description: z.string().nullish(),
    tag: z.string().nullish(),
    no_flow_overlap: z.boolean(),
    paused_until: isoTimestamp.nullish(),
    retry: z.unknown().nullish(),
    cron_version: z.string().nullish(),
    ws_error_handler_muted: z.boolean(),
    on_failure: z.string().nullish(),
    on_failure_times: z.number().nullish(),
    on_failure_exact: z.boolean().nullish(),
    on_failure_extra_args: object.nullish(),
    on_recovery: z.string().nullish(),
    on_recovery_times: z.number().nullish(),
    on_recovery_extra_args: object.nullish(),
    on_success: z.string().nullish(),
    on_success_extra_args: object.nullish(),
    /** Next run (not in the contract). */
    next_at: isoTimestamp.nullish(),
  })
  .meta({ id: "Schedule" });

const toRecord = ({ extra, ...row }: Schedule): z.input<typeof ScheduleRecord> => ({ ...extra, ...row });

function withKept<B extends { extra?: UnknownFields | undefined }>(body: B) {
  return { ...body, extra: mergeUnknownFields(null, body.extra) };
}

export const createSchedule = operation({
  name: "createSchedule",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Create a schedule that runs a script or flow by a cron expression, in a time zone",
  body: NewSchedule,
  responds: responds.created("the schedule's path"),
  audit: { operation: "schedule.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await service.createSchedule(ctx, withKept(body) as service.ScheduleBody);
    return addNotOfferedHeader(body.path, body.extra);
  },
});

export const updateSchedule = operation({
  name: "updateSchedule",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Update a schedule; its runs act as its last editor",
  body: EditSchedule,
  responds: responds.text("the schedule's path"),
  audit: { operation: "schedule.edit", action_kind: "Update" },
  run: async (ctx, { path, body }) => {
    await service.updateSchedule(ctx, path, withKept(body) as Parameters<typeof service.updateSchedule>[2]);
    return addNotOfferedHeader(path, body.extra);
  },
});

/** `setenabled`, `delete`, `get`, `list` and `exists`, which all kinds of triggers have. */
const common = createTriggerOperations({
  noun: "schedules",
  name: "Schedule",
  audit: "schedule",
  store: service.scheduleStore,
  record: ScheduleRecord,
  toRecord,
  filters: z.object({ args: jsonFilter.optional() }),
  wanted({ args }) {
    const part = args as z.output<typeof jsonFilter> | undefined;
    return part && ((row) => containsJson(row.args, part.value));
  },
});
export const {
  setEnabled: setScheduleEnabled,
  delete: deleteSchedule,
  get: getSchedule,
  list: listSchedules,
} = common;

const Ran = z.object({ id: z.string(), success: z.boolean(), duration_ms: z.number() });

const listSchedulesWithJobs = operation({
  name: "listSchedulesWithJobs",
  method: "GET",
  path: `${base}/list_with_jobs`,
  access: "member",
  summary: "List schedules with the last runs of each",
  query: z.object(pagingFields),
  responds: responds.json(z.array(ScheduleRecord.extend({ jobs: z.array(Ran) }))),
  run: async (ctx, { query }) => {
    const rows = await service.scheduleStore.list(ctx, query);
    return Promise.all(
      rows.map(async (row) => ({ ...toRecord(row), jobs: await service.listLastRuns(ctx, row) })),
    );
  },
});

const setDefaultHandler = operation({
  name: "setDefaultErrorOrRecoveryHandler",
  method: "POST",
  path: `${base}/setdefaulthandler`,
  access: "admin",
  summary: "Set the default handler of schedules, on request also of all existing ones",
  body: z.object({
    handler_type: z.enum(HANDLER_TYPES),
    override_existing: orFalse,
    path: optionalField(z.string()),
    extra_args: optionalField(object),
    number_of_occurence: optionalField(times),
    number_of_occurence_exact: optionalField(z.boolean()),
    workspace_handler_muted: optionalField(z.boolean()),
  }),
  responds: responds.created("confirmation"),
  audit: { operation: "schedules.setdefaulthandler", action_kind: "Update" },
  run: async (ctx, { body }) => {
    const { handler_type, path } = body;
    if (path) await service.requireValidHandler(ctx, "path", path);
    await storeDefaultHandler(ctx, handler_type, {
      handler: path
        ? {
            path,
            extra_args: body.extra_args,
            times: body.number_of_occurence,
            exact: body.number_of_occurence_exact,
            workspace_handler_muted: body.workspace_handler_muted,
          }
        : undefined,
      override_existing: body.override_existing,
    });
    return `default ${handler_type} handler of schedules ${path ? `is ${path}` : "removed"}`;
  },
});

export const previewSchedule = operation({
  name: "previewSchedule",
  method: "POST",
  path: "/schedules/preview",
  access: "user",
  allowsWorkspaceTokens: true,
  scope: { domain: "schedules", action: "read" },
  summary: "Preview the next times of a cron expression",
  body: z.object({
    schedule: z.string(),
    timezone: z.string(),
    cron_version: optionalField(z.string()),
    /** Leaves out times before it, like a schedule's pause (not in the contract). */
    paused_until: orNull(isoTimestamp),
    /** Number of times (not in the contract). */
    count: optionalField(z.number().int().min(1).max(MAX_PREVIEW_COUNT)),
  }),
  responds: responds.json(z.array(isoTimestamp)),
  run: ({ app }, { body: { schedule, timezone, paused_until, count = PREVIEW_COUNT } }) =>
    listNextRuns(schedule, timezone, computeEarliestRunTime(paused_until, app.clock()), count),
});

export const scheduleOperations: Operation[] = [
  createSchedule,
  updateSchedule,
  ...Object.values(common),
  listSchedulesWithJobs,
  setDefaultHandler,
  previewSchedule,
];
