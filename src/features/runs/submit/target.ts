/** What is to be run, as callers and those who set something up name it. */

import type { ParameterBinding } from "../../../engines/languages/types.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { findReadable, NotReady, NotRunnable } from "../../../platform/access/permissions.ts";
import type { Identity, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Scope } from "../../../platform/http/operation.ts";
import { type DeployedFlow, deployedFlowByPath, deployedFlowByVersion } from "../../code/flows/versions.ts";
import { type Deployed, deployedByHash, deployedByPath } from "../../code/scripts/versions.ts";
import { checkScopes, isAllowed } from "../../tenancy/tokens/scopes.ts";

export type Target = { path: string } | { hash: string } | { flow: string } | { flow_version: string };

/** What `script_path` and `is_flow` of something that was set up name. */
export function targetAt(path: string, is_flow: boolean): Target {
  return is_flow ? { flow: path } : { path };
}

/** What a run form names. */
export type Runnable = { kind: "script"; script: Deployed } | { kind: "flow"; flow: DeployedFlow };

/** The parameters of what runs before; undefined where nothing does. A flow's preprocessor is a step of its own, and is handed the whole request. */
export function preprocessorOf(found: Runnable): ParameterBinding[] | undefined {
  if (found.kind === "script") return found.script.version.preprocessor_parameters;
  return found.flow.value.preprocessor_module ? [{ name: "event", kind: "named" }] : undefined;
}

/**
 * The version a run form names, when the caller may run it. A path is a script's first, and else a flow's. A restricted
 * token is refused before anything is looked up, so that it does not learn what there is.
 * @throws NotFound, BadRequest (archived, not ready), Forbidden (scope)
 */
export async function resolveTarget(ctx: WorkspaceContext, target: Target): Promise<Runnable> {
  const { identity } = ctx.caller;
  if ("flow" in target || "flow_version" in target) return { kind: "flow", flow: await flowOf(ctx, target) };
  if ("path" in target && !isAllowed(identity, SCRIPTS, target.path)) {
    // A token for flows alone may name its flow by a path that could be a script's.
    const flow = await flowOf(ctx, { flow: target.path }).catch((cause) => {
      if (cause instanceof NotFound) checkScopes(identity, SCRIPTS, target.path);
      throw cause;
    });
    return { kind: "flow", flow };
  }
  try {
    return { kind: "script", script: await scriptOf(ctx, target) };
  } catch (noScript) {
    if ("hash" in target || !(noScript instanceof NotFound)) throw noScript;
    if (!isAllowed(identity, FLOWS, target.path)) throw noScript;
    try {
      return { kind: "flow", flow: await flowOf(ctx, { flow: target.path }) };
    } catch (noFlow) {
      throw noFlow instanceof NotFound ? noScript : noFlow;
    }
  }
}

/**
 * Checks what something that is set up will run: it is there, and the caller may run it. Whether it can run is seen when
 * it shall.
 * @throws NotFound, BadRequest (archived), Forbidden (scope)
 */
export async function requireTarget(ctx: WorkspaceContext, target: Target): Promise<void> {
  try {
    await resolveTarget(ctx, target);
  } catch (cause) {
    if (!(cause instanceof NotReady)) throw cause;
  }
}

const SCRIPTS = { domain: "jobs", action: "run", kind: "scripts" } as const;
const FLOWS = { domain: "jobs", action: "run", kind: "flows" } as const;

async function scriptOf(
  { app, caller: { member, identity } }: WorkspaceContext,
  target: { path: string } | { hash: string },
): Promise<Deployed> {
  const { workspace_id } = member;
  if ("path" in target) {
    checkScopes(identity, SCRIPTS, target.path);
    return findReadable(member, `script ${target.path}`, () =>
      deployedByPath(app, workspace_id, target.path),
    );
  }
  return withinScope(identity, SCRIPTS, () =>
    findReadable(member, `script with hash ${target.hash}`, () =>
      deployedByHash(app, workspace_id, target.hash),
    ),
  );
}

async function flowOf(
  { app, caller: { member, identity } }: WorkspaceContext,
  target: { flow: string } | { flow_version: string },
): Promise<DeployedFlow> {
  const { workspace_id } = member;
  if ("flow" in target) {
    checkScopes(identity, FLOWS, target.flow);
    return findReadable(member, `flow ${target.flow}`, () =>
      deployedFlowByPath(app, workspace_id, target.flow),
    );
  }
  const { flow_version } = target;
  if (!/^[0-9]{1,15}$/.test(flow_version)) {
    throw new BadRequest(`"${flow_version}" is not a flow version: it must be a number`);
  }
  return withinScope(identity, FLOWS, () =>
    findReadable(member, `flow version ${flow_version}`, () =>
      deployedFlowByVersion(app, workspace_id, Number(flow_version)),
    ),
  );
}

/** What is named by a hash or a version: whether the token covers its path shows once it is found. */
async function withinScope<T extends { path: string }>(
  identity: Identity,
  scope: Scope,
  find: () => Promise<T>,
): Promise<T> {
  if (isAllowed(identity, scope, undefined)) return find();
  const found = await find().catch((cause) => {
    if (cause instanceof NotFound || cause instanceof NotRunnable) return undefined;
    throw cause;
  });
  if (found && isAllowed(identity, scope, found.path)) return found;
  throw new Forbidden("Access denied. The token does not cover what is to be run");
}
