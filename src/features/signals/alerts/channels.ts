/** Tells of an alert by mail, in a chat, or to a URL. */
import { hostname } from "node:os";
import { BadRequest, SvcError } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import type { CriticalChannel } from "../../../platform/config/values.ts";
import type { OutgoingAnswer } from "../../../platform/outgoing/request.ts";
import { askNamed, isSuccess } from "../../../platform/outgoing/settings.ts";
import { letter } from "../mail/letter.ts";
import { sendMail } from "../mail/send.ts";

/** For a chat or a URL to answer. */
const ANSWER_MS = 10_000;
/** Bytes of the answer: more than a few words of it nobody needs. */
const MAX_ANSWER = 100_000;
/** Where the chat product's own interface is. */
export const CHAT_API = "https://slack.com/api";

/** What is told, whichever way. */
export interface Notice {
  alert_type: "critical_error" | "recovered_critical_error";
  kind: string;
  message: string;
  workspace_id: string | null;
  created_at: Date;
  /** Undefined for a trial. */
  id?: number;
}

export interface SendFailure {
  /** Without what is secret in it. */
  channel: string;
  error: string;
  at: string;
}

/** One place that alerts are sent to. */
export type Channel = Partial<Pick<CriticalChannel, "email" | "chat_channel" | "webhook_url">>;

/** The places that the setting's entries name: an entry may name several. */
export function channelsOf(entries: readonly CriticalChannel[]): Channel[] {
  return entries.flatMap(({ email, chat_channel, slack_channel, webhook_url }) => [
    ...(email === undefined ? [] : [{ email }]),
    ...(chat_channel === undefined ? [] : [{ chat_channel }]),
    ...(slack_channel === undefined || slack_channel === chat_channel
      ? []
      : [{ chat_channel: slack_channel }]),
    ...(webhook_url === undefined ? [] : [{ webhook_url }]),
  ]);
}

/** What a channel is called where others read it: of a URL only the host, since the rest is as good as a key. */
export function nameOf({ email, chat_channel, webhook_url }: Channel): string {
  if (email !== undefined) return `e-mail ${email}`;
  if (webhook_url !== undefined) return `URL at ${new URL(webhook_url).host}`;
  return isUrl(chat_channel!) ? `chat at ${new URL(chat_channel!).host}` : `chat channel ${chat_channel}`;
}

/**
 * Sends to one channel.
 * @throws SvcError saying what went wrong, with nothing secret in it
 */
export async function send(app: App, channel: Channel, notice: Notice): Promise<void> {
  const { email, chat_channel, webhook_url } = channel;
  if (email !== undefined) return sendMail(app, email, toLetter(app, notice));
  if (webhook_url !== undefined) {
    await post(app, webhook_url, { type: "critical_alert", instance: instanceOf(app), ...notice });
    return;
  }
  if (isUrl(chat_channel!)) await post(app, chat_channel!, { text: toText(app, notice) });
  else await postToChannel(app, chat_channel!, toText(app, notice));
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

function headline({ alert_type, message, workspace_id }: Notice): string {
  const what = alert_type === "critical_error" ? "Critical alert" : "Recovered";
  return `${what}${workspace_id === null ? "" : ` in workspace ${workspace_id}`}: ${message}`;
}

function toText(app: App, notice: Notice): string {
  return `${headline(notice)}\n${instanceOf(app)}`;
}

function toLetter(app: App, notice: Notice) {
  return letter(headline(notice).slice(0, 120), [
    headline(notice),
    `At ${notice.created_at.toISOString()}, on ${instanceOf(app)} (${notice.kind}).`,
  ]);
}

/** By the chat's own interface: https://api.slack.com/methods/chat.postMessage */
async function postToChannel(app: App, channel: string, text: string): Promise<void> {
  const chat = app.settings.get("chat");
  const token = chat?.bot?.bot_access_token ?? chat?.access_token;
  if (!token) {
    throw new BadRequest("no chat is connected", {
      hint: "set the setting chat with its access_token, or give the URL of an incoming webhook as chat_channel",
    });
  }
  const url = `${(chat?.api_url ?? CHAT_API).replace(/\/+$/, "")}/chat.postMessage`;
  const answer = await post(app, url, { channel, text }, { authorization: `Bearer ${token}` });
  const { ok, error } = parsed(answer);
  if (ok !== true)
    throw new BadRequest(`the chat refuses the message: ${String(error ?? "it says no more").slice(0, 200)}`);
}

function parsed({ body }: OutgoingAnswer): { ok?: boolean; error?: string } {
  try {
    return JSON.parse(body.toString()) ?? {};
  } catch {
    return {};
  }
}

async function post(
  app: App,
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<OutgoingAnswer> {
  const answer = await askNamed(app, {
    url,
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
    timeout_ms: ANSWER_MS,
    max_bytes: MAX_ANSWER,
  });
  if (isSuccess(answer)) return answer;
  throw new BadRequest(`${new URL(url).host} answers with status ${answer.status}`);
}

/** The instance's address; before it listens anywhere, the machine's name. */
const instanceOf = (app: App) => app.urls.base || hostname();

/** What may be told of a failed sending. */
export function reasonOf(cause: unknown): string {
  return cause instanceof SvcError ? cause.message : "it failed; the log says more";
}
