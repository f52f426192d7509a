/** Starts a job: of a deployed script or flow, or of an undeployed file. */

import { readDefaultWorkspace } from "../client/default-workspace.ts";
import { createWorkspace, listWorkspaces } from "../client/operations/lifecycle.ts";
import { runFlowByPath, runFlowPreview, runPreview, runScriptByPath } from "../client/operations/runs.ts";
import type { ServiceClient } from "../client/transport.ts";
import { resolveWorkspace } from "../program/command.ts";
import type { JobRef } from "./follow.ts";
import type { LocalCode } from "./local-modules.ts";

/** The code to run. */
export type RunTarget =
  /** A script, or else a flow, at this path. */
  { path: string } | { flow: string } | LocalCode | LocalFlow;

/** An undeployed flow from a folder or file, with the code of its steps inserted. */
export interface LocalFlow {
  value: unknown;
  schema?: unknown;
  /** Path where it would be deployed; imports of its steps are resolved against it. */
  path?: string | undefined;
}

/** Whether the code is submitted with the job, and so needs no deployment. */
export const isLocal = (code: RunTarget): code is LocalCode | LocalFlow =>
  "content" in code || "value" in code;

/** Due time in the API's fields. A delay counts from the receipt by the server. */
export type StartTime = { scheduled_for: Date } | { scheduled_in_secs: number };

export interface StartOptions {
  /** The workspace, if one was given. */
  workspace: string | undefined;
  code: RunTarget;
  args: Record<string, unknown>;
  /** Undefined: immediately. */
  when: StartTime | undefined;
  /** In seconds. */
  timeout: number | undefined;
  tag: string | undefined;
}

/** Submits the job; it is stored when this returns. */
export async function startJob(client: ServiceClient, start: StartOptions): Promise<JobRef> {
  const { code, args, when, timeout, tag } = start;
  if (!isLocal(code) && "path" in code) {
    const workspace = await resolveWorkspace(client, start.workspace);
    // The arguments are those of main; there is no webhook request for a preprocessor.
    const query = { timeout, tag, skip_preprocessor: true, ...when };
    const input = { workspace, path: code.path, query, body: args };
    return { workspace, id: await client.call(runScriptByPath, input as never) };
  }
  if (!isLocal(code)) {
    const workspace = await resolveWorkspace(client, start.workspace);
    const input = {
      workspace,
      path: code.flow,
      query: { timeout, tag, skip_preprocessor: true, ...when },
      body: args,
    };
    return { workspace, id: await client.call(runFlowByPath, input as never) };
  }
  const workspace = await resolveFileWorkspace(client, start.workspace);
  const query = { timeout, tag, ...toFixedTime(when) };
  if ("value" in code) {
    const { value, path } = code;
    const flow = { workspace, query, body: { value, path, args } };
    return { workspace, id: await client.call(runFlowPreview, flow as never) };
  }
  const input = { workspace, query, body: { ...code, args } };
  return { workspace, id: await client.call(runPreview, input) };
}

/** Converts a start time to a fixed time, the only kind that undeployed code can be scheduled for. */
function toFixedTime(when: StartTime | undefined): { scheduled_for?: Date } {
  if (when === undefined || "scheduled_for" in when) return { ...when };
  return { scheduled_for: new Date(Date.now() + when.scheduled_in_secs * 1000) };
}

/** Workspace for files when there is no workspace yet. */
const LOCAL_WORKSPACE = "local";

async function resolveFileWorkspace(client: ServiceClient, given: string | undefined): Promise<string> {
  const named = given ?? (process.env.SVC_WORKSPACE || readDefaultWorkspace(client.where));
  if (named) return named;
  const found = await client.call(listWorkspaces, {});
  if (found.length > 0) return (found.find(({ id }) => id === LOCAL_WORKSPACE) ?? found[0]!).id;
  await client.call(createWorkspace, { body: { id: LOCAL_WORKSPACE, name: "Local" } });
  return LOCAL_WORKSPACE;
}
