/** Targets of runs: a script or flow by path, hash or version. */

import type { ParameterBinding } from "../../../engines/languages/types.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import {
  BeingPrepared,
  canRead,
  findReadable,
  NotReady,
  NotRunnable,
} from "../../../platform/access/permissions.ts";
import type { Identity, WorkspaceContext } from "../../../platform/app/context.ts";
import type { OperationScope } from "../../../platform/http/operation.ts";
import {
  type DeployedFlow,
  getDeployedFlowByPath,
  getDeployedFlowByVersion,
} from "../../code/flows/versions.ts";
import {
  type DeployedScript,
  getCachedScriptByPath,
  getDeployedScriptByHash,
  getDeployedScriptByPath,
} from "../../code/scripts/versions.ts";
import { isScopeAllowed, requireScope } from "../../tenancy/tokens/scopes.ts";

export type RelockTarget = { path: string } | { hash: string } | { flow: string } | { flow_version: string };

/** Converts the fields `script_path` and `is_flow` of a trigger or schedule to a target. */
export function toTarget(path: string, is_flow: boolean): { path: string } | { flow: string } {
  return is_flow ? { flow: path } : { path };
}

/** The deployed script or flow of a target. */
export type Runnable = { kind: "script"; script: DeployedScript } | { kind: "flow"; flow: DeployedFlow };

/**
 * Finds the preprocessor's parameters; undefined if there is none. A flow's preprocessor is a step, and gets the whole
 * request.
 */
export function findPreprocessorParameters(found: Runnable): ParameterBinding[] | undefined {
  if (found.kind === "script") return found.script.version.preprocessor_parameters;
  return found.flow.value.preprocessor_module ? [{ name: "event", kind: "named" }] : undefined;
}

/**
 * Returns the deployed version that a target names, if the caller may run it. A path means a script first, then a flow.
 * A restricted token is rejected before the look-up, so that it does not learn what exists.
 * @throws NotFound, BadRequest (archived, not ready), Forbidden (scope)
 */
export async function resolveTarget(ctx: WorkspaceContext, target: RelockTarget): Promise<Runnable> {
  const { identity } = ctx.caller;
  if ("flow" in target || "flow_version" in target) return { kind: "flow", flow: await getFlow(ctx, target) };
  if ("path" in target && !isScopeAllowed(identity, RUN_SCRIPTS_SCOPE, target.path)) {
    // A token limited to flows may name its flow by a path that could also be a script's.
    const flow = await getFlow(ctx, { flow: target.path }).catch((cause) => {
      if (cause instanceof NotFound) requireScope(identity, RUN_SCRIPTS_SCOPE, target.path);
      throw cause;
    });
    return { kind: "flow", flow };
  }
  try {
    return { kind: "script", script: await getScript(ctx, target) };
  } catch (noScript) {
    if ("hash" in target || !(noScript instanceof NotFound)) throw noScript;
    if (!isScopeAllowed(identity, RUN_FLOWS_SCOPE, target.path)) throw noScript;
    try {
      return { kind: "flow", flow: await getFlow(ctx, { flow: target.path }) };
    } catch (noFlow) {
      throw noFlow instanceof NotFound ? noScript : noFlow;
    }
  }
}

/** How long a call waits for the dependencies of a newly deployed script or flow. */
const PREPARATION_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 100;

/**
 * Like `resolveTarget`, for a call that runs the target now: waits for a target that is still being prepared, for a
 * limited time and as long as the caller is connected. Synchronous for a script that was called by its path before.
 * @throws (or rejects) as `resolveTarget`
 */
export function awaitTarget(ctx: WorkspaceContext, target: RelockTarget): Runnable | Promise<Runnable> {
  const script = "path" in target ? findCachedScript(ctx, target.path) : undefined;
  return script ? { kind: "script", script } : waitForTarget(ctx, target);
}

/** Returns a script from the cache, if the caller may run it by the rules of `getScript`, which names what is missing. */
function findCachedScript({ app, caller }: WorkspaceContext, path: string): DeployedScript | undefined {
  const { member, identity } = caller;
  if (!isScopeAllowed(identity, RUN_SCRIPTS_SCOPE, path)) return undefined;
  const script = getCachedScriptByPath(app, member.workspace_id, path);
  return script && canRead(member, script.path, script.extra_perms) ? script : undefined;
}

