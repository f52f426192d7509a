/** Operations on OAuth accounts: connecting, refreshing and disconnecting them. */
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { renderMessagePage } from "../../../lib/text/html-page.ts";
import { parsePath, parseWorkspaceId } from "../../../lib/text/paths.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { parseWithSchema, readText } from "../../../platform/http/input.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { disconnectOauthAccount, findAccount, insertAccount } from "../connections/accounts.ts";
import { getClient, listClients } from "../connections/oauth-clients.ts";
import { createAuthorizationUrl } from "../connections/oauth-protocol.ts";
import { clearStateCookie, createState, readState } from "../connections/oauth-state.ts";
import { refreshAccountToken } from "../connections/refresh-token.ts";
import { getVariable } from "../variables/service.ts";
import { completeConnect, createConnectRedirectUri, storeConnection } from "./connect.ts";
import {
  createRedirect,
  MAX_FORM_BYTES,
  parseAuthorizationResponse,
  renderConfirmPage,
  withErrorPage,
} from "./pages.ts";

export const AuthorizationResponseBody = z.object({
  code: z.string(),
  state: z.string(),
  iss: optionalField(z.string()),
});

const TokenResponse = z.object({
  access_token: z.string(),
  expires_in: z.number().optional(),
  refresh_token: z.string().optional(),
  scope: z.array(z.string()).optional(),
});

const listConnects = operation({
  name: "listOAuthConnects",
  method: "GET",
  path: "/oauth/list_connects",
  access: "user",
  summary: "List the providers with which accounts can be connected",
  responds: responds.json(z.array(z.string())),
  run: ({ app }) => listClients(app, "connect").map(({ name }) => name),
});

const getConnect = operation({
  name: "getOAuthConnect",
  method: "GET",
  path: "/oauth/get_connect/{client}",
  access: "user",
  summary: "Read the default scopes and parameters of a provider",
  responds: responds.json(
    z.object({
      scopes: z.array(z.string()).optional(),
      extra_params: z.record(z.string(), z.string()).optional(),
    }),
  ),
  run: ({ app }, { client }) => {
    const { scopes, extra_params } = getClient(app, client, "connect").provider;
    return { scopes, extra_params };
  },
});

