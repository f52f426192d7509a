/** Runs code that is not deployed. */
import { LANGUAGES } from "../../../../engines/languages/languages.ts";
import { findUsableLock } from "../../../../engines/languages/reading/analyse.ts";
import type { Language } from "../../../../engines/languages/types.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { parseJsonField, readField, readForm } from "../../../../platform/http/multipart-form.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryBoolean,
  queryInteger,
  responds,
} from "../../../../platform/http/operation.ts";
import { createResultResponse, getErrorStatus } from "../../follow/response-control.ts";
import type { RunOptions, Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { submitAndWait } from "../../submit/wait.ts";
import { jobIdSchema } from "./run-operations.ts";

const base = "/w/{workspace}/jobs" as const;

/** Maximum number of sources submitted with the code, and maximum characters of each. */
const MAX_MODULES = 500;
const MAX_MODULE_CHARACTERS = 10_000_000;

const Modules = z
  .record(
    z
      .string()
      .regex(/^[fu](?:\/(?!\.\.?(?:\/|$))[^/\\\0]+){2,}$/, "must be paths of scripts, such as f/shop/prices"),
    z.string(),
  )
  .refine(
    (modules) => {
      const sources = Object.values(modules);
      const size = sources.reduce((sum, source) => sum + source.length, 0);
      return sources.length <= MAX_MODULES && size <= MAX_MODULE_CHARACTERS;
    },
    `must be at most ${MAX_MODULES} sources of ${MAX_MODULE_CHARACTERS / 1_000_000} million characters in total`,
  )
  .describe("sources of scripts that the code imports, by path; they take precedence over the workspace's");

const Preview = z.object({
  args: z.record(z.string(), z.unknown()).default({}),
  kind: z.enum(["code", "identity"]).nullish(),
  content: z.string().nullish(),
  path: z.string().nullish(),
  language: z.enum(LANGUAGES).default("bun"),
  tag: z.string().nullish(),
  lock: z.string().nullish(),
  modules: Modules.nullish(),
});
type Preview = z.output<typeof Preview>;

const uuid = responds.created("uuid of the job");
const result = responds.raw("application/json", "the result of the code, as its response controls say");

const previewQuery = {
  scheduled_for: isoTimestamp.optional(),
  job_id: jobIdSchema.optional(),
  tag: z.string().optional(),
  timeout: queryInteger.min(1).optional(),
  invisible_to_owner: queryBoolean.optional(),
};

async function createPreviewSubmission(preview: Preview, options: RunOptions): Promise<Submission> {
  const isCode = preview.kind !== "identity";
  if (isCode) requireCode(preview);
  return {
    kind: isCode ? "preview" : "identity",
    script_path: preview.path ?? undefined,
    language: preview.language,
    tag: options.tag ?? preview.tag ?? preview.language,
    timeout_s: options.timeout,
    raw_code: isCode ? (preview.content ?? "") : undefined,
    raw_lock: await findUsableLock(preview.language as Language, preview.lock),
    raw_modules: preview.modules ? JSON.stringify(preview.modules) : undefined,
    args: JSON.stringify(preview.args),
    visible_to_owner: !options.invisible_to_owner,
  };
}

/**
 * Checks that there is code. Code that does not parse is accepted and makes a job that fails, as existing clients
 * expect.
 */
function requireCode({ content }: Preview): void {
  if (typeof content !== "string") throw new BadRequest("body field `content`: must be the code to run");
}

const previewCommon = {
  access: "author",
  scope: { domain: "jobs", action: "run" },
  audit: { operation: "jobs.run.preview", action_kind: "Execute" },
} as const;

export const runPreview = operation({
  ...previewCommon,
  name: "runPreview",
  method: "POST",
  path: `${base}/run/preview`,
  summary: "Run undeployed code asynchronously",
  query: z.object(previewQuery),
  body: Preview,
  responds: uuid,
  run: async (ctx, { body, query }) =>
    (await submitJob(ctx, await createPreviewSubmission(body, query), query)).id,
});

export const runWaitResultPreview = operation({
  ...previewCommon,
  name: "runWaitResultPreview",
  method: "POST",
  path: `${base}/run_wait_result/preview`,
  summary: "Run undeployed code and return its result",
  query: z.object(previewQuery),
  body: Preview,
  responds: result,
  run: async (ctx, { body, query }) => {
    const end = await submitAndWait(ctx, await createPreviewSubmission(body, query), query);
    return createResultResponse(end.result, {
      failed: end.status !== "success",
      errorStatus: getErrorStatus(ctx.app),
    });
  },
});

/** Reads a bundle built by a client: one JavaScript file, sent with the preview. */
async function readBundle(ctx: WorkspaceContext): Promise<Preview> {
  const form = await readForm(ctx.request, ctx.app.settings.get("request_size_limit_mb") * 1_000_000);
  const preview = await parseJsonField(form, "preview", Preview);
  const content = await readField(form, "file");
  if (content === undefined) throw new BadRequest("the form needs the file `file`, with the bundle");
  return { ...preview, content } as Preview;
}

const runPreviewBundle = operation({
  ...previewCommon,
  name: "runPreviewBundle",
  method: "POST",
  path: `${base}/run/preview_bundle`,
  summary: "Run an undeployed bundle of JavaScript asynchronously",
  query: z.object(previewQuery),
  reads: { "multipart/form-data": z.object({ preview: Preview, file: z.file() }) },
  responds: uuid,
  run: async (ctx, { query }) =>
    (await submitJob(ctx, await createPreviewSubmission(await readBundle(ctx), query), query)).id,
});

const Dependencies = z.object({
  raw_scripts: z
    .array(
      z.object({
        raw_code: z.string(),
        language: z.enum(LANGUAGES),
        script_path: z.string().optional(),
        /** Alias of `script_path`. */
        path: z.string().optional(),
      }),
    )
    .length(1, "must hold exactly one script"),
  entrypoint: z.string(),
});

/** Creates the submission of a dependency job for code that a client is about to deploy. */
function createLockSubmission({ raw_scripts, entrypoint }: z.output<typeof Dependencies>): Submission {
  const [script] = raw_scripts;
  const path = script?.script_path ?? script?.path;
  if (!script || path !== entrypoint) {
    throw new BadRequest("body field `entrypoint`: must be the script_path of the one raw script");
  }
  return {
    kind: "dependencies",
    script_path: path,
    language: script.language,
    tag: "dependency",
    raw_code: script.raw_code,
    args: "{}",
    visible_to_owner: true,
  };
}

const dependenciesCommon = {
  access: "author",
  scope: { domain: "jobs", action: "run" },
  audit: { operation: "jobs.run.dependencies", action_kind: "Execute" },
  body: Dependencies,
} as const;

const runDependencies = operation({
  ...dependenciesCommon,
  name: "runDependencies",
  method: "POST",
  path: `${base}/run/dependencies`,
  summary: "Resolve the lock of undeployed code",
  responds: responds.createdJson(
    z.object({ lock: z.string().optional(), error: z.object({ message: z.string() }).optional() }),
    "the lock, or why there is none",
  ),
  run: async (ctx, { body }) => {
    const end = await submitAndWait(ctx, createLockSubmission(body), {});
    const { lock, error } = parseSchemaJson(end.result) as { lock?: string; error?: { message: string } };
    return error ? { error: { message: error.message } } : { lock };
  },
});

const runDependenciesAsync = operation({
  ...dependenciesCommon,
  name: "runDependenciesAsync",
  method: "POST",
  path: `${base}/run/dependencies_async`,
  summary: "Resolve the lock of undeployed code, asynchronously",
  responds: uuid,
  run: async (ctx, { body }) => (await submitJob(ctx, createLockSubmission(body), {})).id,
});

export const previewOperations: Operation[] = [
  runPreview,
  runWaitResultPreview,
  runPreviewBundle,
  runDependencies,
  runDependenciesAsync,
];
