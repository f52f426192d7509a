/** Logging in by a provider: for browsers by redirects, for programs by the code they were handed. */
import { z } from "zod";
import { messagePage } from "../../../../lib/text/html-page.ts";
import { optional } from "../../../../lib/zod.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { asPage, localPath, redirectTo, returnedOf } from "../../../assets/connecting/pages.ts";
import { clientOf, clientsFor } from "../../../assets/connections/clients.ts";
import { begin } from "../../../assets/connections/oauth-state.ts";
import { authorizationUrl } from "../../../assets/connections/provider.ts";
import { withCookies } from "../answers.ts";
import { finishLogin, type LoggedIn, loginRedirect } from "./login.ts";

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
    oauth: clientsFor(app, "login").map(({ name, display_name }) => ({ type: name, display_name })),
  }),
});

const beginLogin = operation({
  name: "beginOAuthLogin",
  method: "GET",
  path: "/oauth/login/{client_name}",
  access: "anyone",
  scope: false,
  summary: "Send a browser to a provider to log in; `rd` says where it goes afterwards",
  query: z.object({ rd: z.string().optional() }),
  responds: responds.raw("text/plain", "a redirect"),
  run: async (ctx, { client_name, query }) => {
    const client = clientOf(ctx.app, client_name, "login");
    const rd = localPath(query.rd);
    const { journey, cookie } = begin(ctx.app, { kind: "login", client: client.name, rd });
    const asked = { redirect_uri: loginRedirect(ctx, client.name) };
    return redirectTo(await authorizationUrl(ctx.app, client, journey, asked), [cookie]);
  },
});

const audit = { operation: "oauth.login", action_kind: "Create" } as const;

const loginCallback = operation({
  name: "loginWithOauth",
  method: "POST",
  path: "/oauth/login_callback/{client_name}",
  access: "anyone",
  scope: false,
  summary: "End a login with what the provider sent the browser back with",
  body: z.object({ code: z.string(), state: z.string(), iss: optional(z.string()) }),
  responds: responds.raw("text/plain", "session token, also as cookie"),
  audit,
  run: async (ctx, { client_name, body }) => {
    const done = await finishLogin(ctx, client_name, body);
    return withCookies(done.token, done.cookies);
  },
});

const loginPage = operation({
  name: "oauthLoginPage",
  method: "GET",
  path: "/user/login_callback/{client_name}",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Where a provider sends a browser back to after a login",
  responds: responds.raw("text/html", "a redirect, or a page"),
  audit,
  run: (ctx, { client_name }) =>
    asPage(async () => {
      const done = await finishLogin(ctx, client_name, returnedOf(client_name, ctx.request));
      return afterLogin(done);
    }),
});

function afterLogin({ journey, cookies }: LoggedIn): Response {
  if (journey.rd !== undefined) return redirectTo(journey.rd, cookies);
  const page = messagePage(200, "Logged in", "You are logged in. You may close this page.");
  for (const cookie of cookies) page.headers.append("set-cookie", cookie);
  return page;
}

export const oauthLoginOperations: Operation[] = [listLogins, beginLogin, loginCallback, loginPage];
