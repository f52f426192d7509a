/** Schemas of flows in the HTTP interface. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { isoTimestamp } from "../../../platform/http/operation.ts";
import { keepUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { OpenFlowValue } from "./value/open-flow.ts";

const FlowFields = z.object({
  path: z.string(),
  summary: z.string().default(""),
  description: z
    .string()
    .nullish()
    .transform((text) => text ?? ""),
  value: OpenFlowValue,
  schema: optionalField(z.record(z.string(), z.unknown())),
  tag: optionalField(z.string()),
  priority: optionalField(z.number().int().min(0).max(100)),
  timeout: optionalField(z.number().int().min(0)),
  ws_error_handler_muted: optionalField(z.boolean()),
  dedicated_worker: optionalField(z.boolean()),
  visible_to_runner_only: optionalField(z.boolean()),
  on_behalf_of_email: optionalField(z.string()),
  draft_only: optionalField(z.boolean()),
  deployment_message: optionalField(z.string()),
  parent_version: optionalField(
    z.number().int().describe("`version_id` that the change is based on: rejected if it is not the newest"),
  ),
});
/** An OpenFlow document with the flow's metadata. */
export const NewFlow = keepUnknownFields(FlowFields);
export type NewFlow = z.output<typeof NewFlow>;

/** A flow without its steps, as lists return it. */
export const FlowSummary = z.object({
  workspace_id: z.string(),
  path: z.string(),
  summary: z.string(),
  description: z.string().optional(),
  /** Number of the newest version, as used in `fv/` paths. */
  version_id: z.number(),
  edited_by: z.string(),
  edited_at: isoTimestamp,
  archived: z.boolean(),
  extra_perms: z.record(z.string(), z.boolean()),
  starred: z.boolean(),
  draft_only: z.boolean(),
  has_draft: z.boolean().optional(),
  tag: z.string().nullish(),
  priority: z.number().nullish(),
  timeout: z.number().nullish(),
  ws_error_handler_muted: z.boolean(),
  dedicated_worker: z.boolean(),
  visible_to_runner_only: z.boolean(),
  on_behalf_of_email: z.string().nullish(),
  deployment_msg: z.string().nullish(),
  has_deploy_errors: z.boolean().optional(),
});

export const FlowRecord = FlowSummary.omit({
  has_draft: true,
  deployment_msg: true,
  has_deploy_errors: true,
}).extend({ value: OpenFlowValue, schema: z.unknown() });

export const FlowVersionRecord = z.object({
  id: z.number(),
  created_at: isoTimestamp,
  deployment_msg: z.string().nullish(),
});
