/**
 * Runs a component of an app: checks it against the app's policy, and runs it with the rights that the policy names.
 *
 * It determines the policy, the user whose rights apply and the inputs (`component-inputs.ts`), then submits the job
 * (runs/submit/submit.ts).
 */

import { LANGUAGES } from "../../../engines/languages/languages.ts";
import { analyseScript, findUsableLock } from "../../../engines/languages/reading/analyse.ts";
import { BadRequest, Forbidden, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import { canRead } from "../../../platform/access/permissions.ts";
import type { App, Context, Identity, Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { findResource } from "../../assets/resources/service.ts";
import { findTriggerable, type Policy, type Triggerable } from "../../code/apps/policy.ts";
import { findApp, getNewestVersion, isOpenToAnybody } from "../../code/apps/service.ts";
import type { AppRow } from "../../code/apps/tables.ts";
import { resolveAsCaller, runsWithOtherRights } from "../../runs/arguments/caller-references.ts";
import {
  createFlowSubmission,
  createScriptSubmission,
  type Submission,
} from "../../runs/submit/submission.ts";
import { submitJob } from "../../runs/submit/submit.ts";
import { awaitTarget } from "../../runs/submit/target.ts";
import { resolveMember } from "../../tenancy/people/members.ts";
import { isSuperAdmin } from "../../tenancy/people/super-admin.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { createComponentInputs, type ReferenceRights } from "./component-inputs.ts";

export interface AppInlineScript {
  content: string;
  language: string;
  lock?: string | undefined;
}

export interface Execution {
  component: string;
  /** `script/<path>` or `flow/<path>`; else there is `raw_code`. */
  path?: string | undefined;
  args: Record<string, unknown>;
  raw_code?: AppInlineScript | undefined;
  force_viewer_static_fields?: Record<string, unknown> | undefined;
  force_viewer_one_of_fields?: Record<string, unknown[]> | undefined;
  force_viewer_allow_user_resources?: string[] | undefined;
}

/** An authorized execution: what runs, for whom, and with whose rights. */
interface AuthorizedExecution {
  triggerable: Triggerable;
  /** Undefined while the app is being edited: there is no stored app to check against. */
  app: AppRow | undefined;
  /** The user of the app. */
  viewer: WorkspaceContext;
  /** The user with whose rights it runs. */
  runner: WorkspaceContext;
}

/**
 * Starts the job of a component.
 * @returns the job's id
 * @throws NotFound for an unknown app or runnable, Unauthorized without a required login, Forbidden if the policy does
 * not allow it, BadRequest
 */
export async function executeAppComponent(
  ctx: Context,
  workspace: string,
  path: string,
  asked: Execution,
): Promise<string> {
  const runnable = parseRunnable(asked);
  const previews = asked.force_viewer_static_fields !== undefined;
  const admitted = previews
    ? authorizeAuthor(ctx, asked)
    : await authorizeByPolicy(ctx, workspace, path, { component: asked.component, runnable });
  const { viewer, runner } = admitted;
  const args = JSON.stringify(
    await createComponentInputs(admitted.triggerable, asked.args, createReferenceRights(admitted)),
  );
  const submission = asked.raw_code
    ? await createInlineSubmission(admitted, asked.raw_code, path, args)
    : await createDeployedSubmission(runner, asked.path!, args);
  const runs_as = submission.runs_as ?? (runner === viewer ? undefined : runAsOf(runner));
  const job = await submitJob(viewer, { ...submission, runs_as, trigger: { kind: "app" } }, {});
  return job.id;
}

/** Parses the runnable into the form that policies use. @throws BadRequest */
function parseRunnable({ path, raw_code }: Execution): string {
  if (raw_code) return `rawscript/${sha256(raw_code.content)}`;
  if (path && /^(script|flow)\/./.test(path)) return path;
  throw new BadRequest("body field `path`: must be script/<path> or flow/<path>, or give `raw_code`");
}

/** Authorizes an author who tries an undeployed app: with their own rights, which include previews of any code. */
function authorizeAuthor(ctx: Context, asked: Execution): AuthorizedExecution {
  const viewer = findMemberContext(ctx);
  if (!viewer) throw new Unauthorized("log in to preview an app");
  if (!canPreview(viewer.caller.member)) throw new Forbidden("operators may only run deployed apps");
  // A token for an app may run only what the app's policy allows, and no other code.
  requireScope(viewer.caller.identity, { domain: "jobs", action: "run" }, undefined);
  const triggerable = {
    static_inputs: asked.force_viewer_static_fields,
    one_of_inputs: asked.force_viewer_one_of_fields,
    allow_user_resources: asked.force_viewer_allow_user_resources,
  };
  return { triggerable, app: undefined, viewer, runner: viewer };
}

const canPreview = (member: Member) => member.is_admin || !member.operator;

async function authorizeByPolicy(
  ctx: Context,
  workspace: string,
  path: string,
  { component, runnable }: { component: string; runnable: string },
): Promise<AuthorizedExecution> {
  const app = await findApp(ctx.app.db.read, workspace, path);
  const viewer = findMemberContext(ctx);
  const isOpen = app !== undefined && isOpenToAnybody(app);
  if (!viewer && !isOpen) throw new Unauthorized("log in to use this app");
  if (!app || (viewer && !isOpen && !canRead(viewer.caller.member, path, app.extra_perms))) {
    throw new NotFound(`app ${path} in workspace ${workspace}`);
  }
  const triggerable = findTriggerable(app.policy, component, runnable);
  if (!triggerable)
    throw new Forbidden(`the app's policy does not let component ${component} run ${runnable}`);
  if (app.policy.execution_mode === "viewer") {
    return { triggerable, app, viewer: viewer!, runner: viewer! };
  }
  const runner = await createPublisherContext(ctx, workspace, app.policy);
  return { triggerable, app, viewer: viewer ?? createAnonymousContext(ctx, workspace), runner };
}

function findMemberContext(ctx: Context): WorkspaceContext | undefined {
  const { identity, member } = ctx.caller;
  return identity && member ? { ...ctx, caller: { identity, member } } : undefined;
}

/** Username of callers without a login. */
const ANONYMOUS = "anonymous";

function createAnonymousContext(ctx: Context, workspace_id: string): WorkspaceContext {
  const identity: Identity = { email: ANONYMOUS, super_admin: false, devops: false, token: undefined };
  const member: Member = {
    workspace_id,
    email: ANONYMOUS,
    username: ANONYMOUS,
    is_admin: false,
    operator: true,
    disabled: false,
    created_at: ctx.app.clock(),
    groups: [],
    folders: new Map(),
  };
  return { ...ctx, caller: { identity, member } };
}

/**
 * Creates the context of the user who deployed the policy, with their current rights. @throws BadRequest if they have
 * left
 */
async function createPublisherContext(
  ctx: Context,
  workspace: string,
  policy: Policy,
): Promise<WorkspaceContext> {
  const email = policy.on_behalf_of_email;
  const identity = email === undefined ? undefined : await identityByEmail(ctx.app, email);
  const member = identity && (await resolveMember(ctx.app, identity, workspace));
  if (!identity || !member || member.disabled) {
    throw new BadRequest(
      `the user who deployed the app is no longer an active member of workspace ${workspace}: deploy it again`,
    );
  }
  return { ...ctx, caller: { identity, member } };
}

async function identityByEmail(app: App, email: string): Promise<Identity> {
  return { email, super_admin: await isSuperAdmin(app.db.read, email), devops: false, token: undefined };
}

function runAsOf({ caller: { member } }: WorkspaceContext): { permissioned_as: string; email: string } {
  return { permissioned_as: `u/${member.username}`, email: member.email };
}

function createReferenceRights({ viewer, runner }: AuthorizedExecution): ReferenceRights {
  const { app, caller } = viewer;
  const { workspace_id } = caller.member;
  const { email } = runner.caller.identity;
  return {
    asCaller: viewer === runner && !caller.identity.token?.scopes?.length,
    async bringResource(reference, at) {
      const path = reference.slice(reference.indexOf(":") + 1);
      const row = await findResource(viewer, app.db.read, path);
      if (!row || !canRead(caller.member, path, row.extra_perms)) return undefined;
      if (!runsWithOtherRights(caller.identity, { email })) return reference;
      // Resolved, not passed on as a reference: references inside the resource would be resolved with the app's rights.
      const brought = await resolveAsCaller(
        viewer,
        { workspace_id, email },
        JSON.stringify({ [at]: reference }),
      );
      return (parseJson(brought) as Record<string, unknown>)[at];
    },
  };
}

async function createDeployedSubmission(
  runner: WorkspaceContext,
  runnable: string,
  args: string,
): Promise<Submission> {
  const [kind, path] = [runnable.slice(0, runnable.indexOf("/")), runnable.slice(runnable.indexOf("/") + 1)];
  const target = await awaitTarget(runner, kind === "flow" ? { flow: path } : { path });
  if (target.kind === "flow") return createFlowSubmission(runner, target.flow, args, {});
  return createScriptSubmission(runner, target.script, args, {});
}

/**
 * Creates the submission of a script inside the app. Its language and lock come from the stored app: the same text in
 * another language, or with other dependencies, is another script.
 * @throws Forbidden if the app contains no such script and the run would not have the caller's own rights
 */
async function createInlineSubmission(
  { app, viewer, runner }: AuthorizedExecution,
  given: AppInlineScript,
  app_path: string,
  args: string,
): Promise<Submission> {
  const stored =
    app && findInlineScript((await getNewestVersion(viewer.app.db.read, app)).version.value, given.content);
  if (!stored && (viewer !== runner || !canPreview(viewer.caller.member))) {
    throw new Forbidden("the app has no inline script with this content");
  }
  const script = stored ?? given;
  const language = LANGUAGES.find((offered) => offered === script.language);
  if (!language) {
    throw new BadRequest(`the inline script is in ${script.language}; use one of ${LANGUAGES.join(", ")}`);
  }
  // Syntax errors are reported before a job is created.
  await analyseScript(language, script.content, {
    owner: viewer.caller.member.workspace_id,
    for_request: true,
  });
  return {
    kind: "preview",
    script_path: app_path,
    script_hash: undefined,
    language,
    tag: language,
    priority: 0,
    timeout_s: undefined,
    raw_code: script.content,
    raw_lock: await findUsableLock(language, script.lock),
    args,
    visible_to_owner: true,
  };
}

/** Finds the inline script with this content anywhere in the app's value. */
function findInlineScript(value: unknown, content: string): AppInlineScript | undefined {
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
