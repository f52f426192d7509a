/** Schemas of structured settings, as clients send them. */
import { optionalField } from "../../lib/zod/fields.ts";
import * as z from "../../lib/zod/z.ts";

export const textSchema = z.string().min(1).max(100_000);
export const textListSchema = z.array(z.string().min(1).max(1000)).max(1000);

export const integerBetween = (minimum: number, limit: number) => z.number().int().min(minimum).max(limit);

/** Forms send an empty text for "none". */
const optionalText = z
  .string()
  .max(10_000)
  .nullish()
  .transform((given) => given || undefined);

/** Mail server. Unless a flag says otherwise, the connection requires STARTTLS (RFC 3207). */
export const SmtpSettings = z.looseObject({
  smtp_host: z.string().min(1).max(255),
  smtp_port: z.number().int().min(1).max(65_535),
  /** Sender address, bare or as `svc <svc@example.org>`. */
  smtp_from: z.string().min(1).max(500),
  smtp_username: optionalText,
  smtp_password: optionalText,
  /** TLS from the first byte on (RFC 8314 §3), as on port 465. */
  smtp_tls_implicit: optionalField(z.boolean()),
  /** No TLS at all, for a server on the same machine or network. */
  smtp_disable_tls: optionalField(z.boolean()),
  /** PEM of a private certificate authority that signed the server's certificate. */
  smtp_ca: optionalText,
});
export type SmtpSettings = z.output<typeof SmtpSettings>;

/** Destination of alerts; an alert goes to each one that is set. */
export const CriticalChannel = z
  .looseObject({
    email: optionalText,
    /** Channel name (requires the setting `chat`), or URL of an incoming webhook. */
    chat_channel: optionalText,
    /** Alias of `chat_channel` used by existing clients. */
    slack_channel: optionalText,
    /** Receives the alert as JSON. */
    webhook_url: optionalField(
      z.url({ protocol: /^https?$/, error: "must be a URL with http:// or https://" }),
    ),
  })
  .refine(
    ({ email, chat_channel, slack_channel, webhook_url }) =>
      (email ?? chat_channel ?? slack_channel ?? webhook_url) !== undefined,
    "must have one of email, chat_channel and webhook_url, or several",
  )
  .refine(({ email }) => email === undefined || /^[^\s@]+@[^\s@]+$/.test(email), {
    path: ["email"],
    error: "must be an e-mail address",
  });
export type CriticalChannel = z.output<typeof CriticalChannel>;

export const CriticalChannels = z.array(CriticalChannel).max(50);

/** Slack's response to connecting it (TokenResponse with its team), as far as posting needs it. */
export const ChatConnection = z
  .looseObject({
    access_token: optionalText,
    bot: z.looseObject({ bot_access_token: optionalText }).nullish(),
    /** Base URL of `chat.postMessage`; overrides the product's own. */
    api_url: optionalField(z.url({ protocol: /^https?$/, error: "must be a URL with http:// or https://" })),
  })
  .refine(
    (chat) => chat.access_token ?? chat.bot?.bot_access_token,
    "must have access_token or bot.bot_access_token",
  );
export type ChatConnection = z.output<typeof ChatConnection>;

export const OauthClients = z.record(
  z.string().min(1).max(100),
  z.looseObject({
    id: z.string().min(1),
    /** Absent for public clients, which use PKCE (RFC 9700 §2.1.1). */
    secret: optionalText,
  }),
);

export const ObjectStoreCache = z.looseObject({ type: z.string().min(1) });
