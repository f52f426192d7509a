/** Dynamic choices of a form field, computed by a function exported beside main, or stored with a flow's schema. */
import type { AnalysisOwner } from "../../../../engines/languages/analysis-slots.ts";
import { LANGUAGES } from "../../../../engines/languages/languages.ts";
import type { Language } from "../../../../engines/languages/types.ts";
import { BadRequest, Forbidden } from "../../../../lib/errors.ts";
import { optionalField } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import type { DeployedFlow } from "../../../code/flows/versions.ts";
import { addEntrypointArgument, getFunctionSignature } from "../../job/entrypoints.ts";
import { createFlowSubmission, createScriptSubmission, type Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { resolveTarget, toTarget } from "../../submit/target.ts";

const language = z.enum(LANGUAGES);

const Choice = z.object({
  entrypoint_function: z.string(),
  args: z.record(z.string(), z.unknown()).default({}),
  runnable_ref: z.discriminatedUnion("source", [
    z.object({
      source: z.literal("deployed"),
      path: z.string(),
      runnable_kind: z.enum(["script", "flow"]),
    }),
    z.object({ source: z.literal("inline"), code: z.string(), lang: optionalField(language) }),
  ]),
});
type Choice = z.output<typeof Choice>;

/**
 * Creates the submission with the rights of the user who fills in the form, even if the script or flow runs on behalf
 * of somebody else.
 */
async function createChoiceSubmission(ctx: WorkspaceContext, choice: Choice): Promise<Submission> {
  const { entrypoint_function: entrypoint, runnable_ref: ref } = choice;
  const owner = { owner: ctx.caller.member.workspace_id, for_request: true };
  const given = addEntrypointArgument(choice.args, entrypoint);
  if (ref.source === "inline") {
    const { operator, is_admin } = ctx.caller.member;
    if (operator && !is_admin) throw new Forbidden("operators may only run deployed scripts and flows");
    const code = { language: ref.lang ?? "bun", content: ref.code } as const;
    return createCodeSubmission(code, entrypoint, owner, given);
  }
  const found = await resolveTarget(ctx, toTarget(ref.path, ref.runnable_kind === "flow"));
  // Choices are requested while a user fills in the form.
  const asCaller = { on_behalf_of_email: undefined, argument_schema: undefined };
  if (found.kind === "flow") {
    const { args } = await createFlowSubmission(ctx, { ...found.flow, ...asCaller }, given, {});
    return createCodeSubmission(parseChoiceCode(found.flow), entrypoint, owner, args);
  }
  await getFunctionSignature(found.script.version, entrypoint, owner, `script ${ref.path}`);
  const submission = await createScriptSubmission(ctx, { ...found.script, ...asCaller }, given, {});
  // Limits and caching of main do not apply to its other functions.
  return {
    ...submission,
    entrypoint,
    concurrency: undefined,
    cache_ttl: undefined,
    delete_after_use: undefined,
  };
}

interface ChoiceSource {
  language: Language;
  content: string;
  path?: string;
}

async function createCodeSubmission(
  code: ChoiceSource,
  entrypoint: string,
  owner: AnalysisOwner,
  args: string,
): Promise<Submission> {
  await getFunctionSignature(code, entrypoint, owner, "the code");
  return {
    kind: "preview",
    script_path: code.path,
    language: code.language,
    tag: code.language,
    raw_code: code.content,
    args,
    entrypoint,
    visible_to_owner: true,
  };
}

const ChoiceCode = z.object({
  "x-windmill-dyn-select-code": z.string(),
  "x-windmill-dyn-select-lang": language.default("bun"),
});

/** Parses the code that a flow stores with its schema. @throws BadRequest if it has none */
function parseChoiceCode({ path, schema }: DeployedFlow): ChoiceSource {
  const beside = ChoiceCode.safeParse(schema);
  if (!beside.success) throw new BadRequest(`flow ${path} has no code that computes the choices of a form`);
  const { "x-windmill-dyn-select-code": content, "x-windmill-dyn-select-lang": lang } = beside.data;
  return { language: lang, content, path };
}

const runDynamicSelect = operation({
  name: "runDynamicSelect",
  method: "POST",
  path: "/w/{workspace}/jobs/run/dynamic_select",
  access: "member",
  scope: { domain: "jobs", action: "run" },
  summary: "Run a function that returns the choices of a form field, asynchronously",
  body: Choice,
  responds: responds.created("uuid of the job"),
  audit: { operation: "jobs.run.dynamic_select", action_kind: "Execute" },
  run: async (ctx, { body }) => (await submitJob(ctx, await createChoiceSubmission(ctx, body), {})).id,
});

export const choiceOperations: Operation[] = [runDynamicSelect];