/** A JSON object with string values, in a query string. */
const ExtraParams = z
  .string()
  .transform((text, ctx) => {
    try {
      return parseSchemaJson(text) as unknown;
    } catch {
      ctx.addIssue({ code: "custom", message: "must be a JSON object of texts" });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.string()));

const beginConnect = operation({
  name: "beginOAuthConnect",
  method: "GET",
  path: "/oauth/connect/{client_name}",
  access: "user",
  summary:
    "Redirect a browser to a provider to connect an account; with `workspace` and `path` the callback stores it there",
  query: z.object({
    scopes: z.string().optional(),
    extra_params: ExtraParams.optional(),
    workspace: z.string().optional(),
    path: z.string().optional(),
  }),
  responds: responds.raw("text/plain", "a redirect"),
  run: async (ctx, { client_name, query }) => {
    if ((query.workspace === undefined) !== (query.path === undefined)) {
      throw new BadRequest("query fields `workspace` and `path`: give both or neither");
    }
    const client = getClient(ctx.app, client_name, "connect");
    const { oauthState, cookie } = createState(ctx.app, {
      kind: "connect",
      client: client.name,
      email: ctx.caller.identity.email,
      workspace: query.workspace && parseWorkspaceId(query.workspace),
      path: query.path && parsePath(query.path),
    });
    const url = await createAuthorizationUrl(ctx.app, client, oauthState, {
      redirect_uri: createConnectRedirectUri(ctx, client.name),
      scopes: query.scopes?.split(/[+ ,]+/).filter((scope) => scope !== ""),
      extra_params: query.extra_params,
    });
    return createRedirect(url, [cookie]);
  },
});

const connectCallback = operation({
  name: "connectCallback",
  method: "POST",
  path: "/oauth/connect_callback/{client_name}",
  access: "user",
  summary: "Exchange the provider's authorization code for tokens, which are not stored",
  body: AuthorizationResponseBody,
  responds: responds.json(TokenResponse, "the tokens"),
  audit: { operation: "oauth.connect", action_kind: "Execute" },
  run: async (ctx, { client_name, body }) => {
    const tokens = await completeConnect(ctx, client_name, body);
    const { access_token, expires_in, refresh_token, scope } = tokens;
    return { access_token, expires_in, refresh_token, scope };
  },
});

const connectPage = operation({
  name: "oauthConnectPage",
  method: "GET",
  path: "/oauth/callback/{client_name}",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Redirect target of a provider after connecting an account",
  responds: responds.raw("text/html", "a page"),
  run: (ctx, { client_name }) =>
    withErrorPage(() => {
      const returned = parseAuthorizationResponse(ctx, { kind: "connect", client: client_name });
      const { workspace, path } = readState(ctx.app, ctx.request, {
        kind: "connect",
        client: client_name,
        state: returned.state,
      });
      if (workspace === undefined || path === undefined) {
        throw new BadRequest(
          "the connection was started without `workspace` and `path`: the user who started it must finish it at /api/oauth/connect_callback",
        );
      }
      const message = `Connect this account of ${client_name} to workspace ${workspace}, as ${path}?`;
      const action = `/w/${workspace}/oauth/callback/${client_name}`;
      return renderConfirmPage(`Connect ${client_name}`, message, action, returned);
    }),
});

const finishConnectPage = operation({
  name: "finishOAuthConnectPage",
  method: "POST",
  path: "/w/{workspace}/oauth/callback/{client_name}",
  access: "author",
  page: true,
  summary: "Store a connected account as a secret and a resource",
  responds: responds.raw("text/html", "a page"),
  audit: { operation: "oauth.connect", action_kind: "Create" },
  run: (ctx, { workspace, client_name }) =>
    withErrorPage(async () => {
      const form = Object.fromEntries(new URLSearchParams(await readText(ctx.request, MAX_FORM_BYTES)));
      const returned = parseWithSchema("body", AuthorizationResponseBody, form) as z.output<
        typeof AuthorizationResponseBody
      >;
      const { state } = returned;
      const oauthState = readState(ctx.app, ctx.request, { kind: "connect", client: client_name, state });
      if (oauthState.workspace !== workspace || oauthState.path === undefined) {
        throw new BadRequest(`the connection was started for a workspace other than ${workspace}`);
      }
      const tokens = await completeConnect(ctx, client_name, returned);
      await storeConnection(ctx, client_name, oauthState.path, tokens);
      const page = renderMessagePage(
        200,
        "Connected",
        `${oauthState.path} is connected. You may close this page.`,
      );
      page.headers.append("set-cookie", clearStateCookie(ctx.app, oauthState));
      return page;
    }),
});

const createAccount = operation({
  name: "createAccount",
  method: "POST",
  path: "/w/{workspace}/oauth/create_account",
  access: "author",
  summary: "Store an account that variables can refer to; their values are then refreshed",
  body: z.object({
    refresh_token: optionalField(z.string()),
    expires_in: z.number().int().min(0).max(3_155_760_000),
    client: z.string(),
  }),
  responds: responds.text("id of the account"),
  audit: { operation: "account.create", action_kind: "Create" },
  run: (ctx, { body }) =>
    ctx.write({ resource: body.client }, async (tx) => String(await insertAccount(ctx, tx, body))),
});

/** Parses the id of an account in a URL. @throws NotFound if the text is not a number */
function parseAccountId(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    throw new NotFound(`OAuth account "${text.slice(0, 30)}": its id must be a number`);
  return Number(text);
}

const refreshAccount = operation({
  name: "refreshAccountToken",
  method: "POST",
  path: "/w/{workspace}/oauth/refresh_token/{id}",
  access: "member",
  summary: "Refresh an account's token now; `path` is a variable of the account that the caller may read",
  body: z.object({ path: z.string() }),
  responds: responds.text("confirmation"),
  audit: { operation: "account.refresh", action_kind: "Update" },
  run: async (ctx, { workspace, id, body }) => {
    const variable = await getVariable(ctx, body.path);
    const account = await findAccount(ctx.app.db.read, workspace, parseAccountId(id));
    if (!account || variable.account !== account.id) {
      throw new NotFound(`OAuth account ${id} of variable ${body.path} in workspace ${workspace}`);
    }
    await refreshAccountToken(ctx.app, account, { byPerson: true });
    await ctx.write({ resource: id, parameters: { path: body.path } }, async () => {});
    return `token of ${body.path} refreshed`;
  },
});

const disconnectAccount = operation({
  name: "disconnectAccount",
  method: "POST",
  path: "/w/{workspace}/oauth/disconnect/{id}",
  access: "author",
  summary: "Delete an account, and revoke its token at the provider if possible",
  responds: responds.text("confirmation; it says so when the provider could not be told"),
  audit: { operation: "account.delete", action_kind: "Delete" },
  run: async (ctx, { id }) => {
    const untold = await disconnectOauthAccount(ctx, parseAccountId(id));
    return untold === undefined
      ? `account ${id} disconnected, its token revoked`
      : `account ${id} disconnected; ${untold}`;
  },
});

export const oauthOperations: Operation[] = [
  listConnects,
  getConnect,
  beginConnect,
  connectCallback,
  connectPage,
  finishConnectPage,
  createAccount,
  refreshAccount,
  disconnectAccount,
];
