import { runInBackground } from "../../../lib/async/background.ts";
import { parseEmail } from "../../../lib/text/paths.ts";
import type { App } from "../../../platform/app/context.ts";
import { createMailMessage } from "../../signals/mail/mail-message.ts";
import { isMailConfigured, sendMail } from "../../signals/mail/send.ts";

/**
 * Mails a new user their initial password, if a mail server is configured. Call it after the commit. Sending runs in
 * the background; a failure is only logged, since the user exists already.
 */
export function mailInitialPassword(app: App, user: { email: string; password: string }): void {
  if (!isMailConfigured(app)) return;
  const { password } = user;
  const email = parseEmail(user.email);
  const words = createMailMessage("Your account", [
    `An account was made for you at ${app.urls.base}.`,
    `Log in with the e-mail address ${email} and this password:`,
    { code: password },
    "Please change it after the first login.",
  ]);
  runInBackground(
    app,
    () => sendMail(app, email, words),
    (cause) =>
      app.log.warn({ email, error: String(cause) }, "the mail with the initial password could not be sent"),
  );
}
