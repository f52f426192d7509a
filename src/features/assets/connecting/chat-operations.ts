/** Operations that connect Slack to the instance or to a workspace. */
import { BadRequest } from "../../../lib/errors.ts";
import { renderMessagePage } from "../../../lib/text/html-page.ts";
import { parseWorkspaceId } from "../../../lib/text/paths.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { parseWithSchema, readText } from "../../../platform/http/input.ts";
import { aliasOperation, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { getClient } from "../connections/oauth-clients.ts";
import { createAuthorizationUrl } from "../connections/oauth-protocol.ts";
import { clearStateCookie, createState, readState } from "../connections/oauth-state.ts";
import { connectChatToInstance, connectChatToWorkspace, disconnectChatFromWorkspace } from "./chat.ts";
import { CHAT_CLIENT, createConnectRedirectUri } from "./connect.ts";
import { AuthorizationResponseBody } from "./operations.ts";
import {
  createRedirect,
  MAX_FORM_BYTES,
  parseAuthorizationResponse,
  renderConfirmPage,
  withErrorPage,
} from "./pages.ts";

const connects = { operation: "oauth.connect_chat", action_kind: "Update" } as const;
const page = responds.raw("text/html", "a page");

const beginConnectChat = operation({
  name: "beginConnectChat",
  method: "GET",
  path: "/oauth/connect_chat",
  access: "user",
  summary: "Redirect a browser to Slack to connect it to the workspace `workspace`, or else to the instance",
  query: z.object({ workspace: optionalField(z.string()) }),
  responds: responds.raw("text/plain", "a redirect"),
  run: async (ctx, { query }) => {
    const client = getClient(ctx.app, CHAT_CLIENT, "connect");
    const workspace = query.workspace && parseWorkspaceId(query.workspace);
    const { oauthState, cookie } = createState(ctx.app, {
      kind: "connect",
      client: CHAT_CLIENT,
      email: ctx.caller.identity.email,
      workspace,
    });
    const asked = { redirect_uri: createConnectRedirectUri(ctx, CHAT_CLIENT) };
    return createRedirect(await createAuthorizationUrl(ctx.app, client, oauthState, asked), [cookie]);
  },
});

const connectChatCallbackInstance = operation({
  name: "connectChatCallbackInstance",
  method: "POST",
  path: "/oauth/connect_chat_callback",
  access: "superAdmin",
  summary: "Connect Slack to the instance, for its alerts",
  body: AuthorizationResponseBody,
  responds: responds.text("confirmation"),
  audit: connects,
  run: async (ctx, { body }) => `connected to ${await connectChatToInstance(ctx, body)}`,
});

const connectChatCallback = operation({
  name: "connectChatCallback",
  method: "POST",
  path: "/w/{workspace}/oauth/connect_chat_callback",
  access: "admin",
  summary: "Connect Slack to the workspace: its bot's token becomes a secret and a resource",
  body: AuthorizationResponseBody,
  responds: responds.text("confirmation"),
  audit: connects,
  run: async (ctx, { body }) => `connected to ${await connectChatToWorkspace(ctx, body)}`,
});

const disconnectChat = operation({
  name: "disconnectChat",
  method: "POST",
  path: "/w/{workspace}/oauth/disconnect_chat",
  access: "admin",
  summary: "Disconnect Slack from the workspace",
  responds: responds.text("confirmation"),
  audit: { operation: "oauth.disconnect_chat", action_kind: "Delete" },
  run: async (ctx, { workspace }) => {
    await disconnectChatFromWorkspace(ctx);
    return `Slack is disconnected from workspace ${workspace}`;
  },
});

const chatPage = operation({
  name: "chatConnectPage",
  method: "GET",
  path: "/oauth/callback_chat",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Redirect URI of Slack's authorization",
  responds: page,
  run: (ctx) =>
    withErrorPage(() => {
      const returned = parseAuthorizationResponse(ctx, { kind: "connect", client: CHAT_CLIENT });
      const { state } = returned;
      const { workspace } = readState(ctx.app, ctx.request, { kind: "connect", client: CHAT_CLIENT, state });
      const [what, action] = workspace
        ? [`workspace ${workspace}`, `/w/${workspace}/oauth/callback_chat`]
        : ["the instance", "/oauth/callback_chat"];
      return renderConfirmPage("Connect the chat", `Connect this team to ${what}?`, action, returned);
    }),
});

async function readReturned(request: Request): Promise<z.output<typeof AuthorizationResponseBody>> {
  const form = Object.fromEntries(new URLSearchParams(await readText(request, MAX_FORM_BYTES)));
  return parseWithSchema("body", AuthorizationResponseBody, form) as z.output<
    typeof AuthorizationResponseBody
  >;
}

const createConnectedPage = (team: string, cookie: string) => {
  const answer = renderMessagePage(200, "Connected", `${team} is connected. You may close this page.`);
  answer.headers.append("set-cookie", cookie);
  return answer;
};

const finishChatPageInstance = operation({
  name: "finishChatConnectPageInstance",
  method: "POST",
  path: "/oauth/callback_chat",
  access: "superAdmin",
  page: true,
  summary: "Complete the connection of Slack to the instance",
  responds: page,
  audit: connects,
  run: (ctx) =>
    withErrorPage(async () => {
      const team = await connectChatToInstance(ctx, await readReturned(ctx.request));
      return createConnectedPage(team, clearStateCookie(ctx.app, { kind: "connect", client: CHAT_CLIENT }));
    }),
});

const finishChatPage = operation({
  name: "finishChatConnectPage",
  method: "POST",
  path: "/w/{workspace}/oauth/callback_chat",
  access: "admin",
  page: true,
  summary: "Complete the connection of Slack to the workspace",
  responds: page,
  audit: connects,
  run: (ctx, { workspace }) =>
    withErrorPage(async () => {
      const returned = await readReturned(ctx.request);
      const { state } = returned;
      const oauthState = readState(ctx.app, ctx.request, { kind: "connect", client: CHAT_CLIENT, state });
      if (oauthState.workspace !== workspace) {
        throw new BadRequest(`the connection was started for a workspace other than ${workspace}`);
      }
      return createConnectedPage(
        await connectChatToWorkspace(ctx, returned),
        clearStateCookie(ctx.app, oauthState),
      );
    }),
});

export const oauthChatOperations: Operation[] = [
  beginConnectChat,
  aliasOperation(beginConnectChat, { name: "beginConnectSlack", path: "/oauth/connect_slack" }),
  connectChatCallbackInstance,
  aliasOperation(connectChatCallbackInstance, {
    name: "connectSlackCallbackInstance",
    path: "/oauth/connect_slack_callback",
  }),
  connectChatCallback,
  aliasOperation(connectChatCallback, {
    name: "connectSlackCallback",
    path: "/w/{workspace}/oauth/connect_slack_callback",
  }),
  disconnectChat,
  aliasOperation(disconnectChat, { name: "disconnectSlack", path: "/w/{workspace}/oauth/disconnect_slack" }),
  chatPage,
  finishChatPageInstance,
  finishChatPage,
];
