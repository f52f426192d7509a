/** What is submitted when a deployed script or flow runs: what its author settled, and what the caller asks for beside. */

import type { FlowValue } from "../../../engines/flow-engine/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseFields } from "../../../lib/json/json.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { JobKind } from "../../../platform/queue/states.ts";
import type { DeployedFlow } from "../../code/flows/versions.ts";
import type { Deployed } from "../../code/scripts/versions.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { asCallerReads, hasOtherRights, runnerOf } from "../arguments/caller-references.ts";
import { sealArguments } from "../arguments/password-arguments.ts";
import { withCurrentKey } from "../arguments/stale-ciphertext.ts";
import { interpolate } from "../arguments/tag-template.ts";
import type { RestartPoint } from "../flows/restart.ts";
import type { Runnable } from "./target.ts";

/** What the caller may ask of any run. */
export interface RunOptions {
  scheduled_for?: Date | undefined;
  scheduled_in_secs?: number | undefined;
  parent_job?: string | undefined;
  root_job?: string | undefined;
  tag?: string | undefined;
  job_id?: string | undefined;
  timeout?: number | undefined;
  invisible_to_owner?: boolean | undefined;
  /** Seconds for which the result serves later runs; sets or overrides what the script says. */
  cache_ttl?: number | undefined;
}

export interface Submission {
  kind: JobKind;
  script_path?: string | undefined;
  script_hash?: string | undefined;
  language?: string | undefined;
  tag: string;
  /** The tag before references were filled in, where that is another text. */
  tag_as_written?: string | undefined;
  /** The tag is that of the job which asks, and was allowed when that one started. */
  is_tag_inherited?: boolean | undefined;
  priority?: number | undefined;
  timeout_s?: number | undefined;
  raw_code?: string | undefined;
  raw_lock?: string | undefined;
  /** JSON text of a flow that is not deployed. */
  raw_flow?: string | undefined;
  /** JSON text of an object. */
  args: string;
  /** The same as the caller gave it, before anything in it was sealed; left out where that is `args`. */
  given?: string | undefined;
  /** JSON text of what the preprocessor is handed: it makes main's arguments of it. */
  preprocessor_input?: string | undefined;
  visible_to_owner: boolean;
  /** The flow it runs: a deployed version, or one that is not deployed. */
  flow?: { version: number | undefined; value: FlowValue } | undefined;
  /** The run that this one goes on from, and where. */
  restarted_from?: RestartPoint | undefined;
  /** The function it runs, where that is not main. */
  entrypoint?: string | undefined;
  /** Who it runs as, where that is not the caller. */
  runs_as?: { permissioned_as: string; email: string } | undefined;
  concurrency?: { key: string; limit: number; window_s: number } | undefined;
  cache_ttl?: number | undefined;
  /** Arguments, result and log are never stored; only a caller who waits for the result can ask for that. */
  delete_after_use?: boolean | undefined;
  /** What set it off, where that is not a webhook; `created_by` stands for the caller's name where nobody called. */
  trigger?: { kind: string; created_by?: string | undefined; schedule_path?: string | undefined } | undefined;
}

/** @throws BadRequest when it runs on behalf of somebody who has left */
export function runnableSubmission(
  ctx: WorkspaceContext,
  found: Runnable,
  args: string,
  options: RunOptions,
): Promise<Submission> {
  return found.kind === "script"
    ? scriptSubmission(ctx, found.script, args, options)
    : flowSubmission(ctx, found.flow, args, options);
}

