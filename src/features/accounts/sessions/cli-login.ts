/**
 * Logs a command line in through a browser. `wmill workspace add` without a token listens on a local port, opens this
 * page, and receives the token that the user agrees to.
 */
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import { escapeHtml } from "../../../lib/text/html.ts";
import { renderMessagePage, renderPage } from "../../../lib/text/html-page.ts";
import * as z from "../../../lib/zod/z.ts";
import type { Context } from "../../../platform/app/context.ts";
import { hasForeignUrlToken } from "../../../platform/http/guards/credentials.ts";
import { readText, requireNoNul } from "../../../platform/http/input.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { createRedirect, withErrorPage } from "../../assets/connecting/pages.ts";
import { issueToken } from "../../tenancy/tokens/service.ts";
import { createLoginCookies } from "./cookies.ts";
import { getLoginOrigin, loginWithPassword } from "./sessions.ts";

const CLI_TOKEN_LABEL = "command line";
const CLI_TOKEN_MS = 30 * 86_400_000;
/** Upper limit of the form's size, in bytes. */
const MAX_FORM_BYTES = 10_000;

const Port = z.coerce.number().int().min(1).max(65_535);
const LoginForm = z.object({ email: z.string(), password: z.string() });

/**
 * Returns the e-mail of the user logged in in this browser. Restricted tokens and job tokens do not count, since they
 * cannot create tokens.
 * @returns undefined if nobody is logged in
 */
function loggedInEmail({ caller }: Context): string | undefined {
  const { identity } = caller;
  const token = identity?.token;
  const isWhole = token && !token.job && !token.workspace_id && !token.scopes?.length;
  return isWhole ? identity.email : undefined;
}

function renderLoginForm(ctx: Context, port: number, refusal?: string): Response {
  const email = loggedInEmail(ctx);
  const fields = `<label>E-mail <input name="email" type="email" required></label>
<label>Password <input name="password" type="password" required autocomplete="current-password"></label>`;
  const who = email === undefined ? fields : `<p>You are logged in as <b>${escapeHtml(email)}</b>.</p>`;
  const page = renderPage(
    refusal === undefined ? 200 : 400,
    "Authorize a command-line client",
    `${refusal === undefined ? "" : `<p role="alert">${escapeHtml(refusal)}</p>\n`}<p>A program on this computer (port ${port}) asks for a token that acts as you. Go on only if you started it.</p>
<form method="post" action="/user/cli?port=${port}">
${who}
<button>Log in</button>
</form>`,
  );
  // `form-action` also applies to redirects after the form is submitted.
  const policy = page.headers.get("content-security-policy")!;
  page.headers.set(
    "content-security-policy",
    policy.replace("form-action 'self'", `form-action 'self' http://localhost:${port}`),
  );
  return page;
}

const showCliLogin = operation({
  name: "getCliLoginPage",
  method: "GET",
  path: "/user/cli",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Show the login page of a command line",
  query: z.object({ port: Port }),
  responds: responds.raw("text/html", "a form"),
  run: (ctx, { query }) => renderLoginForm(ctx, query.port),
});

const completeCliLogin = operation({
  name: "completeCliLogin",
  method: "POST",
  path: "/user/cli",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Create a token for the command line that listens on this port of the caller's computer",
  query: z.object({ port: Port }),
  reads: { "application/x-www-form-urlencoded": LoginForm },
  responds: responds.raw("text/html", "a redirect to the command line"),
  audit: { operation: "users.token.create", action_kind: "Create" },
  run: (ctx, { query: { port } }) =>
    withErrorPage(async () => {
      const { app } = ctx;
      if (hasForeignUrlToken(ctx.request)) {
        throw new Forbidden("a token in the URL logs in no command line: any page could send it there");
      }
      let email = loggedInEmail(ctx);
      let cookies: string[] = [];
      if (email === undefined) {
        const fields = Object.fromEntries(new URLSearchParams(await readText(ctx.request, MAX_FORM_BYTES)));
        requireNoNul("form", fields);
        const form = LoginForm.safeParse(fields);
        if (!form.success) return renderLoginForm(ctx, port, "Give an e-mail and a password.");
        try {
          const session = await loginWithPassword(ctx, form.data, getLoginOrigin(ctx.request));
          email = session.email;
          cookies = createLoginCookies(app, ctx.request, email, session);
        } catch (cause) {
          if (!(cause instanceof BadRequest)) throw cause;
          return renderLoginForm(ctx, port, cause.message);
        }
      }
      const owner = email;
      const expiration = new Date(app.clock().getTime() + CLI_TOKEN_MS);
      const token = await ctx.write({ resource: CLI_TOKEN_LABEL, actor_email: owner }, (tx) =>
        issueToken(app, tx, { email: owner, label: CLI_TOKEN_LABEL, expiration, kind: "user" }),
      );
      return createRedirect(`http://localhost:${port}/?token=${token}`, cookies);
    }),
});

const cliLoginDone = operation({
  name: "getCliLoginDone",
  method: "GET",
  path: "/user/cli-success",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Page shown after a command line has received its token",
  responds: responds.raw("text/html", "a page"),
  run: () => renderMessagePage(200, "Logged in", "The command line is logged in. You may close this page."),
});

export const cliLoginOperations: Operation[] = [showCliLogin, completeCliLogin, cliLoginDone];