async function waitForTarget(ctx: WorkspaceContext, target: RelockTarget): Promise<Runnable> {
  const end = performance.now() + PREPARATION_TIMEOUT_MS;
  for (;;) {
    try {
      return await resolveTarget(ctx, target);
    } catch (cause) {
      const isOver = performance.now() > end || ctx.request.signal.aborted || !ctx.app.acceptsJobs;
      if (isOver || !(cause instanceof BeingPrepared)) throw cause;
    }
    await sleep(POLL_INTERVAL_MS, ctx.request.signal);
  }
}

/**
 * Checks that the target of a trigger or schedule exists and that the caller may run it. A version that is still
 * being prepared is accepted.
 * @throws NotFound, BadRequest (archived), Forbidden (scope)
 */
export async function requireTarget(ctx: WorkspaceContext, target: RelockTarget): Promise<void> {
  try {
    await resolveTarget(ctx, target);
  } catch (cause) {
    if (!(cause instanceof NotReady)) throw cause;
  }
}

/** Checks that a token may run a target named by its path, which need not exist. @throws Forbidden */
export function requireTargetScope(
  { caller: { identity } }: WorkspaceContext,
  target: ReturnType<typeof toTarget>,
): void {
  if ("flow" in target) requireScope(identity, RUN_FLOWS_SCOPE, target.flow);
  else requireScope(identity, RUN_SCRIPTS_SCOPE, target.path);
}

const RUN_SCRIPTS_SCOPE = { domain: "jobs", action: "run", kind: "scripts" } as const;
const RUN_FLOWS_SCOPE = { domain: "jobs", action: "run", kind: "flows" } as const;

async function getScript(
  { app, caller: { member, identity } }: WorkspaceContext,
  target: { path: string } | { hash: string },
): Promise<DeployedScript> {
  const { workspace_id } = member;
  if ("path" in target) {
    requireScope(identity, RUN_SCRIPTS_SCOPE, target.path);
    return findReadable(member, `script ${target.path}`, () =>
      getDeployedScriptByPath(app, workspace_id, target.path),
    );
  }
  return findWithinScope(identity, RUN_SCRIPTS_SCOPE, () =>
    findReadable(member, `script with hash ${target.hash}`, () =>
      getDeployedScriptByHash(app, workspace_id, target.hash),
    ),
  );
}

async function getFlow(
  { app, caller: { member, identity } }: WorkspaceContext,
  target: { flow: string } | { flow_version: string },
): Promise<DeployedFlow> {
  const { workspace_id } = member;
  if ("flow" in target) {
    requireScope(identity, RUN_FLOWS_SCOPE, target.flow);
    return findReadable(member, `flow ${target.flow}`, () =>
      getDeployedFlowByPath(app, workspace_id, target.flow),
    );
  }
  const { flow_version } = target;
  if (!/^[0-9]{1,15}$/.test(flow_version)) {
    throw new BadRequest(`"${flow_version}" is not a flow version: it must be a number`);
  }
  return findWithinScope(identity, RUN_FLOWS_SCOPE, () =>
    findReadable(member, `flow version ${flow_version}`, () =>
      getDeployedFlowByVersion(app, workspace_id, Number(flow_version)),
    ),
  );
}

/**
 * Finds a target given by hash or version. Its path, and so whether the token covers it, is known only afterwards.
 */
async function findWithinScope<T extends { path: string }>(
  identity: Identity,
  scope: OperationScope,
  find: () => Promise<T>,
): Promise<T> {
  if (isScopeAllowed(identity, scope, undefined)) return find();
  const found = await find().catch((cause) => {
    if (cause instanceof NotFound || cause instanceof NotRunnable) return undefined;
    throw cause;
  });
  if (found && isScopeAllowed(identity, scope, found.path)) return found;
  throw new Forbidden("Access denied. The token does not cover the script or flow to run");
}
