/** Schemas of scripts in the HTTP interface. */
import { LANGUAGES } from "../../../engines/languages/languages.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { isoTimestamp } from "../../../platform/http/operation.ts";
import { keepUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { SIGNATURE_SCHEMES, signsTimestamp } from "./signature-rule.ts";

const HEADER_NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Rule by which requests to the script's webhooks must be signed. */
export const SignatureRuleSchema = z
  .object({
    scheme: z.enum(SIGNATURE_SCHEMES),
    secret: z.string().min(1, "must be the path of the variable that holds the shared secret"),
    header: optionalField(
      z.string().regex(HEADER_NAME_PATTERN, "must be the name of a header (RFC 9110 §5.1)"),
    ),
    tolerance_s: optionalField(z.number().int().min(1)),
  })
  .superRefine(({ scheme, header, tolerance_s }, issues) => {
    const refuse = (field: string, message: string) =>
      issues.addIssue({ code: "custom", path: [field], message });
    if (scheme === "hmac_sha256" && header === undefined) {
      refuse("header", "hmac_sha256 needs the name of the header that carries the digest");
    }
    if (scheme !== "hmac_sha256" && header !== undefined) {
      refuse("header", `${scheme} has a header of its own`);
    }
    if (tolerance_s !== undefined && !signsTimestamp(scheme)) {
      refuse("tolerance_s", `${scheme} signs no timestamp`);
    }
  });

export const ScriptFields = z.object({
  path: z.string(),
  parent_hash: optionalField(z.string()),
  summary: z.string().default(""),
  description: z.string().default(""),
  content: z.string(),
  schema: optionalField(z.record(z.string(), z.unknown())),
  language: z.enum(LANGUAGES, {
    error: (issue) => `${JSON.stringify(issue.input)} is not supported; use one of ${LANGUAGES.join(", ")}`,
  }),
  kind: optionalField(z.enum(["script", "failure", "trigger", "command", "approval", "preprocessor"])),
  is_template: optionalField(z.boolean()),
  lock: optionalField(z.string().or(z.array(z.string()).transform((lines) => lines.join("\n")))),
  tag: optionalField(z.string()),
  envs: optionalField(z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*=/, "must be KEY=value pairs"))),
  concurrent_limit: optionalField(z.number().int().min(0)),
  concurrency_time_window_s: optionalField(z.number().int().min(0)),
  concurrency_key: optionalField(z.string()),
  cache_ttl: optionalField(z.number().min(0)),
  timeout: optionalField(z.number().int().min(0)),
  priority: optionalField(z.number().int().min(0).max(100)),
  delete_after_use: optionalField(z.boolean()),
  dedicated_worker: optionalField(z.boolean()),
  restart_unless_cancelled: optionalField(z.boolean()),
  visible_to_runner_only: optionalField(z.boolean()),
  ws_error_handler_muted: optionalField(z.boolean()),
  isolation: optionalField(z.enum(["shared", "fresh"])),
  memory_mb: optionalField(
    z.number().int().min(64, "must be 64 MB or more: the runtime itself takes about 40"),
  ),
  validate: optionalField(z.boolean()),
  no_main_func: optionalField(z.boolean()),
  has_preprocessor: optionalField(z.boolean()),
  signature: optionalField(SignatureRuleSchema),
  on_behalf_of_email: optionalField(z.string()),
  draft_only: optionalField(z.boolean()),
  deployment_message: optionalField(z.string()),
  codebase: optionalField(z.string()),
});
export const NewScript = keepUnknownFields(ScriptFields);
/** May contain a bundle, built by a client, that runs instead of the content. */
export type NewScript = z.output<typeof NewScript> & { bundle?: string };

const nullish = <T extends z.ZodType>(schema: T) => schema.nullish();

export const ScriptRecord = z
  .object({
    workspace_id: z.string(),
    hash: z.string(),
    path: z.string(),
    parent_hashes: z.array(z.string()),
    summary: z.string(),
    description: z.string(),
    content: z.string(),
    schema: z.unknown(),
    language: z.enum(LANGUAGES),
    kind: z.string(),
    is_template: z.boolean(),
    lock: nullish(z.string()),
    lock_error_logs: nullish(z.string()),
    imports: nullish(z.array(z.object({ path: z.string(), hash: z.string() }))),
    tag: nullish(z.string()),
    envs: z.array(z.string()),
    concurrent_limit: nullish(z.number()),
    concurrency_time_window_s: nullish(z.number()),
    concurrency_key: nullish(z.string()),
    cache_ttl: nullish(z.number()),
    timeout: nullish(z.number()),
    priority: nullish(z.number()),
    delete_after_use: z.boolean(),
    dedicated_worker: z.boolean(),
    restart_unless_cancelled: z.boolean(),
    visible_to_runner_only: z.boolean(),
    ws_error_handler_muted: z.boolean(),
    isolation: z.enum(["shared", "fresh"]),
    memory_mb: nullish(z.number()),
    validate: z.boolean(),
    no_main_func: z.boolean(),
    has_preprocessor: z.boolean(),
    signature: nullish(SignatureRuleSchema),
    on_behalf_of_email: nullish(z.string()),
    codebase: nullish(z.string()),
    created_by: z.string(),
    created_at: isoTimestamp,
    archived: z.boolean(),
    deleted: z.boolean(),
    draft_only: z.boolean(),
    extra_perms: z.record(z.string(), z.boolean()),
    starred: z.boolean(),
  })
  .meta({ id: "Script" });

/** A script without code and lock, as lists return it. */
export const ScriptSummary = ScriptRecord.omit({ content: true, lock: true, lock_error_logs: true }).extend({
  has_draft: z.boolean(),
  deployment_msg: nullish(z.string()),
  has_deploy_errors: z.boolean().optional(),
});
