import { parseEmail } from "../../../lib/text/paths.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { parseSettingValue } from "../../../platform/config/parse-setting.ts";
import type { SmtpSettings } from "../../../platform/config/setting-schemas.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { createMailMessage } from "./mail-message.ts";
import { sendMailThrough } from "./send.ts";

/** The mail settings, under the field names of this operation. */
const TestSettings = z.object({
  host: z.string(),
  username: z.string(),
  password: z.string(),
  port: z.number().int(),
  from: z.string(),
  tls_implicit: z.boolean(),
  disable_tls: z.boolean(),
  /** PEM of a private certificate authority. */
  ca: optionalField(z.string()),
});

export const testSmtp = operation({
  name: "testSmtp",
  method: "POST",
  path: "/settings/test_smtp",
  access: "superAdmin",
  summary: "Send a test mail through the given server, and report the result",
  body: z.object({ to: z.string(), smtp: TestSettings }),
  responds: responds.text("confirmation"),
  audit: { operation: "settings.test_smtp", action_kind: "Execute" },
  run: async (ctx, { body }) => {
    const to = parseEmail(body.to);
    const server = toSmtpSettings(body.smtp);
    const place = `${server.smtp_host}:${server.smtp_port}`;
    await ctx.write({ resource: to, parameters: { server: place } }, async () => {});
    await sendMailThrough(
      ctx.app,
      server,
      to,
      createMailMessage("Test mail", [
        `This mail was sent by ${ctx.app.urls.base} to try its mail server. It works.`,
      ]),
    );
    return `mail sent to ${to} through ${place}`;
  },
});

function toSmtpSettings(given: z.output<typeof TestSettings>): SmtpSettings {
  return parseSettingValue("smtp_settings", {
    smtp_host: given.host,
    smtp_port: given.port,
    smtp_from: given.from,
    smtp_username: given.username,
    smtp_password: given.password,
    smtp_tls_implicit: given.tls_implicit,
    smtp_disable_tls: given.disable_tls,
    smtp_ca: given.ca,
  }) as SmtpSettings;
}

export const mailOperations: Operation[] = [testSmtp];
