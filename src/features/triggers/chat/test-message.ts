/** A job that tests the workspace's connection to Slack by posting one message. */

import { BadRequest } from "../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { BOT_TOKEN_PATH } from "../../assets/connecting/chat.ts";
import { createScriptSubmission, type Submission } from "../../runs/submit/submission.ts";
import { submitJob } from "../../runs/submit/submit.ts";
import { resolveTarget } from "../../runs/submit/target.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { getChatApiUrl } from "./chat-settings.ts";

/** Replaces the message scripts of the hub, which this service does not have. */
const MESSAGE_SCRIPT = `export async function main(
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
  if (answer.ok !== true) throw new Error("the chat rejected the message: " + answer.error);
  return { channel: answer.channel, ts: answer.ts };
}
`;

interface TestMessage {
  /** Path of a message script in the hub, or of a script of the workspace that takes `chat`, `channel` and `text`. */
  hub_script_path: string;
  channel: string;
  test_msg: string;
}

/**
 * Starts a script that sends a test message to a channel of the connected chat.
 * @returns the job's id. @throws BadRequest if the workspace is not connected, NotFound for an unknown script
 */
export async function runTestMessage(ctx: WorkspaceContext, trial: TestMessage): Promise<string> {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const { chat_team_id } = await readSettings(app.db.read, workspace_id);
  if (chat_team_id === undefined) {
    throw new BadRequest(`workspace ${workspace_id} is not connected to Slack`, {
      hint: `an admin connects it: GET /api/oauth/connect_chat?workspace=${workspace_id}`,
    });
  }
  return (await submitJob(ctx, await createTestSubmission(ctx, trial), {})).id;
}

async function createTestSubmission(
  ctx: WorkspaceContext,
  { hub_script_path, channel, test_msg }: TestMessage,
): Promise<Submission> {
  const args = { chat: `$res:${BOT_TOKEN_PATH}`, api_url: getChatApiUrl(ctx.app), channel, text: test_msg };
  const text = JSON.stringify(args);
  if (hub_script_path !== "" && !hub_script_path.startsWith("hub/")) {
    const found = await resolveTarget(ctx, { path: hub_script_path });
    if (found.kind === "script") return createScriptSubmission(ctx, found.script, text, {});
    throw new BadRequest(
      `body field \`hub_script_path\`: ${hub_script_path} is a flow, and must be a script`,
    );
  }
  return {
    kind: "preview",
    script_path: hub_script_path || undefined,
    language: "bun",
    tag: "bun",
    raw_code: MESSAGE_SCRIPT,
    args: text,
    visible_to_owner: true,
  };
}
