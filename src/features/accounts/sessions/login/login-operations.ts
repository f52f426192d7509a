/** Operations to log in with a provider: redirects for browsers, an authorization code for programs. */
import { type NextStep, renderMessagePage } from "../../../../lib/text/html-page.ts";
import { optionalField } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { Context } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import {
  createRedirect,
  parseAuthorizationResponse,
  parseLocalPath,
  withErrorPage,
} from "../../../assets/connecting/pages.ts";
import { getClient, listClients } from "../../../assets/connections/oauth-clients.ts";
import { createAuthorizationUrl } from "../../../assets/connections/oauth-protocol.ts";
import { createState } from "../../../assets/connections/oauth-state.ts";
import { createTextResponse } from "../cookie-response.ts";
import { type CompletedLogin, completeOauthLogin, createLoginRedirectUri } from "./oauth-login.ts";

const listLogins = operation({
  name: "listOAuthLogins",
  method: "GET",
  path: "/oauth/list_logins",
  access: "anyone",
  scope: false,
  summary: "List the providers to log in with",
  responds: responds.json(
    z.object({
      oauth: z.array(z.object({ type: z.string(), display_name: z.string() })),
      saml: z.string().optional(),
    }),
  ),
  run: ({ app }) => ({
    oauth: listClients(app, "login").map(({ name, display_name }) => ({ type: name, display_name })),
  }),
});

const startOauthLogin = operation({
  name: "beginOAuthLogin",
  method: "GET",
  path: "/oauth/login/{client_name}",
  access: "anyone",
  scope: false,
  summary: "Redirect a browser to a provider to log in; `rd` is the target afterwards",
  query: z.object({ rd: z.string().optional() }),
  responds: responds.raw("text/plain", "a redirect"),
  run: (ctx, { client_name, query }) => {
    const begin = async () => {
      const client = getClient(ctx.app, client_name, "login");
      const rd = parseLocalPath(query.rd);
      const { oauthState, cookie } = createState(ctx.app, { kind: "login", client: client.name, rd });
      const asked = { redirect_uri: createLoginRedirectUri(ctx, client.name) };
      return createRedirect(await createAuthorizationUrl(ctx.app, client, oauthState, asked), [cookie]);
    };
    const isBrowser = ctx.request.headers.get("accept")?.includes("text/html");
    return isBrowser ? withErrorPage(begin, getLoginStep(ctx)) : begin();
  },
});

/** Returns the link from an error to the console's login, where providers can be tried again; undefined without console. */
function getLoginStep({ app }: Context): NextStep | undefined {
  return app.config.console === "on"
    ? { href: `${app.urls.base}/login`, label: "Back to the login" }
    : undefined;
}

const LOGIN_AUDIT = { operation: "oauth.login", action_kind: "Create" } as const;

const loginCallback = operation({
  name: "loginWithOauth",
  method: "POST",
  path: "/oauth/login_callback/{client_name}",
  access: "anyone",
  scope: false,
  summary: "Complete a login with the provider's authorization response",
  body: z.object({ code: z.string(), state: z.string(), iss: optionalField(z.string()) }),
  responds: responds.raw("text/plain", "session token, also as cookie"),
  audit: LOGIN_AUDIT,
  run: async (ctx, { client_name, body }) => {
    const done = await completeOauthLogin(ctx, client_name, body);
    return createTextResponse(done.token, done.cookies);
  },
});

const loginPage = operation({
  name: "oauthLoginPage",
  method: "GET",
  path: "/user/login_callback/{client_name}",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Redirect target of a provider after a login",
  responds: responds.raw("text/html", "a redirect, or a page"),
  audit: LOGIN_AUDIT,
  run: (ctx, { client_name }) =>
    withErrorPage(async () => {
      const done = await completeOauthLogin(
        ctx,
        client_name,
        parseAuthorizationResponse(ctx, { kind: "login", client: client_name }),
      );
      return createLoginResponse(done);
    }, getLoginStep(ctx)),
});

function createLoginResponse({ oauthState, cookies }: CompletedLogin): Response {
  if (oauthState.rd !== undefined) return createRedirect(oauthState.rd, cookies);
  const page = renderMessagePage(200, "Logged in", "You are logged in. You may close this page.");
  for (const cookie of cookies) page.headers.append("set-cookie", cookie);
  return page;
}

export const oauthLoginOperations: Operation[] = [listLogins, startOauthLogin, loginCallback, loginPage];
