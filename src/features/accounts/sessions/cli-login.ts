/**
 * Logging in a command line from a browser: `wmill workspace add` without a token listens on a port of its own machine,
 * opens this page, and is sent the token that the person behind it agrees to.
 */
import { z } from "zod";
import { BadRequest } from "../../../lib/errors.ts";
import { escapeHtml } from "../../../lib/text/html.ts";
import { html, messagePage } from "../../../lib/text/html-page.ts";
import type { Context } from "../../../platform/app/context.ts";
import { readText } from "../../../platform/http/input.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { asPage, redirectTo } from "../../assets/connecting/pages.ts";
import { issueToken } from "../../tenancy/tokens/service.ts";
import { loginCookies } from "./cookies.ts";
import { login, originOf } from "./sessions.ts";

const LABEL = "command line";
const LIFETIME_MS = 30 * 86_400_000;
/** Most bytes that the page's form may hold. */
const MAX_FORM = 10_000;

const Port = z.coerce.number().int().min(1).max(65_535);
const Form = z.object({ email: z.string(), password: z.string() });

/**
 * Who is logged in in this browser. A token that is restricted, or a job's, makes no other.
 * @returns undefined when somebody has to log in first
 */
function emailOf({ caller }: Context): string | undefined {
  const { identity } = caller;
  const token = identity?.token;
  const isWhole = token && !token.job && !token.workspace_id && !token.scopes?.length;
  return isWhole ? identity.email : undefined;
}

function formPage(ctx: Context, port: number, refusal?: string): Response {
  const email = emailOf(ctx);
  const fields = `<label>E-mail <input name="email" type="email" required></label>
<label>Password <input name="password" type="password" required autocomplete="current-password"></label>`;
  const who = email === undefined ? fields : `<p>You are logged in as <b>${escapeHtml(email)}</b>.</p>`;
  const page = html(
    refusal === undefined ? 200 : 400,
    "Log in a command line",
    `${refusal === undefined ? "" : `<p role="alert">${escapeHtml(refusal)}</p>\n`}<p>A program on this computer (port ${port}) asks for a token that acts as you. Go on only if you started it.</p>
<form method="post" action="/user/cli?port=${port}">
${who}
<button>Log in</button>
</form>`,
  );
  // Without a referrer, browsers would not say either that the form is a page's of this server.
  page.headers.set("referrer-policy", "same-origin");
  // A form may lead no further than its policy says, redirects included.
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
  summary: "The page that a command line opens to be logged in",
  query: z.object({ port: Port }),
  responds: responds.raw("text/html", "a form"),
  run: (ctx, { query }) => formPage(ctx, query.port),
});

const completeCliLogin = operation({
  name: "completeCliLogin",
  method: "POST",
  path: "/user/cli",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Make a token for the command line that listens on this port of the caller's computer",
  query: z.object({ port: Port }),
  reads: { "application/x-www-form-urlencoded": Form },
  responds: responds.raw("text/html", "a redirect to the command line"),
  audit: { operation: "users.token.create", action_kind: "Create" },
  run: (ctx, { query: { port } }) =>
    asPage(async () => {
      const { app } = ctx;
      let email = emailOf(ctx);
      let cookies: string[] = [];
      if (email === undefined) {
        const form = Form.safeParse(
          Object.fromEntries(new URLSearchParams(await readText(ctx.request, MAX_FORM))),
        );
        if (!form.success) return formPage(ctx, port, "Give an e-mail and a password.");
        try {
          const session = await login(ctx, form.data, originOf(ctx.request));
          email = session.email;
          cookies = loginCookies(app, email, session);
        } catch (cause) {
          if (!(cause instanceof BadRequest)) throw cause;
          return formPage(ctx, port, cause.message);
        }
      }
      const owner = email;
      const expiration = new Date(app.clock().getTime() + LIFETIME_MS);
      const token = await ctx.write({ resource: LABEL, by: owner }, (tx) =>
        issueToken(app, tx, { email: owner, label: LABEL, expiration, kind: "user" }),
      );
      return redirectTo(`http://localhost:${port}/?token=${token}`, cookies);
    }),
});

const cliLoginDone = operation({
  name: "getCliLoginDone",
  method: "GET",
  path: "/user/cli-success",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Where a command line sends the browser once it has its token",
  responds: responds.raw("text/html", "a page"),
  run: () => messagePage(200, "Logged in", "The command line is logged in. You may close this page."),
});

export const cliLoginOperations: Operation[] = [showCliLogin, completeCliLogin, cliLoginDone];
