/** Mails go out through the server of the setting `smtp_settings`, as it is at that moment. */

import { withinMs } from "../../../lib/async/sleep.ts";
import { BadRequest, type SvcError } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import type { SmtpSettings } from "../../../platform/config/values.ts";
import type { Letter } from "./letter.ts";

/** For each of looking up the name, connecting, the greeting, and every answer after it. */
const STEP_MS = 10_000;
/** For a whole mail. */
const MAIL_MS = 30_000;

/** Whether mails can be sent: a mail server is set. */
export function canMail(app: App): boolean {
  return app.settings.get("smtp_settings") !== undefined;
}

/**
 * Sends one mail, with its text and its HTML part.
 * @throws BadRequest saying what is missing or what went wrong, within MAIL_MS
 */
export async function sendMail(app: App, to: string, letter: Letter): Promise<void> {
  const server = app.settings.get("smtp_settings");
  if (!server) {
    throw new BadRequest("no mail server is set", {
      hint: "a super admin sets smtp_settings, and tries it with settings/test_smtp",
    });
  }
  await sendThrough(server, to, letter);
}

/**
 * The same through a server that is given.
 * @throws BadRequest
 */
export async function sendThrough(server: SmtpSettings, to: string, letter: Letter): Promise<void> {
  const { createTransport } = await import("nodemailer");
  const { smtp_host, smtp_port, smtp_username, smtp_password } = server;
  const transport = createTransport({
    host: smtp_host,
    port: smtp_port,
    secure: server.smtp_tls_implicit ?? false,
    ignoreTLS: server.smtp_disable_tls ?? false,
    requireTLS: !server.smtp_disable_tls && !server.smtp_tls_implicit,
    ...(smtp_username ? { auth: { user: smtp_username, pass: smtp_password ?? "" } } : {}),
    ...(server.smtp_ca ? { tls: { ca: server.smtp_ca } } : {}),
    dnsTimeout: STEP_MS,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    // A letter is words of ours: no file or address it might name is read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const sent = transport.sendMail({ from: server.smtp_from, to, ...letter });
  try {
    await withinMs(MAIL_MS, sent, () => Object.assign(new Error(), { code: "ETIMEDOUT" }));
  } catch (cause) {
    throw explained(cause, server);
  } finally {
    transport.close();
  }
}

interface SmtpFailure {
  code?: string;
  /** What the server answered (RFC 5321 §4.2). */
  response?: string;
  message?: string;
}

/** What the text of a failure tells of it, where its code does not. */
const TOLD: [sign: RegExp, text: string, hint?: string][] = [
  [/certificate|altname/i, "shows a certificate that is not trusted", "give its authority's PEM as smtp_ca"],
  [
    /wrong.version/i,
    "does not speak TLS from the first byte on",
    "leave tls_implicit off: STARTTLS is then used",
  ],
  [/ECONNREFUSED/, "cannot be reached: nothing listens there", "check the host and the port"],
];

function explained(cause: unknown, server: SmtpSettings): SvcError {
  const { code = "", response, message = "" } = cause as SmtpFailure;
  const place = `the mail server ${server.smtp_host}:${server.smtp_port}`;
  const said = because(response ?? message);
  const refuse = (text: string, hint?: string) =>
    new BadRequest(`${place} ${text}`, { cause, ...(hint ? { hint } : {}) });
  const told = TOLD.find(([sign]) => sign.test(message));
  if (told) return refuse(`${told[1]}${said}`, told[2]);
  // 530: authentication required (RFC 4954 §6).
  if (code === "ENOAUTH" || response?.startsWith("530"))
    return refuse(`wants a username and a password${said}`);
  switch (code) {
    case "EAUTH":
      return refuse(`refuses the username or the password${said}`);
    case "EDNS":
      return refuse("cannot be found: its name has no address", "check the host");
    case "ETIMEDOUT":
      return refuse(
        "does not answer in time",
        "check the host, the port, and whether it expects TLS from the first byte on",
      );
    case "ETLS":
      return refuse(
        `offers no STARTTLS${said}`,
        "for TLS from the first byte on set tls_implicit; for none at all, disable_tls",
      );
    case "EENVELOPE":
      return refuse(`refuses the sender or the recipient${said}`);
    case "EMESSAGE":
      return refuse(`refuses the mail${said}`);
    default:
      return refuse(`cannot be used${said}`);
  }
}

/** The end of a sentence that tells why, on one line. */
function because(text: string): string {
  return text ? `: ${text.replace(/\s+/g, " ").slice(0, 200)}` : "";
}
