/** A job that posts one message through the workspace's connection to the chat product: does it work? */

import { BadRequest } from "../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { BOT_TOKEN_PATH } from "../../assets/connecting/chat.ts";
import { type Submission, scriptSubmission } from "../../runs/submit/submission.ts";
import { submitJob } from "../../runs/submit/submit.ts";
import { resolveTarget } from "../../runs/submit/target.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { chatApi } from "./product.ts";

/** Stands for the message scripts of the hub, which is no part of the instance. */
const SCRIPT = `export async function main(
  chat: { token: string },
  api_url: string,
  channel: string,
  text: string,
) {
  const response = await fetch(api_url + "/chat.postMessage", {
    method: "POST",
    headers: {
      "content-type": "application/json; charset=utf-8",
      authorization: "Bearer " + chat.token,
    },
    body: JSON.stringify({ channel, text }),
  });
  const answer = await response.json();
  if (answer.ok !== true) throw new Error("the chat refuses the message: " + answer.error);
  return { channel: answer.channel, ts: answer.ts };
}
`;

interface Trial {
  /** A hub's message script, or a script of the workspace that takes `chat`, `channel` and `text`. */
  hub_script_path: string;
  channel: string;
  test_msg: string;
}

/** @returns the job's id. @throws BadRequest while the workspace is not connected, NotFound for an unknown script */
export async function runTrial(ctx: WorkspaceContext, trial: Trial): Promise<string> {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const { chat_team_id } = await readSettings(app.db.read, workspace_id);
  if (chat_team_id === undefined) {
    throw new BadRequest(`workspace ${workspace_id} is not connected to the chat product`, {
      hint: `an admin connects it: GET /api/oauth/connect_chat?workspace=${workspace_id}`,
    });
  }
  return (await submitJob(ctx, await submissionOf(ctx, trial), {})).id;
}

async function submissionOf(
  ctx: WorkspaceContext,
  { hub_script_path, channel, test_msg }: Trial,
): Promise<Submission> {
  const args = { chat: `$res:${BOT_TOKEN_PATH}`, api_url: chatApi(ctx.app), channel, text: test_msg };
  const text = JSON.stringify(args);
  if (hub_script_path !== "" && !hub_script_path.startsWith("hub/")) {
    const found = await resolveTarget(ctx, { path: hub_script_path });
    if (found.kind === "script") return scriptSubmission(ctx, found.script, text, {});
    throw new BadRequest(
      `body field \`hub_script_path\`: ${hub_script_path} is a flow, and must be a script`,
    );
  }
  return {
    kind: "preview",
    script_path: hub_script_path || undefined,
    language: "bun",
    tag: "bun",
    raw_code: SCRIPT,
    args: text,
    visible_to_owner: true,
  };
}
