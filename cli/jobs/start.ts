/** Starting a job: of a deployed script or flow, or of a file that is not deployed. */

import { createWorkspace, listWorkspaces } from "../../src/features/lifecycle/workspaces/operations.ts";
import { runPreview } from "../../src/features/runs/api/run/preview-operations.ts";
import { runFlowByPath, runScriptByPath } from "../../src/features/runs/api/run/run-operations.ts";
import type { Client } from "../client/transport.ts";
import { workspaceFor } from "../program/command.ts";
import type { FileLanguage } from "./file-language.ts";
import type { JobRef } from "./follow.ts";

/** What is run. */
export type Code =
  /** A script, or else a flow, of this path. */
  { path: string } | { flow: string } | { content: string; language: FileLanguage };

/** When a job is due, in the server's own words; a delay counts from when the server hears of it. */
export type When = { scheduled_for: Date } | { scheduled_in_secs: number };

export interface Start {
  /** The one that was named, if one was. */
  workspace: string | undefined;
  code: Code;
  args: Record<string, unknown>;
  /** Undefined: at once. */
  when: When | undefined;
  /** Seconds. */
  timeout: number | undefined;
  tag: string | undefined;
}

/** Submits the job; it is stored when this returns. */
export async function startJob(client: Client, start: Start): Promise<JobRef> {
  const { code, args, when, timeout, tag } = start;
  if ("path" in code) {
    const workspace = await workspaceFor(client, start.workspace);
    // The arguments are main's own: there is no request for a preprocessor to look at.
    const query = { timeout, tag, skip_preprocessor: true, ...when };
    const input = { workspace, path: code.path, query, body: args };
    return { workspace, id: await client.call(runScriptByPath, input as never) };
  }
  if ("flow" in code) {
    const workspace = await workspaceFor(client, start.workspace);
    const input = {
      workspace,
      path: code.flow,
      query: { timeout, tag, skip_preprocessor: true, ...when },
      body: args,
    };
    return { workspace, id: await client.call(runFlowByPath, input as never) };
  }
  const workspace = await workspaceForFile(client, start.workspace);
  const input = { workspace, query: { timeout, tag, ...fixed(when) }, body: { ...code, args } };
  return { workspace, id: await client.call(runPreview, input) };
}

/** Code that is not deployed can be scheduled for a moment only. */
function fixed(when: When | undefined): { scheduled_for?: Date } {
  if (when === undefined || "scheduled_for" in when) return { ...when };
  return { scheduled_for: new Date(Date.now() + when.scheduled_in_secs * 1000) };
}

/** Where a file is run that belongs to no workspace yet. */
const LOCAL_WORKSPACE = "local";

async function workspaceForFile(client: Client, given: string | undefined): Promise<string> {
  const named = given ?? process.env.SVC_WORKSPACE;
  if (named) return named;
  const found = await client.call(listWorkspaces, {});
  if (found.length > 0) return (found.find(({ id }) => id === LOCAL_WORKSPACE) ?? found[0]!).id;
  await client.call(createWorkspace, { body: { id: LOCAL_WORKSPACE, name: "Local" } });
  return LOCAL_WORKSPACE;
}
