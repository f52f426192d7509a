/** What is to be run, as callers and those who set something up name it. */
import type { WorkspaceContext } from "../../context.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { type DeployedFlow, deployedFlowByPath, deployedFlowByVersion } from "../flows/versions.ts";
import { findReadable } from "../permissions.ts";
import { type Deployed, deployedByHash, deployedByPath } from "../scripts/versions.ts";
import { checkScopes } from "../tokens/scopes.ts";

export type Target = { path: string } | { hash: string } | { flow: string } | { flow_version: string };

/** What `script_path` and `is_flow` of something that was set up name. */
export function targetAt(path: string, is_flow: boolean): Target {
  return is_flow ? { flow: path } : { path };
}

/** What a run form names. */
export type Runnable = { kind: "script"; script: Deployed } | { kind: "flow"; flow: DeployedFlow };

/**
 * The version a run form names, when the caller may run it. A path is a script's first, and else a flow's.
 * @throws NotFound, BadRequest (archived, not ready), Forbidden (scope)
 */
export async function resolveTarget(ctx: WorkspaceContext, target: Target): Promise<Runnable> {
  if ("flow" in target || "flow_version" in target) return { kind: "flow", flow: await flowOf(ctx, target) };
  try {
    return { kind: "script", script: await scriptOf(ctx, target) };
  } catch (noScript) {
    if ("hash" in target || !(noScript instanceof NotFound)) throw noScript;
    try {
      return { kind: "flow", flow: await flowOf(ctx, { flow: target.path }) };
    } catch (noFlow) {
      throw noFlow instanceof NotFound ? noScript : noFlow;
    }
  }
}

async function scriptOf(
  ctx: WorkspaceContext,
  target: { path: string } | { hash: string },
): Promise<Deployed> {
  const { app, caller } = ctx;
  const { member, identity } = caller;
  const { workspace_id } = member;
  const deployed =
    "hash" in target
      ? await findReadable(member, `script with hash ${target.hash}`, () =>
          deployedByHash(app, workspace_id, target.hash),
        )
      : await findReadable(member, `script ${target.path}`, () =>
          deployedByPath(app, workspace_id, target.path),
        );
  checkScopes(identity, { domain: "jobs", action: "run", kind: "scripts" }, deployed.path);
  return deployed;
}

async function flowOf(
  ctx: WorkspaceContext,
  target: { flow: string } | { flow_version: string },
): Promise<DeployedFlow> {
  const { app, caller } = ctx;
  const { member, identity } = caller;
  if ("flow_version" in target && !/^[0-9]{1,15}$/.test(target.flow_version)) {
    throw new BadRequest(`"${target.flow_version}" is not a flow version: it must be a number`);
  }
  const found =
    "flow" in target
      ? await findReadable(member, `flow ${target.flow}`, () =>
          deployedFlowByPath(app, member.workspace_id, target.flow),
        )
      : await findReadable(member, `flow version ${target.flow_version}`, () =>
          deployedFlowByVersion(app, member.workspace_id, Number(target.flow_version)),
        );
  checkScopes(identity, { domain: "jobs", action: "run", kind: "flows" }, found.path);
  return found;
}
