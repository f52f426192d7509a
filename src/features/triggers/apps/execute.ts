/** Running a component of an app: what its policy allows, with the rights its policy says. */

import { LANGUAGES } from "../../../engines/languages/languages.ts";
import { analyseScript, usableLock } from "../../../engines/languages/reading/analyse.ts";
import { BadRequest, Forbidden, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import { canRead } from "../../../platform/access/permissions.ts";
import type { App, Context, Identity, Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { findResource } from "../../assets/resources/service.ts";
import { type Policy, type Triggerable, triggerableOf } from "../../code/apps/policy.ts";
import { findApp, newestOf } from "../../code/apps/service.ts";
import type { AppRow } from "../../code/apps/tables.ts";
import { asCallerReads, hasOtherRights } from "../../runs/arguments/caller-references.ts";
import { flowSubmission, type Submission, scriptSubmission } from "../../runs/submit/submission.ts";
import { submitJob } from "../../runs/submit/submit.ts";
import { resolveTarget } from "../../runs/submit/target.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { isSuperAdmin } from "../../tenancy/people/super-admin.ts";
import { checkScopes } from "../../tenancy/tokens/scopes.ts";
import { type CallerRights, inputsFor } from "./inputs.ts";

export interface InlineScript {
  content: string;
  language: string;
  lock?: string | undefined;
}

export interface Execution {
  component: string;
  /** `script/<path>` or `flow/<path>`; else there is `raw_code`. */
  path?: string | undefined;
  args: Record<string, unknown>;
  raw_code?: InlineScript | undefined;
  force_viewer_static_fields?: Record<string, unknown> | undefined;
  force_viewer_one_of_fields?: Record<string, unknown[]> | undefined;
  force_viewer_allow_user_resources?: string[] | undefined;
}

/** What is run, for whom, and with whose rights. */
interface Admitted {
  triggerable: Triggerable;
  /** Undefined while the app is being made: there is nothing stored of it to go by. */
  app: AppRow | undefined;
  /** Who looks at the app. */
  viewer: WorkspaceContext;
  /** With whose rights it runs. */
  runner: WorkspaceContext;
}

/**
 * Starts what a component runs.
 * @returns the job's id
 * @throws NotFound for an app or a runnable that is not there, Unauthorized for who must log in, Forbidden for what the
 * policy does not allow, BadRequest
 */
export async function executeComponent(
  ctx: Context,
  workspace: string,
  path: string,
  asked: Execution,
): Promise<string> {
  const runnable = runnableOf(asked);
  const previews = asked.force_viewer_static_fields !== undefined;
  const admitted = previews
    ? asAuthor(ctx, asked)
    : await byPolicy(ctx, workspace, path, { component: asked.component, runnable });
  const { viewer, runner } = admitted;
  const args = JSON.stringify(await inputsFor(admitted.triggerable, asked.args, rightsOf(admitted)));
  const submission = asked.raw_code
    ? await inlineSubmission(admitted, asked.raw_code, path, args)
    : await deployedSubmission(runner, asked.path!, args);
  const runs_as = submission.runs_as ?? (runner === viewer ? undefined : identityOf(runner));
  const job = await submitJob(viewer, { ...submission, runs_as, trigger: { kind: "app" } }, {});
  return job.id;
}

/** As policies name it. @throws BadRequest */
function runnableOf({ path, raw_code }: Execution): string {
  if (raw_code) return `rawscript/${sha256(raw_code.content)}`;
  if (path && /^(script|flow)\/./.test(path)) return path;
  throw new BadRequest("body field `path`: must be script/<path> or flow/<path>, or give `raw_code`");
}

/** An author tries a component of an app that is not deployed yet: with their own rights, which preview anything. */
function asAuthor(ctx: Context, asked: Execution): Admitted {
  const viewer = memberContext(ctx);
  if (!viewer) throw new Unauthorized("log in to try an app out");
  if (!mayPreview(viewer.caller.member)) throw new Forbidden("operators run apps as they are deployed");
  // A token for an app runs what the app's policy allows, and no code that it brings along.
  checkScopes(viewer.caller.identity, { domain: "jobs", action: "run" }, undefined);
  const triggerable = {
    static_inputs: asked.force_viewer_static_fields,
    one_of_inputs: asked.force_viewer_one_of_fields,
    allow_user_resources: asked.force_viewer_allow_user_resources,
  };
  return { triggerable, app: undefined, viewer, runner: viewer };
}

const mayPreview = (member: Member) => member.is_admin || !member.operator;

async function byPolicy(
  ctx: Context,
  workspace: string,
  path: string,
  { component, runnable }: { component: string; runnable: string },
): Promise<Admitted> {
  const app = await findApp(ctx.app.db.read, workspace, path);
  const viewer = memberContext(ctx);
  const isOpen = app?.policy.execution_mode === "anonymous";
  if (!viewer && !isOpen) throw new Unauthorized("log in to use this app");
  if (!app || (viewer && !isOpen && !canRead(viewer.caller.member, path, app.extra_perms))) {
    throw new NotFound(`app ${path} in workspace ${workspace}`);
  }
  const triggerable = triggerableOf(app.policy, component, runnable);
  if (!triggerable)
    throw new Forbidden(`the app's policy does not let component ${component} run ${runnable}`);
  if (app.policy.execution_mode === "viewer") {
    return { triggerable, app, viewer: viewer!, runner: viewer! };
  }
  const runner = await publisher(ctx, workspace, app.policy);
  return { triggerable, app, viewer: viewer ?? anonymous(ctx, workspace), runner };
}

function memberContext(ctx: Context): WorkspaceContext | undefined {
  const { identity, member } = ctx.caller;
  return identity && member ? { ...ctx, caller: { identity, member } } : undefined;
}

/** Nobody, as jobs call them. */
const NOBODY = "anonymous";

function anonymous(ctx: Context, workspace_id: string): WorkspaceContext {
  const identity: Identity = { email: NOBODY, super_admin: false, devops: false, token: undefined };
  const member: Member = {
    workspace_id,
    email: NOBODY,
    username: NOBODY,
    is_admin: false,
    operator: true,
    disabled: false,
    created_at: ctx.app.clock(),
    groups: [],
    folders: new Map(),
  };
  return { ...ctx, caller: { identity, member } };
}

/** Whoever deployed the policy, as they stand in the workspace now. @throws BadRequest when they have left */
async function publisher(ctx: Context, workspace: string, policy: Policy): Promise<WorkspaceContext> {
  const email = policy.on_behalf_of_email;
  const identity = email === undefined ? undefined : await identityByEmail(ctx.app, email);
  const member = identity && (await resolveMember(ctx.app, identity, workspace));
  if (!identity || !member || member.disabled) {
    throw new BadRequest(
      `whoever deployed the app is no active member of workspace ${workspace} any more: deploy it again`,
    );
  }
  return { ...ctx, caller: { identity, member } };
}

async function identityByEmail(app: App, email: string): Promise<Identity> {
  return { email, super_admin: await isSuperAdmin(app.db.read, email), devops: false, token: undefined };
}

function identityOf({ caller: { member } }: WorkspaceContext): { permissioned_as: string; email: string } {
  return { permissioned_as: `u/${member.username}`, email: member.email };
}

function rightsOf({ viewer, runner }: Admitted): CallerRights {
  const { app, caller } = viewer;
  const { workspace_id } = caller.member;
  const { email } = runner.caller.identity;
  return {
    asCaller: viewer === runner && !caller.identity.token?.scopes?.length,
    async bringResource(reference, at) {
      const path = reference.slice(reference.indexOf(":") + 1);
      const row = await findResource(viewer, app.db.read, path);
      if (!row || !canRead(caller.member, path, row.extra_perms)) return undefined;
      if (!hasOtherRights(caller.identity, { email })) return reference;
      // Not the reference: what the resource refers to in its turn would be read with the app's rights.
      const brought = await asCallerReads(
        viewer,
        { workspace_id, email },
        JSON.stringify({ [at]: reference }),
      );
      return (parseJson(brought) as Record<string, unknown>)[at];
    },
  };
}

async function deployedSubmission(
  runner: WorkspaceContext,
  runnable: string,
  args: string,
): Promise<Submission> {
  const [kind, path] = [runnable.slice(0, runnable.indexOf("/")), runnable.slice(runnable.indexOf("/") + 1)];
  const target = await resolveTarget(runner, kind === "flow" ? { flow: path } : { path });
  if (target.kind === "flow") return flowSubmission(runner, target.flow, args, {});
  return scriptSubmission(runner, target.script, args, {});
}

/**
 * A script that is part of the app. How it is run is taken from the stored app: the same text in another language, or
 * with other dependencies, is another script.
 * @throws Forbidden when the app holds no such script and the run would not be the caller's own
 */
async function inlineSubmission(
  { app, viewer, runner }: Admitted,
  given: InlineScript,
  app_path: string,
  args: string,
): Promise<Submission> {
  const stored =
    app && inlineScriptIn((await newestOf(viewer.app.db.read, app)).version.value, given.content);
  if (!stored && (viewer !== runner || !mayPreview(viewer.caller.member))) {
    throw new Forbidden("the app holds no inline script with this content");
  }
  const script = stored ?? given;
  const language = LANGUAGES.find((offered) => offered === script.language);
  if (!language) {
    throw new BadRequest(`the inline script is in ${script.language}; use one of ${LANGUAGES.join(", ")}`);
  }
  // A syntax error is told before there is a job.
  await analyseScript(language, script.content);
  return {
    kind: "preview",
    script_path: app_path,
    script_hash: undefined,
    language,
    tag: language,
    priority: 0,
    timeout_s: undefined,
    raw_code: script.content,
    raw_lock: await usableLock(language, script.lock),
    args,
    visible_to_owner: true,
  };
}

/** The inline script with this content, wherever in the app's value it stands. */
function inlineScriptIn(value: unknown, content: string): InlineScript | undefined {
  const ahead: unknown[] = [value];
  while (ahead.length > 0) {
    const at = ahead.pop();
    if (typeof at !== "object" || at === null) continue;
    const { content: found, language, lock } = at as Record<string, unknown>;
    if (found === content && typeof language === "string") {
      return { content, language, lock: typeof lock === "string" ? lock : undefined };
    }
    ahead.push(...Object.values(at));
  }
  return undefined;
}
