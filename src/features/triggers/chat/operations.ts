/** Slash commands from Slack, and a test message. */
import { withDefault } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  aliasOperation,
  type Operation,
  operation,
  optionalBody,
  responds,
} from "../../../platform/http/operation.ts";
import { handleChatCommand } from "./command.ts";
import { runTestMessage } from "./test-message.ts";

const chatCommand = operation({
  name: "chatCommand",
  method: "POST",
  path: "/oauth/chat_command",
  access: "anyone",
  scope: false,
  summary: "Receive a signed slash command of Slack, which starts the workspace's command script",
  responds: responds.raw("application/json", "what is shown to who typed the command"),
  audit: { operation: "jobs.run", action_kind: "Execute" },
  run: async ({ app, request }) =>
    Response.json({ response_type: "ephemeral", text: await handleChatCommand(app, request) }),
});

const runChatMessageTestJob = operation({
  name: "runChatMessageTestJob",
  method: "POST",
  path: "/w/{workspace}/workspaces/run_chat_message_test_job",
  access: "admin",
  summary: "Run a job that posts a message through the workspace's connection to Slack",
  body: optionalBody(
    z.object({
      hub_script_path: withDefault(z.string(), ""),
      channel: withDefault(z.string(), "").transform((channel) => channel || "general"),
      test_msg: withDefault(z.string(), "This is a test message"),
    }),
  ),
  responds: responds.raw("text/json", "the job's uuid, as `job_uuid`"),
  audit: { operation: "workspaces.run_chat_message_test_job", action_kind: "Execute" },
  run: async (ctx, { body }) =>
    new Response(JSON.stringify({ job_uuid: await runTestMessage(ctx, body) }), {
      headers: { "content-type": "text/json" },
    }),
});

export const chatOperations: Operation[] = [
  chatCommand,
  aliasOperation(chatCommand, { name: "slackCommand", path: "/oauth/slack" }),
  runChatMessageTestJob,
  aliasOperation(runChatMessageTestJob, {
    name: "runSlackMessageTestJob",
    path: "/w/{workspace}/workspaces/run_slack_message_test_job",
  }),
];