/** @throws BadRequest when the flow runs on behalf of somebody who has left */
export async function flowSubmission(
  ctx: WorkspaceContext,
  flow: DeployedFlow,
  given: string,
  options: RunOptions,
): Promise<Submission> {
  const { workspace_id } = ctx.caller.member;
  const { value, on_behalf_of_email, passwords } = flow;
  const runs_as = on_behalf_of_email === undefined ? undefined : await onBehalfOf(ctx, on_behalf_of_email);
  const args = await storedArguments(ctx, given, passwords, runs_as);
  const scope = { workspace_id, args };
  const tag = options.tag || flow.tag || "flow";
  const key = value.concurrency_key ?? `${workspace_id}/flow/${flow.path}`;
  return {
    kind: "flow",
    flow: { version: flow.version, value },
    script_path: flow.path,
    tag: interpolate(tag, scope),
    tag_as_written: tag,
    priority: value.priority ?? flow.priority,
    timeout_s: shorter(options.timeout, flow.timeout_s),
    args,
    given,
    visible_to_owner: !options.invisible_to_owner && !flow.visible_to_runner_only,
    runs_as,
    concurrency: value.concurrent_limit
      ? {
          limit: value.concurrent_limit,
          window_s: value.concurrency_time_window_s ?? 0,
          key: interpolate(key, scope),
        }
      : undefined,
    cache_ttl: options.cache_ttl || value.cache_ttl,
  };
}

/** @throws BadRequest when the script runs on behalf of somebody who has left */
export async function scriptSubmission(
  ctx: WorkspaceContext,
  deployed: Deployed,
  given: string,
  options: RunOptions,
): Promise<Submission> {
  const { workspace_id } = ctx.caller.member;
  const { concurrency, on_behalf_of_email, passwords } = deployed;
  const runs_as = on_behalf_of_email === undefined ? undefined : await onBehalfOf(ctx, on_behalf_of_email);
  const args = await storedArguments(ctx, given, passwords, runs_as);
  const scope = { workspace_id, args };
  const tag = options.tag || deployed.tag;
  return {
    kind: "script",
    script_path: deployed.path,
    script_hash: deployed.hash,
    language: deployed.version.language,
    tag: interpolate(tag, scope),
    tag_as_written: tag,
    priority: deployed.priority,
    timeout_s: shorter(options.timeout, deployed.timeout_s),
    args,
    given,
    visible_to_owner: !options.invisible_to_owner && !deployed.visible_to_runner_only,
    runs_as,
    concurrency: concurrency && {
      ...concurrency,
      key: interpolate(concurrency.key ?? `${workspace_id}/script/${deployed.path}`, scope),
    },
    cache_ttl: options.cache_ttl || deployed.cache_ttl,
    delete_after_use: deployed.delete_after_use,
  };
}

/** The arguments as they may be stored: with passwords sealed, and references followed that the job may not follow itself. */
async function storedArguments(
  ctx: WorkspaceContext,
  args: string,
  passwords: string[],
  runs_as: Submission["runs_as"],
): Promise<string> {
  const runner = runnerOf(ctx, runs_as);
  const settled = hasOtherRights(ctx.caller.identity, runner) ? await asCallerReads(ctx, runner, args) : args;
  return passwords.length === 0 ? settled : sealArguments(ctx.app, runner, settled, passwords);
}

async function onBehalfOf(
  ctx: WorkspaceContext,
  email: string,
): Promise<{ permissioned_as: string; email: string }> {
  const { workspace_id } = ctx.caller.member;
  const nobody = { super_admin: false, devops: false, token: undefined };
  const member = await resolveMember(ctx.app, { ...nobody, email }, workspace_id);
  if (!member || member.disabled) {
    throw new BadRequest(
      `the script runs on behalf of ${email}, who is no active member of workspace ${workspace_id}: deploy it again`,
    );
  }
  if (member.unasked) {
    throw new BadRequest(
      `the script runs on behalf of ${email}, who has not come to workspace ${workspace_id} yet: nobody runs as them before`,
    );
  }
  return { permissioned_as: `u/${member.username}`, email };
}

function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/** The submission as it can be stored, where StaleSeal says that it cannot. */
export async function resealedSubmission(
  { app, caller }: WorkspaceContext,
  submission: Submission,
): Promise<Submission> {
  const email = submission.runs_as?.email ?? caller.identity.email;
  const runner = { workspace_id: caller.member.workspace_id, email };
  const anew = (json: string) => withCurrentKey(app, app.db.read, runner, json);
  const { args, flow } = submission;
  if (!flow) return { ...submission, args: await anew(args) };
  const value = parseFields(await anew(JSON.stringify(flow.value))) as FlowValue;
  return { ...submission, args: await anew(args), flow: { ...flow, value } };
}
