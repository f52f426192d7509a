import { runInBackground } from "../../../../lib/async/background.ts";
import type { App } from "../../../../platform/app/context.ts";
import { createMailMessage } from "../../../signals/mail/mail-message.ts";
import { isMailConfigured, sendMail } from "../../../signals/mail/send.ts";

interface Invitation {
  email: string;
  workspace_id: string;
  /** E-mail of the admin who invited them. */
  by: string;
  /** Their username, if they are a member already; undefined if they must accept. */
  username?: string | undefined;
}

/**
 * Mails a person that they were invited or added to a workspace, if a mail server is configured. Call it after the
 * commit. Sending runs in the background; a failure is only logged.
 */
export function mailInvite(app: App, { email, workspace_id, by, username }: Invitation): void {
  if (!isMailConfigured(app)) return;
  const login = `Log in at ${app.urls.base} with the e-mail address ${email}`;
  const words =
    username === undefined
      ? createMailMessage(`Invitation to workspace ${workspace_id}`, [
          `${by} invites you to the workspace ${workspace_id}.`,
          `${login}, and accept there or with this command:`,
          { code: `svc workspace accept ${workspace_id}` },
        ])
      : createMailMessage(`You are in workspace ${workspace_id}`, [
          `${by} has added you to the workspace ${workspace_id}. Your name there is ${username}.`,
          `${login}.`,
        ]);
  runInBackground(
    app,
    () => sendMail(app, email, words),
    (cause) =>
      app.log.warn({ email, error: String(cause) }, "the mail with the invitation could not be sent"),
  );
}
