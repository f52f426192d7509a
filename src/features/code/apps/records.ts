/** Schemas of apps in the HTTP interface. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { isoTimestamp } from "../../../platform/http/operation.ts";
import { ExecutionMode, Policy } from "./policy.ts";

const value = z
  .unknown()
  .refine((given) => given !== undefined && given !== null, "is missing: give what the app is made of");

export const NewApp = z.object({
  path: z.string(),
  value,
  summary: z.string().default(""),
  policy: Policy,
  draft_only: optionalField(z.boolean()),
  deployment_message: optionalField(z.string()),
  custom_path: optionalField(z.string()),
});
export type NewApp = z.output<typeof NewApp>;

/** Absent fields stay unchanged; an empty `custom_path` removes it. */
export const EditApp = z.object({
  path: optionalField(z.string()),
  value: optionalField(value),
  summary: optionalField(z.string()),
  policy: optionalField(Policy),
  deployment_message: optionalField(z.string()),
  custom_path: optionalField(z.string()),
});
export type EditApp = z.output<typeof EditApp>;

const common = {
  id: z.number(),
  workspace_id: z.string(),
  path: z.string(),
  summary: z.string(),
  execution_mode: ExecutionMode,
  extra_perms: z.record(z.string(), z.boolean()),
  draft_only: z.boolean(),
  /** True for apps made of code, false for apps made of components. */
  raw_app: z.boolean(),
};

export const ListableApp = z.object({
  ...common,
  /** Id of the newest version. */
  version: z.number(),
  edited_at: isoTimestamp,
  starred: z.boolean(),
  has_draft: z.boolean(),
  deployment_msg: z.string().nullish(),
});

export const AppRecord = z.object({
  ...common,
  /** Ids of all versions, oldest first. */
  versions: z.array(z.number()),
  created_by: z.string(),
  created_at: isoTimestamp,
  value: z.unknown(),
  policy: Policy,
  custom_path: z.string().nullish(),
});

export const AppHistory = z.object({ version: z.number(), deployment_msg: z.string().nullish() });
