/**
 * The OpenFlow schema of the HTTP interface. It documents what clients send and may expect; documents that deviate are
 * stored and returned unchanged. `to-runnable.ts` decides what of them can run.
 */
import { LANGUAGES } from "../../../../engines/languages/languages.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { StoredFlow } from "./walk-steps.ts";

const optional = <T extends z.ZodType>(schema: T) => schema.nullish();
const optionalText = z.string().nullish();

const count = z.number().int().min(0);
const atLeastOne = z.number().int().min(1);
const seconds = z.number().min(0);
const priority = z.number().int().min(0).max(100);

const InputTransform = z
  .discriminatedUnion("type", [
    z.looseObject({ type: z.literal("static"), value: z.unknown().optional() }),
    z.looseObject({ type: z.literal("javascript"), expr: z.string() }),
  ])
  .meta({ id: "InputTransform" });

const input_transforms = z.record(z.string(), InputTransform);
const numberOrTransform = z.union([z.number(), InputTransform]);

const Condition = z.looseObject({ expr: z.string() });
const StopCondition = z.looseObject({
  expr: z.string(),
  skip_if_stopped: optional(z.boolean()),
  error_message: optionalText,
  error_include_result: optional(z.boolean()),
});

export const RetrySchema = z.looseObject({
  constant: optional(z.looseObject({ attempts: count, seconds })),
  exponential: optional(
    z.looseObject({
      attempts: count,
      multiplier: z.number().min(0),
      seconds,
      random_factor: optional(z.number().min(0).max(100)),
    }),
  ),
  retry_if: optional(Condition),
});

const Suspend = z.looseObject({
  required_events: optional(atLeastOne),
  timeout: optional(seconds),
  resume_form: z.unknown().optional(),
  user_auth_required: optional(z.boolean()),
  user_groups_required: optional(InputTransform),
  self_approval_disabled: optional(z.boolean()),
  hide_cancel: optional(z.boolean()),
  continue_on_disapprove_timeout: optional(z.boolean()),
});

const modules = z.array(z.lazy((): z.ZodType => FlowModule)).meta({ id: "FlowModules" });

const loop = {
  modules,
  skip_failures: z.boolean(),
  parallel: optional(z.boolean()),
  parallelism: optional(numberOrTransform),
};

const MODULE_VALUES = [
  z.looseObject({
    type: z.literal("rawscript"),
    input_transforms,
    content: z.string(),
    language: z.enum(LANGUAGES),
    path: optionalText,
    lock: optional(z.string()),
    tag: optionalText,
    concurrent_limit: optional(count),
    concurrency_time_window_s: optional(count),
    custom_concurrency_key: optionalText,
  }),
  z.looseObject({
    type: z.literal("script"),
    input_transforms,
    path: z.string(),
    hash: optional(z.string().regex(/^[0-9a-f]{16}$/, "must be a script's hash of 16 hexadecimal digits")),
    tag_override: optionalText,
  }),
  z.looseObject({ type: z.literal("flow"), input_transforms, path: z.string() }),
  z.looseObject({ type: z.literal("forloopflow"), iterator: InputTransform, ...loop }),
  z.looseObject({ type: z.literal("whileloopflow"), ...loop }),
  z.looseObject({
    type: z.literal("branchone"),
    branches: z.array(z.looseObject({ expr: z.string(), modules, summary: optional(z.string()) })),
    default: modules,
  }),
  z.looseObject({
    type: z.literal("branchall"),
    branches: z.array(
      z.looseObject({ modules, summary: optional(z.string()), skip_failure: optional(z.boolean()) }),
    ),
    parallel: optional(z.boolean()),
  }),
  z.looseObject({ type: z.literal("identity"), flow: optional(z.boolean()) }),
] as const;

const FlowModule = z
  .looseObject({
    id: z.string(),
    value: z.discriminatedUnion("type", MODULE_VALUES),
    summary: optional(z.string()),
    stop_after_if: optional(StopCondition),
    stop_after_all_iters_if: optional(StopCondition),
    skip_if: optional(Condition),
    sleep: optional(InputTransform),
    timeout: optional(numberOrTransform),
    cache_ttl: optional(seconds),
    delete_after_use: optional(z.boolean()),
    mock: optional(z.looseObject({ enabled: optional(z.boolean()), return_value: z.unknown().optional() })),
    suspend: optional(Suspend),
    retry: optional(RetrySchema),
    continue_on_error: optional(z.boolean()),
    priority: optional(priority),
  })
  .meta({ id: "FlowModule" });

/** The documented fields of a flow, without unknown ones that are stored too. */
export const KnownFlowValue = z
  .looseObject({
    modules,
    failure_module: optional(FlowModule),
    preprocessor_module: optional(FlowModule),
    same_worker: optional(z.boolean()),
    concurrent_limit: optional(count),
    concurrency_key: optionalText,
    concurrency_time_window_s: optional(count),
    skip_expr: optionalText,
    cache_ttl: optional(seconds),
    priority: optional(priority),
    early_return: optionalText,
    flow_env: optional(z.record(z.string(), z.unknown())),
  })
  .meta({ id: "FlowValue" });

/** The minimum that every flow must match. */
const MinimalFlowValue = z.looseObject({ modules: z.array(z.unknown()) });

/** A flow's steps and options, as sent by the client. */
export type OpenFlowValue = StoredFlow;
export const OpenFlowValue = z.union([KnownFlowValue, MinimalFlowValue], {
  error: ({ input }) =>
    typeof input === "object" && input !== null && !Array.isArray(input)
      ? "its `modules` must be an array of steps"
      : "must be an object with `modules`, an array of steps",
}) as unknown as z.ZodType<StoredFlow, StoredFlow>;
