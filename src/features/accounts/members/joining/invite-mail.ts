import { inBackground } from "../../../../lib/async/background.ts";
import type { App } from "../../../../platform/app/context.ts";
import { letter } from "../../../signals/mail/letter.ts";
import { canMail, sendMail } from "../../../signals/mail/send.ts";

interface Invited {
  email: string;
  workspace_id: string;
  /** E-mail of who asked them in. */
  by: string;
  /** The name they have there, when they are a member at once; else they have to accept. */
  username?: string | undefined;
}

/**
 * Tells somebody that they are invited to a workspace, or belong to it now, where a mail server is set. Called after the
 * commit: nobody waits for the mail, and one that cannot be sent is a warning in the log.
 */
export function mailInvite(app: App, { email, workspace_id, by, username }: Invited): void {
  if (!canMail(app)) return;
  const login = `Log in at ${app.urls.base} with the e-mail address ${email}`;
  const words =
    username === undefined
      ? letter(`Invitation to workspace ${workspace_id}`, [
          `${by} invites you to the workspace ${workspace_id}.`,
          `${login}, and accept there or with this command:`,
          { code: `svc workspace accept ${workspace_id}` },
        ])
      : letter(`You are in workspace ${workspace_id}`, [
          `${by} has added you to the workspace ${workspace_id}. Your name there is ${username}.`,
          `${login}.`,
        ]);
  inBackground(
    app,
    () => sendMail(app, email, words),
    (cause) =>
      app.log.warn({ email, error: String(cause) }, "the mail with the invitation could not be sent"),
  );
}
