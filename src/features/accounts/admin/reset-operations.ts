/** Operations to reset a forgotten password. */
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { isMailConfigured } from "../../signals/mail/send.ts";
import { getLoginOrigin } from "../sessions/sessions.ts";
import { requestPasswordReset, resetPassword } from "./password-reset.ts";

const isSmtpConfigured = operation({
  name: "isSmtpConfigured",
  method: "GET",
  path: "/auth/is_smtp_configured",
  access: "anyone",
  scope: false,
  summary: "Check whether password reset by mail is available",
  responds: responds.json(z.boolean()),
  run: (ctx) => isMailConfigured(ctx.app) && !ctx.app.settings.get("disable_password_login"),
});

const requestReset = operation({
  name: "requestPasswordReset",
  method: "POST",
  path: "/auth/request_password_reset",
  access: "anyone",
  scope: false,
  summary: "Mail a link that sets a new password; the response does not reveal whether the account exists",
  body: z.object({ email: z.string().max(320) }),
  responds: responds.json(z.object({ message: z.string() })),
  run: async (ctx, { body }) => {
    await requestPasswordReset(ctx, body.email, getLoginOrigin(ctx.request).address);
    return { message: "if there is an account with a password and this e-mail, a link is on its way" };
  },
});

const reset = operation({
  name: "resetPassword",
  method: "POST",
  path: "/auth/reset_password",
  access: "anyone",
  scope: false,
  summary: "Set a new password with the token of a mailed link; all sessions of the account end",
  body: z.object({ token: z.string().max(2_000), new_password: z.string() }),
  responds: responds.json(z.object({ message: z.string() })),
  audit: { operation: "users.setpassword", action_kind: "Update" },
  run: async (ctx, { body }) => {
    await resetPassword(ctx, body.token, body.new_password);
    return { message: "the password is set: log in with it" };
  },
});

export const resetOperations: Operation[] = [isSmtpConfigured, requestReset, reset];
