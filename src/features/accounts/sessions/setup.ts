/**
 * Creation of the first admin account by a one-time link, which is printed as long as no user exists. There is no
 * default password.
 */
import { timingSafeEqual } from "node:crypto";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { NotFound } from "../../../lib/errors.ts";
import { escapeHtml } from "../../../lib/text/html.ts";
import { renderPage } from "../../../lib/text/html-page.ts";
import { createRandomText, sha256 } from "../../../lib/text/ids.ts";
import { parseNewEmail } from "../../../lib/text/paths.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { recordInstanceEvent } from "../../signals/webhooks/instance-events.ts";
import { countUsers, createUserRow, insertUser } from "../users/service.ts";
import type { Session } from "./cookies.ts";
import { startSession } from "./sessions.ts";

interface SetupLink {
  token: string | undefined;
}

/** In memory only: a restart creates a new link. */
const setupLink = memoizePerApp<App, SetupLink>(() => ({ token: undefined }));

/** Returns the path of the setup page, creating the link if needed; undefined once a user exists. */
export async function createSetupLink(app: App): Promise<string | undefined> {
  const link = setupLink(app);
  if ((await countUsers(app.db.read)) > 0) link.token = undefined;
  else link.token ??= createRandomText(32);
  return link.token === undefined ? undefined : `/api/setup/${link.token}`;
}

/** Checks the token of the setup link. @throws NotFound if the token is not that of the current link */
export function requireSetupToken(app: App, given: string): void {
  const { token } = setupLink(app);
  if (token === undefined || !timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(token)))) {
    throw new NotFound("this setup link is not valid", {
      hint: "a server without users prints a new one when it starts",
    });
  }
}

/** Creates the first admin account and logs in as it. @returns their session */
export async function completeSetup(
  ctx: Context,
  given: string,
  body: { email: string; password: string },
): Promise<Session & { email: string }> {
  const { app } = ctx;
  requireSetupToken(app, given);
  const email = parseNewEmail(body.email);
  const row = await createUserRow(app, { email, password: body.password, super_admin: true });
  return ctx.write({ resource: email, actor_email: email }, async (tx) => {
    await tx.lock("first user");
    if ((await countUsers(tx)) > 0)
      throw new NotFound("this setup link is no longer valid: there is a user already");
    await insertUser(tx, row);
    await recordInstanceEvent(app, tx, { type: "UserAdded", email });
    const session = await startSession(app, tx, email, null);
    tx.afterCommit(() => {
      setupLink(app).token = undefined;
    });
    return { ...session, email };
  });
}

/** Renders the setup page, without scripts or external resources. */
export function renderSetupPage(action: string): Response {
  return renderPage(
    200,
    "Set up svc",
    `<p>Create the first admin account of this server. The link works once.</p>
<form method="post" action="${action}">
<label>E-mail <input name="email" type="email" required autofocus autocomplete="username"></label>
<label>Password, at least 8 characters
<input name="password" type="password" required minlength="8" autocomplete="new-password"></label>
<label>The same password again
<input name="password_again" type="password" required minlength="8" autocomplete="new-password"></label>
<button>Create the account</button>
</form>`,
  );
}

/** Renders the page shown after the setup, with the next steps. */
export function renderSetupDonePage(base: string, email: string): Response {
  const who = escapeHtml(email);
  return renderPage(
    201,
    "svc is set up",
    `<p>You are logged in as ${who}. Next, at a terminal:</p>
<pre>svc login ${escapeHtml(base)} --email ${who}
svc workspace create main
svc script new hello.ts</pre>
<p>The operations are described in <a href="/api/docs">the reference</a>.</p>`,
  );
}
