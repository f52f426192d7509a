/** Schema of `flow_status` in the HTTP interface. */
import * as z from "../../../lib/zod/z.ts";

export const ModuleStatus = z.looseObject({
  type: z.enum([
    "WaitingForPriorSteps",
    "WaitingForEvents",
    "WaitingForExecutor",
    "InProgress",
    "Success",
    "Failure",
  ]),
  id: z.string(),
  job: z.string().optional(),
});

export const FlowStatus = z.object({
  step: z.number(),
  modules: z.array(ModuleStatus),
  failure_module: z.looseObject({ type: z.string(), id: z.string(), parent_module: z.string() }),
  preprocessor_module: ModuleStatus.optional(),
  user_states: z.record(z.string(), z.unknown()).optional(),
  approval_conditions: z
    .object({
      user_auth_required: z.boolean(),
      user_groups_required: z.array(z.string()),
      self_approval_disabled: z.boolean(),
    })
    .optional(),
  restarted_from: z
    .object({
      flow_job_id: z.string(),
      step_id: z.string(),
      branch_or_iteration_n: z.number().nullish(),
    })
    .optional(),
  retry: z.object({ fail_count: z.number(), failed_jobs: z.array(z.string()) }),
});
export type FlowStatus = z.input<typeof FlowStatus>;
