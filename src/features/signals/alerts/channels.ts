/** Sends alerts by mail, to a chat, or to a URL. */
import { hostname } from "node:os";
import { BadRequest, SvcError } from "../../../lib/errors.ts";
import { removeTrailingSlashes } from "../../../lib/text/slashes.ts";
import type { App } from "../../../platform/app/context.ts";
import type { CriticalChannel } from "../../../platform/config/setting-schemas.ts";
import { isSuccess, requestConfiguredUrl } from "../../../platform/outgoing/configured-targets.ts";
import type { OutgoingAnswer } from "../../../platform/outgoing/request.ts";
import { createMailMessage } from "../mail/mail-message.ts";
import { sendMail } from "../mail/send.ts";

/** Upper limit of the response, in bytes; only a short message is read from it. */
const MAX_RESPONSE_BYTES = 100_000;
/** Default base URL of Slack's API. */
export const CHAT_API_URL = "https://slack.com/api";

/** The content of an alert, independent of the channel. */
export interface AlertNotice {
  alert_type: "critical_error" | "recovered_critical_error";
  kind: string;
  message: string;
  workspace_id: string | null;
  created_at: Date;
  /** Undefined for a test alert. */
  id?: number;
}

export interface SendFailure {
  /** Display name of the channel, without secrets. */
  channel: string;
  error: string;
  at: string;
}

/** One destination of alerts. */
export type AlertChannel = Partial<Pick<CriticalChannel, "email" | "chat_channel" | "webhook_url">>;

/** Returns the destinations in the setting's entries; one entry may name several. */
export function listChannels(entries: readonly CriticalChannel[]): AlertChannel[] {
  return entries.flatMap(({ email, chat_channel, slack_channel, webhook_url }) => [
    ...(email === undefined ? [] : [{ email }]),
    ...(chat_channel === undefined ? [] : [{ chat_channel }]),
    ...(slack_channel === undefined || slack_channel === chat_channel
      ? []
      : [{ chat_channel: slack_channel }]),
    ...(webhook_url === undefined ? [] : [{ webhook_url }]),
  ]);
}

/** Returns a channel's display name. Of a URL it shows only the host, since the path may be a secret. */
export function describeChannel({ email, chat_channel, webhook_url }: AlertChannel): string {
  if (email !== undefined) return `e-mail ${email}`;
  if (webhook_url !== undefined) return `URL at ${new URL(webhook_url).host}`;
  return isUrl(chat_channel!) ? `chat at ${new URL(chat_channel!).host}` : `chat channel ${chat_channel}`;
}

/** Sends an alert to one channel. @throws SvcError saying what went wrong, without secrets */
export async function sendToChannel(app: App, channel: AlertChannel, notice: AlertNotice): Promise<void> {
  const { email, chat_channel, webhook_url } = channel;
  if (email !== undefined) return sendMail(app, email, composeAlertLetter(app, notice));
  if (webhook_url !== undefined) {
    await postJson(app, webhook_url, { type: "critical_alert", instance: instanceName(app), ...notice });
    return;
  }
  if (isUrl(chat_channel!)) await postJson(app, chat_channel!, { text: formatText(app, notice) });
  else await postToChannel(app, chat_channel!, formatText(app, notice));
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}

function formatHeadline({ alert_type, message, workspace_id }: AlertNotice): string {
  const what = alert_type === "critical_error" ? "Critical alert" : "Recovered";
  return `${what}${workspace_id === null ? "" : ` in workspace ${workspace_id}`}: ${message}`;
}

function formatText(app: App, notice: AlertNotice): string {
  return `${formatHeadline(notice)}\n${instanceName(app)}`;
}

function composeAlertLetter(app: App, notice: AlertNotice) {
  return createMailMessage(formatHeadline(notice).slice(0, 120), [
    formatHeadline(notice),
    `At ${notice.created_at.toISOString()}, on ${instanceName(app)} (${notice.kind}).`,
  ]);
}

/** Posts through the chat API: https://api.slack.com/methods/chat.postMessage */
async function postToChannel(app: App, channel: string, text: string): Promise<void> {
  const chat = app.settings.get("chat");
  const token = chat?.bot?.bot_access_token ?? chat?.access_token;
  if (!token) {
    throw new BadRequest("no chat is connected", {
      hint: "set the setting chat with its access_token, or give the URL of an incoming webhook as chat_channel",
    });
  }
  const url = `${removeTrailingSlashes(chat?.api_url ?? CHAT_API_URL)}/chat.postMessage`;
  const answer = await postJson(app, url, { channel, text }, { authorization: `Bearer ${token}` });
  const { ok, error } = parseChatResponse(answer);
  if (ok !== true)
    throw new BadRequest(
      `the chat rejected the message: ${String(error ?? "it gave no reason").slice(0, 200)}`,
    );
}

function parseChatResponse({ body }: OutgoingAnswer): { ok?: boolean; error?: string } {
  try {
    return JSON.parse(body.toString()) ?? {};
  } catch {
    return {};
  }
}

async function postJson(
  app: App,
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<OutgoingAnswer> {
  const answer = await requestConfiguredUrl(app, {
    url,
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
    timeout_ms: app.config.outgoing_timeout_s * 1_000,
    max_bytes: MAX_RESPONSE_BYTES,
  });
  if (isSuccess(answer)) return answer;
  throw new BadRequest(`${new URL(url).host} answered with status ${answer.status}`);
}

/** Returns the instance's URL, or the host name until it is known. */
const instanceName = (app: App) => app.urls.base || hostname();

/** Returns the reason of a failed delivery that may be shown to people. */
export function describeSendFailure(cause: unknown): string {
  return cause instanceof SvcError ? cause.message : "it failed; see the server's log";
}
