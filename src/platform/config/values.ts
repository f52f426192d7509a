/** The settings that are more than a word or a number, as they stand on the wire. */
import { z } from "zod";
import { optional } from "../../lib/zod.ts";

export const text = z.string().min(1).max(100_000);
export const list = z.array(z.string().min(1).max(1000)).max(1000);

export const wholeFrom = (least: number, most: number) => z.number().int().min(least).max(most);

/** An empty text is how forms say that there is none. */
const word = z
  .string()
  .max(10_000)
  .nullish()
  .transform((given) => given || undefined);

/** The mail server. Without either flag the connection is secured by STARTTLS (RFC 3207), and refused where it cannot be. */
export const SmtpSettings = z.looseObject({
  smtp_host: z.string().min(1).max(255),
  smtp_port: z.number().int().min(1).max(65_535),
  /** The address mails come from, bare or as `svc <svc@example.org>`. */
  smtp_from: z.string().min(1).max(500),
  smtp_username: word,
  smtp_password: word,
  /** TLS from the first byte on (RFC 8314 §3), as port 465 has it. */
  smtp_tls_implicit: optional(z.boolean()),
  /** No TLS at all: for a server on the same machine or network. */
  smtp_disable_tls: optional(z.boolean()),
  /** PEM of an authority of one's own that the server's certificate is checked with. */
  smtp_ca: word,
});
export type SmtpSettings = z.output<typeof SmtpSettings>;

/** Where alerts are sent: to each that is named. */
export const CriticalChannel = z
  .looseObject({
    email: word,
    /** A channel's name, for which the chat must be connected (setting `chat`), or the URL of an incoming webhook. */
    chat_channel: word,
    /** The same by the name of existing clients. */
    slack_channel: word,
    /** Gets the alert as JSON. */
    webhook_url: optional(z.url({ protocol: /^https?$/, error: "must be a URL with http:// or https://" })),
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

/** What connecting a chat answers (TokenResponse with its team), as far as posting needs it. */
export const ChatConnection = z
  .looseObject({
    access_token: word,
    bot: z.looseObject({ bot_access_token: word }).nullish(),
    /** Where `chat.postMessage` is; another one than the product's own stands in for it. */
    api_url: optional(z.url({ protocol: /^https?$/, error: "must be a URL with http:// or https://" })),
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
    /** A public client has none: PKCE stands for it (RFC 9700 §2.1.1). */
    secret: word,
  }),
);

export const ObjectStoreCache = z.looseObject({ type: z.string().min(1) });
