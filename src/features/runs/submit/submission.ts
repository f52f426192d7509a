/** Submissions of deployed scripts and flows: the settings of the author combined with the options of the caller. */

import type { FlowValue } from "../../../engines/flow-engine/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { JobKind } from "../../../platform/queue/states.ts";
import type { DeployedFlow } from "../../code/flows/versions.ts";
import type { DeployedScript } from "../../code/scripts/versions.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { requireMatchingArguments } from "../arguments/argument-check.ts";
import { determineRunAs, resolveAsCaller, runsWithOtherRights } from "../arguments/caller-references.ts";
import { escapeForwardedReferences } from "../arguments/forwarded-references.ts";
import { encryptArguments } from "../arguments/password-arguments.ts";
import { reencryptIfStale } from "../arguments/stale-ciphertext.ts";
import { renderTagTemplate } from "../arguments/tag-template.ts";
import type { RestartPoint } from "../flows/restart.ts";
import type { Runnable } from "./target.ts";

/** Options that a caller may set on any run. */
export interface RunOptions {
  scheduled_for?: Date | undefined;
  scheduled_in_secs?: number | undefined;
  parent_job?: string | undefined;
  root_job?: string | undefined;
  tag?: string | undefined;
  job_id?: string | undefined;
  timeout?: number | undefined;
  invisible_to_owner?: boolean | undefined;
  /** Seconds for which the result is reused by later runs; overrides the script's own setting. */
  cache_ttl?: number | undefined;
  /** Whether the arguments are not final, because a preprocessor creates them from the request. */
  has_preprocessor_input?: boolean | undefined;
  /** Whether the server adds arguments, which the schema need not name. */
  has_added_arguments?: boolean | undefined;
}

export interface Submission {
  kind: JobKind;
  script_path?: string | undefined;
  script_hash?: string | undefined;
  language?: string | undefined;
  tag: string;
  /** The tag as a template, if it contained references. */
  tag_as_written?: string | undefined;
  /** The tag was inherited from the parent job, so it was checked when that one started. */
  is_tag_inherited?: boolean | undefined;
  priority?: number | undefined;
  timeout_s?: number | undefined;
  raw_code?: string | undefined;
  raw_lock?: string | undefined;
  /**
   * JSON text: sources of scripts that the code imports, by path; they take precedence over the workspace's scripts.
   */
  raw_modules?: string | undefined;
  /** JSON text of a flow that is not deployed. */
  raw_flow?: string | undefined;
  /** JSON text of an object. */
  args: string;
  /** Arguments as the caller gave them, before encryption; undefined if they equal `args`. */
  caller_args?: string | undefined;
  /** JSON text of the preprocessor's input, from which it makes main's arguments. */
  preprocessor_input?: string | undefined;
  visible_to_owner: boolean;
  /** The flow it runs: a deployed version, or one that is not deployed. */
  flow?: { version: number | undefined; value: FlowValue } | undefined;
  /** The run to restart from, and the step. */
  restarted_from?: RestartPoint | undefined;
  /** Exported function to run instead of main. */
  entrypoint?: string | undefined;
  /** The user it runs as, if that is not the caller. */
  runs_as?: { permissioned_as: string; email: string } | undefined;
  concurrency?: { key: string; limit: number; window_s: number } | undefined;
  cache_ttl?: number | undefined;
  /** Arguments, result and log are never stored. Only for callers that wait for the result. */
  delete_after_use?: boolean | undefined;
  /** The trigger that started it, if not a webhook; `created_by` replaces the caller's name if there was no call. */
  trigger?: { kind: string; created_by?: string | undefined; schedule_path?: string | undefined } | undefined;
}

/**
 * Creates the submission of a script or flow.
 * @throws (or rejects with) BadRequest if it runs on behalf of a user who has left
 */
export function createSubmission(
  ctx: WorkspaceContext,
  found: Runnable,
  args: string,
  options: RunOptions,
): Submission | Promise<Submission> {
  return found.kind === "script"
    ? createScriptSubmission(ctx, found.script, args, options)
    : createFlowSubmission(ctx, found.flow, args, options);
}

/** Creates the submission of a flow. @throws BadRequest if it runs on behalf of a user who has left */
export async function createFlowSubmission(
  ctx: WorkspaceContext,
  flow: DeployedFlow,
  given: string,
  options: RunOptions,
): Promise<Submission> {
  const { workspace_id } = ctx.caller.member;
  const { value, on_behalf_of_email, passwords } = flow;
  const runs_as =
    on_behalf_of_email === undefined ? undefined : await resolveOnBehalfOf(ctx, on_behalf_of_email);
  const args = await prepareArguments(ctx, given, passwords, runs_as);
  const scope = { workspace_id, args };
  const tag = options.tag || flow.tag || "flow";
  const key = value.concurrency_key ?? `${workspace_id}/flow/${flow.path}`;
  return {
    kind: "flow",
    flow: { version: flow.version, value },
    script_path: flow.path,
    tag: renderTagTemplate(tag, scope),
    tag_as_written: tag,
    priority: value.priority ?? flow.priority,
    timeout_s: shorterTimeout(options.timeout, flow.timeout_s),
    args,
    caller_args: given,
    visible_to_owner: !options.invisible_to_owner && !flow.visible_to_runner_only,
    runs_as,
    concurrency: value.concurrent_limit
      ? {
          limit: value.concurrent_limit,
          window_s: value.concurrency_time_window_s ?? 0,
          key: renderTagTemplate(key, scope),
        }
      : undefined,
    cache_ttl: options.cache_ttl || value.cache_ttl,
  };
}

