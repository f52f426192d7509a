/** The records of apps as they stand on the wire. */
import { z } from "zod";
import { optional } from "../../../lib/zod.ts";
import { moment } from "../../../platform/http/operation.ts";
import { ExecutionMode, Policy } from "./policy.ts";

const value = z
  .unknown()
  .refine((given) => given !== undefined && given !== null, "is missing: give what the app is made of");

export const NewApp = z.object({
  path: z.string(),
  value,
  summary: z.string().default(""),
  policy: Policy,
  draft_only: optional(z.boolean()),
  deployment_message: optional(z.string()),
  custom_path: optional(z.string()),
});
export type NewApp = z.output<typeof NewApp>;

/** What is left out stays as it is; an empty `custom_path` takes it away. */
export const EditApp = z.object({
  path: optional(z.string()),
  value: optional(value),
  summary: optional(z.string()),
  policy: optional(Policy),
  deployment_message: optional(z.string()),
  custom_path: optional(z.string()),
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
  /** Its pages are code of its own, and no components. */
  raw_app: z.boolean(),
};

export const ListableApp = z.object({
  ...common,
  /** The newest version. */
  version: z.number(),
  edited_at: moment,
  starred: z.boolean(),
  has_draft: z.boolean(),
  deployment_msg: z.string().nullish(),
});

export const AppRecord = z.object({
  ...common,
  /** All versions, the newest last. */
  versions: z.array(z.number()),
  created_by: z.string(),
  created_at: moment,
  value: z.unknown(),
  policy: Policy,
  custom_path: z.string().nullish(),
});

export const AppHistory = z.object({ version: z.number(), deployment_msg: z.string().nullish() });
