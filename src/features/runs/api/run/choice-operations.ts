/** What a form offers in a field, where code says it: a function that is exported beside main, or beside a flow's steps. */
import { z } from "zod";
import { LANGUAGES } from "../../../../engines/languages/languages.ts";
import type { Language } from "../../../../engines/languages/types.ts";
import { BadRequest, Forbidden } from "../../../../lib/errors.ts";
import { optional } from "../../../../lib/zod.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import type { DeployedFlow } from "../../../code/flows/versions.ts";
import { signatureOf, withOverride } from "../../job/entrypoints.ts";
import { flowSubmission, type Submission, scriptSubmission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { resolveTarget, targetAt } from "../../submit/target.ts";

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
    z.object({ source: z.literal("inline"), code: z.string(), lang: optional(language) }),
  ]),
});
type Choice = z.output<typeof Choice>;

/** With the rights of who fills in the form, also where the script or flow itself runs on behalf of somebody. */
async function choiceSubmission(ctx: WorkspaceContext, choice: Choice): Promise<Submission> {
  const { entrypoint_function: entrypoint, runnable_ref: ref } = choice;
  const given = withOverride(choice.args, entrypoint);
  if (ref.source === "inline") {
    const { operator, is_admin } = ctx.caller.member;
    if (operator && !is_admin) throw new Forbidden("operators run only what is deployed");
    return codeSubmission({ language: ref.lang ?? "bun", content: ref.code }, entrypoint, given);
  }
  const found = await resolveTarget(ctx, targetAt(ref.path, ref.runnable_kind === "flow"));
  const asCaller = { on_behalf_of_email: undefined };
  if (found.kind === "flow") {
    const { args } = await flowSubmission(ctx, { ...found.flow, ...asCaller }, given, {});
    return codeSubmission(codeBeside(found.flow), entrypoint, args);
  }
  await signatureOf(found.script.version, entrypoint, `script ${ref.path}`);
  const submission = await scriptSubmission(ctx, { ...found.script, ...asCaller }, given, {});
  // How often main runs, and how long what it returns is kept, is said of main alone.
  return {
    ...submission,
    entrypoint,
    concurrency: undefined,
    cache_ttl: undefined,
    delete_after_use: undefined,
  };
}

interface Code {
  language: Language;
  content: string;
  path?: string;
}

async function codeSubmission(code: Code, entrypoint: string, args: string): Promise<Submission> {
  await signatureOf(code, entrypoint, "the code");
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

const Beside = z.object({
  "x-windmill-dyn-select-code": z.string(),
  "x-windmill-dyn-select-lang": language.default("bun"),
});

/** A flow keeps the code with its schema. @throws BadRequest when it has none */
function codeBeside({ path, schema }: DeployedFlow): Code {
  const beside = Beside.safeParse(schema);
  if (!beside.success) throw new BadRequest(`flow ${path} has no code that says what a form offers`);
  const { "x-windmill-dyn-select-code": content, "x-windmill-dyn-select-lang": lang } = beside.data;
  return { language: lang, content, path };
}

const runDynamicSelect = operation({
  name: "runDynamicSelect",
  method: "POST",
  path: "/w/{workspace}/jobs/run/dynamic_select",
  access: "member",
  scope: { domain: "jobs", action: "run" },
  summary: "Run a function that says what a form offers in a field; answers before it runs",
  body: Choice,
  responds: responds.created("uuid of the job"),
  audit: { operation: "jobs.run.dynamic_select", action_kind: "Execute" },
  run: async (ctx, { body }) => (await submitJob(ctx, await choiceSubmission(ctx, body), {})).id,
});

export const choiceOperations: Operation[] = [runDynamicSelect];