/**
 * Creates the submission of a script. Synchronous for most scripts, whose arguments are stored as they are given.
 * @throws (or rejects with) BadRequest if it runs on behalf of a user who has left, or if the arguments do not match
 * its schema
 */
export function createScriptSubmission(
  ctx: WorkspaceContext,
  deployed: DeployedScript,
  given: string,
  options: RunOptions,
): Submission | Promise<Submission> {
  const { on_behalf_of_email, passwords, argument_schema } = deployed;
  if (argument_schema || on_behalf_of_email !== undefined)
    return prepareScriptSubmission(ctx, deployed, given, options);
  const preparing = prepareArguments(ctx, given, passwords, undefined);
  const create = (args: string) =>
    toScriptSubmission(ctx, deployed, { given, args, runs_as: undefined }, options);
  return preparing instanceof Promise ? preparing.then(create) : create(preparing);
}

async function prepareScriptSubmission(
  ctx: WorkspaceContext,
  deployed: DeployedScript,
  given: string,
  options: RunOptions,
): Promise<Submission> {
  const { on_behalf_of_email, passwords, argument_schema } = deployed;
  if (argument_schema && !options.has_preprocessor_input)
    await requireMatchingArguments(deployed.path, argument_schema, given, {
      mayHaveMore: options.has_added_arguments ?? false,
    });
  const runs_as =
    on_behalf_of_email === undefined ? undefined : await resolveOnBehalfOf(ctx, on_behalf_of_email);
  const args = await prepareArguments(ctx, given, passwords, runs_as);
  return toScriptSubmission(ctx, deployed, { given, args, runs_as }, options);
}

function toScriptSubmission(
  ctx: WorkspaceContext,
  deployed: DeployedScript,
  { given, args, runs_as }: { given: string; args: string; runs_as: Submission["runs_as"] },
  options: RunOptions,
): Submission {
  const { workspace_id } = ctx.caller.member;
  const { concurrency } = deployed;
  const scope = { workspace_id, args };
  const tag = options.tag || deployed.tag;
  return {
    kind: "script",
    script_path: deployed.path,
    script_hash: deployed.hash,
    language: deployed.version.language,
    tag: renderTagTemplate(tag, scope),
    tag_as_written: tag,
    priority: deployed.priority,
    timeout_s: shorterTimeout(options.timeout, deployed.timeout_s),
    args,
    caller_args: given,
    visible_to_owner: !options.invisible_to_owner && !deployed.visible_to_runner_only,
    runs_as,
    concurrency: concurrency && {
      ...concurrency,
      key: renderTagTemplate(concurrency.key ?? `${workspace_id}/script/${deployed.path}`, scope),
    },
    cache_ttl: options.cache_ttl || deployed.cache_ttl,
    delete_after_use: deployed.delete_after_use,
  };
}

/**
 * Prepares arguments for storage: encrypts passwords and what a job passes on, and resolves references as the caller if
 * the job runs with other rights. Most arguments are stored as they are given.
 */
function prepareArguments(
  ctx: WorkspaceContext,
  given: string,
  passwords: string[],
  runs_as: Submission["runs_as"],
): string | Promise<string> {
  const { identity } = ctx.caller;
  const runner = determineRunAs(ctx, runs_as);
  if (passwords.length === 0 && !identity.token?.job && !runsWithOtherRights(identity, runner)) return given;
  return protectArguments(ctx, given, passwords, runner);
}

async function protectArguments(
  ctx: WorkspaceContext,
  given: string,
  passwords: string[],
  runner: ReturnType<typeof determineRunAs>,
): Promise<string> {
  const args = ctx.caller.identity.token?.job ? await escapeForwardedReferences(ctx, given) : given;
  const settled = runsWithOtherRights(ctx.caller.identity, runner)
    ? await resolveAsCaller(ctx, runner, args)
    : args;
  return passwords.length === 0 ? settled : encryptArguments(ctx.app, runner, settled, passwords);
}

async function resolveOnBehalfOf(
  ctx: WorkspaceContext,
  email: string,
): Promise<{ permissioned_as: string; email: string }> {
  const { workspace_id } = ctx.caller.member;
  const nobody = { super_admin: false, devops: false, token: undefined };
  const member = await resolveMember(ctx.app, { ...nobody, email }, workspace_id);
  if (!member || member.disabled) {
    throw new BadRequest(
      `the script runs on behalf of ${email}, who is not an active member of workspace ${workspace_id}: deploy it again`,
    );
  }
  if (member.unasked) {
    throw new BadRequest(
      `the script runs on behalf of ${email}, who has not joined workspace ${workspace_id} yet: no job can run as them before that`,
    );
  }
  return { permissioned_as: `u/${member.username}`, email };
}

function shorterTimeout(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** Re-encrypts a submission after StaleCiphertext. */
export async function reencryptSubmission(
  { app, caller }: WorkspaceContext,
  submission: Submission,
): Promise<Submission> {
  const email = submission.runs_as?.email ?? caller.identity.email;
  const runner = { workspace_id: caller.member.workspace_id, email };
  const reencryptJson = (json: string) => reencryptIfStale(app, app.db.read, runner, json);
  const { args, flow } = submission;
  if (!flow) return { ...submission, args: await reencryptJson(args) };
  const value = parseSchemaJson(await reencryptJson(JSON.stringify(flow.value))) as FlowValue;
  return { ...submission, args: await reencryptJson(args), flow: { ...flow, value } };
}
