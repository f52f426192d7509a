import { inBackground } from "../../../lib/async/background.ts";
import { checkEmail } from "../../../lib/text/paths.ts";
import type { App } from "../../../platform/app/context.ts";
import { letter } from "../../signals/mail/letter.ts";
import { canMail, sendMail } from "../../signals/mail/send.ts";

/**
 * Tells a new user the password that was chosen for them, where a mail server is set. Called after the commit that made
 * the user: nobody waits for the mail, and one that cannot be sent is a warning in the log, since the user stands.
 */
export function mailInitialPassword(app: App, user: { email: string; password: string }): void {
  if (!canMail(app)) return;
  const { password } = user;
  const email = checkEmail(user.email);
  const words = letter("Your account", [
    `An account was made for you at ${app.urls.base}.`,
    `Log in with the e-mail address ${email} and this password:`,
    { code: password },
    "Please change it after the first login.",
  ]);
  inBackground(
    app,
    () => sendMail(app, email, words),
    (cause) =>
      app.log.warn({ email, error: String(cause) }, "the mail with the initial password could not be sent"),
  );
}
