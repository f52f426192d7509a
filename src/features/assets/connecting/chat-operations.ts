/** Connecting the chat product, to the instance or to a workspace. */
import { z } from "zod";
import { BadRequest } from "../../../lib/errors.ts";
import { messagePage } from "../../../lib/text/html-page.ts";
import { checkWorkspaceId } from "../../../lib/text/paths.ts";
import { optional } from "../../../lib/zod.ts";
import { checked, readText } from "../../../platform/http/input.ts";
import { alsoAt, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { clientOf } from "../connections/clients.ts";
import { begin, endedCookie, journeyOf } from "../connections/oauth-state.ts";
import { authorizationUrl } from "../connections/provider.ts";
import { connectInstance, connectWorkspace, disconnectWorkspace } from "./chat.ts";
import { CHAT, connectRedirect } from "./connect.ts";
import { Returned } from "./operations.ts";
import { asPage, confirmPage, MAX_FORM, redirectTo, returnedOf } from "./pages.ts";

const connects = { operation: "oauth.connect_chat", action_kind: "Update" } as const;
const page = responds.raw("text/html", "a page");

const beginConnectChat = operation({
  name: "beginConnectChat",
  method: "GET",
  path: "/oauth/connect_chat",
  access: "user",
  summary:
    "Send a browser to the chat product to connect it; `workspace` says to which one, else to the instance",
  query: z.object({ workspace: optional(z.string()) }),
  responds: responds.raw("text/plain", "a redirect"),
  run: async (ctx, { query }) => {
    const client = clientOf(ctx.app, CHAT, "connect");
    const workspace = query.workspace && checkWorkspaceId(query.workspace);
    const { journey, cookie } = begin(ctx.app, { kind: "connect", client: CHAT, workspace });
    const asked = { redirect_uri: connectRedirect(ctx, CHAT) };
    return redirectTo(await authorizationUrl(ctx.app, client, journey, asked), [cookie]);
  },
});

const connectChatCallbackInstance = operation({
  name: "connectChatCallbackInstance",
  method: "POST",
  path: "/oauth/connect_chat_callback",
  access: "superAdmin",
  summary: "Connect the chat product to the instance, for its alerts",
  body: Returned,
  responds: responds.text("confirmation"),
  audit: connects,
  run: async (ctx, { body }) => `connected to ${await connectInstance(ctx, body)}`,
});

const connectChatCallback = operation({
  name: "connectChatCallback",
  method: "POST",
  path: "/w/{workspace}/oauth/connect_chat_callback",
  access: "admin",
  summary: "Connect the chat product to the workspace: its bot's token becomes a secret and a resource",
  body: Returned,
  responds: responds.text("confirmation"),
  audit: connects,
  run: async (ctx, { body }) => `connected to ${await connectWorkspace(ctx, body)}`,
});

const disconnectChat = operation({
  name: "disconnectChat",
  method: "POST",
  path: "/w/{workspace}/oauth/disconnect_chat",
  access: "admin",
  summary: "Disconnect the chat product from the workspace",
  responds: responds.text("confirmation"),
  audit: { operation: "oauth.disconnect_chat", action_kind: "Delete" },
  run: async (ctx, { workspace }) => {
    await disconnectWorkspace(ctx);
    return `the chat product is disconnected from workspace ${workspace}`;
  },
});

const chatPage = operation({
  name: "chatConnectPage",
  method: "GET",
  path: "/oauth/callback_chat",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Where the chat product sends a browser back to",
  responds: page,
  run: (ctx) =>
    asPage(() => {
      const returned = returnedOf(CHAT, ctx.request);
      const { state } = returned;
      const { workspace } = journeyOf(ctx.app, ctx.request, { kind: "connect", client: CHAT, state });
      const [what, action] = workspace
        ? [`workspace ${workspace}`, `/w/${workspace}/oauth/callback_chat`]
        : ["the instance", "/oauth/callback_chat"];
      return confirmPage("Connect the chat", `Connect this team to ${what}?`, action, returned);
    }),
});

async function readReturned(request: Request): Promise<z.output<typeof Returned>> {
  const form = Object.fromEntries(new URLSearchParams(await readText(request, MAX_FORM)));
  return checked("body", Returned, form) as z.output<typeof Returned>;
}

const connected = (team: string, cookie: string) => {
  const answer = messagePage(200, "Connected", `${team} is connected. You may close this page.`);
  answer.headers.append("set-cookie", cookie);
  return answer;
};

const finishChatPageInstance = operation({
  name: "finishChatConnectPageInstance",
  method: "POST",
  path: "/oauth/callback_chat",
  access: "superAdmin",
  page: true,
  summary: "Connect the chat product that a browser came back from to the instance",
  responds: page,
  audit: connects,
  run: (ctx) =>
    asPage(async () => {
      const team = await connectInstance(ctx, await readReturned(ctx.request));
      return connected(team, endedCookie(ctx.app, { kind: "connect", client: CHAT }));
    }),
});

const finishChatPage = operation({
  name: "finishChatConnectPage",
  method: "POST",
  path: "/w/{workspace}/oauth/callback_chat",
  access: "admin",
  page: true,
  summary: "Connect the chat product that a browser came back from to the workspace",
  responds: page,
  audit: connects,
  run: (ctx, { workspace }) =>
    asPage(async () => {
      const returned = await readReturned(ctx.request);
      const { state } = returned;
      const journey = journeyOf(ctx.app, ctx.request, { kind: "connect", client: CHAT, state });
      if (journey.workspace !== workspace) {
        throw new BadRequest(`the connection was begun for another workspace than ${workspace}`);
      }
      return connected(await connectWorkspace(ctx, returned), endedCookie(ctx.app, journey));
    }),
});

export const oauthChatOperations: Operation[] = [
  beginConnectChat,
  alsoAt(beginConnectChat, { name: "beginConnectSlack", path: "/oauth/connect_slack" }),
  connectChatCallbackInstance,
  alsoAt(connectChatCallbackInstance, {
    name: "connectSlackCallbackInstance",
    path: "/oauth/connect_slack_callback",
  }),
  connectChatCallback,
  alsoAt(connectChatCallback, {
    name: "connectSlackCallback",
    path: "/w/{workspace}/oauth/connect_slack_callback",
  }),
  disconnectChat,
  alsoAt(disconnectChat, { name: "disconnectSlack", path: "/w/{workspace}/oauth/disconnect_slack" }),
  chatPage,
  finishChatPageInstance,
  finishChatPage,
];
