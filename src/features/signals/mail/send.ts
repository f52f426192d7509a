/** Sends mail through the server in the setting `smtp_settings`, read for each mail. */

import { isIP } from "node:net";
import type { SendMailOptions } from "nodemailer";
import { withTimeout } from "../../../lib/async/sleep.ts";
import { BadRequest, type SvcError } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import type { SmtpSettings } from "../../../platform/config/setting-schemas.ts";
import { allowHosts } from "../../../platform/outgoing/configured-targets.ts";
import { resolveAllowedAddresses } from "../../../platform/outgoing/connect.ts";
import type { MailMessage } from "./mail-message.ts";

/** Timeout of the whole mail, in timeouts of one step. */
const MAX_STEP_TIMEOUTS = 3;
/** Failures after which the next address of the host is tried. */
const UNREACHABLE = /ECONNREFUSED|ENETUNREACH|EHOSTUNREACH/;

/** Returns whether a mail server is configured. */
export function isMailConfigured(app: App): boolean {
  return app.settings.get("smtp_settings") !== undefined;
}

/**
 * Sends one mail, with a text and an HTML part.
 * @throws BadRequest saying what is missing or what went wrong, within MAX_STEP_TIMEOUTS timeouts
 */
export async function sendMail(app: App, to: string, message: MailMessage): Promise<void> {
  const server = app.settings.get("smtp_settings");
  if (!server) {
    throw new BadRequest("no mail server is set", {
      hint: "a super admin sets smtp_settings, and tests it with settings/test_smtp",
    });
  }
  await sendMailThrough(app, server, to, message);
}

/** Sends a mail through the given server. @throws BadRequest */
export async function sendMailThrough(
  app: App,
  server: SmtpSettings,
  to: string,
  message: MailMessage,
): Promise<void> {
  const sent = sendToServer(app, server, { from: server.smtp_from, to, ...message });
  try {
    await withTimeout(MAX_STEP_TIMEOUTS * getStepTimeout(app), sent, () =>
      Object.assign(new Error(), { code: "ETIMEDOUT" }),
    );
  } catch (cause) {
    throw describeSmtpFailure(cause, server);
  }
}

/** Returns the timeout of each step in milliseconds: DNS lookup, connecting, greeting, and every response. */
const getStepTimeout = ({ config }: App) => config.outgoing_timeout_s * 1_000;

/** Sends to the first of the host's addresses that accepts connections; each is checked like any outgoing target. */
async function sendToServer(app: App, server: SmtpSettings, mail: SendMailOptions): Promise<void> {
  const { smtp_host } = server;
  const signal = AbortSignal.timeout(getStepTimeout(app));
  const addresses = await resolveAllowedAddresses(smtp_host, allowHosts(app, [smtp_host]), signal);
  for (const [index, address] of addresses.entries()) {
    try {
      return await sendToAddress(address, server, mail, getStepTimeout(app));
    } catch (cause) {
      if (index === addresses.length - 1 || !UNREACHABLE.test((cause as Error).message)) throw cause;
    }
  }
}

/** Connects to the address; the certificate check uses the host name. */
async function sendToAddress(
  address: string,
  server: SmtpSettings,
  mail: SendMailOptions,
  timeout_ms: number,
): Promise<void> {
  const { createTransport } = await import("nodemailer");
  const { smtp_host, smtp_port, smtp_username, smtp_password } = server;
  const transport = createTransport({
    host: address,
    port: smtp_port,
    secure: server.smtp_tls_implicit ?? false,
    ignoreTLS: server.smtp_disable_tls ?? false,
    requireTLS: !server.smtp_disable_tls && !server.smtp_tls_implicit,
    ...(smtp_username ? { auth: { user: smtp_username, pass: smtp_password ?? "" } } : {}),
    tls: {
      ...(isIP(smtp_host) === 0 ? { servername: smtp_host } : {}),
      ...(server.smtp_ca ? { ca: server.smtp_ca } : {}),
    },
    connectionTimeout: timeout_ms,
    greetingTimeout: timeout_ms,
    socketTimeout: timeout_ms,
    // Letters never contain attachments, so files and URLs are not read.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail(mail);
  } finally {
    transport.close();
  }
}

interface SmtpFailure {
  code?: string;
  /** The server's response (RFC 5321 §4.2). */
  response?: string;
  message?: string;
}

/** Failures recognized by their message, because their code is ambiguous. */
const KNOWN_FAILURES: [sign: RegExp, text: string, hint?: string][] = [
  [/certificate|altname/i, "shows a certificate that is not trusted", "give its authority's PEM as smtp_ca"],
  [
    /wrong.version/i,
    "does not speak TLS from the first byte on",
    "leave tls_implicit off: STARTTLS is then used",
  ],
  [/ECONNREFUSED/, "cannot be reached: nothing listens there", "check the host and the port"],
];

function describeSmtpFailure(cause: unknown, server: SmtpSettings): SvcError {
  const { code = "", response, message = "" } = cause as SmtpFailure;
  const place = `the mail server ${server.smtp_host}:${server.smtp_port}`;
  const said = formatReason(response ?? message);
  const refuse = (text: string, hint?: string) =>
    new BadRequest(`${place} ${text}`, { cause, ...(hint ? { hint } : {}) });
  const told = KNOWN_FAILURES.find(([sign]) => sign.test(message));
  if (told) return refuse(`${told[1]}${said}`, told[2]);
  // 530: authentication required (RFC 4954 §6).
  if (code === "ENOAUTH" || response?.startsWith("530"))
    return refuse(`wants a username and a password${said}`);
  switch (code) {
    case "EAUTH":
      return refuse(`refuses the username or the password${said}`);
    case "ENOTFOUND":
    case "DNS_ENOTFOUND":
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

/** Formats a reason as the end of a sentence, on one line. */
function formatReason(text: string): string {
  return text ? `: ${text.replace(/\s+/g, " ").slice(0, 200)}` : "";
}
