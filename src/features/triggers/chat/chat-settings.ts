/** Settings for Slack: the client `chat` in the setting `oauths`, and the setting `chat`. */
import { NotFound } from "../../../lib/errors.ts";
import { removeTrailingSlashes } from "../../../lib/text/slashes.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { CHAT_CLIENT } from "../../assets/connecting/connect.ts";
import { CHAT_API_URL } from "../../signals/alerts/channels.ts";

const ChatClient = z.looseObject({
  /** Secret with which Slack signs its requests. */
  signing_secret: z.string().min(1).optional().catch(undefined),
});

/** Returns the secret with which Slack signs its requests. @throws NotFound if it is not set */
export function getSigningSecret(app: App): string {
  const { signing_secret } = ChatClient.parse(app.settings.get("oauths")?.[CHAT_CLIENT] ?? {});
  if (signing_secret !== undefined) return signing_secret;
  throw new NotFound("Slack's signing secret", {
    hint: "a super admin sets it: setting oauths, client chat, field signing_secret",
  });
}

/** Returns the base URL for posting messages: Slack's API, or the URL in the setting `chat`. */
export function getChatApiUrl(app: App): string {
  return removeTrailingSlashes(app.settings.get("chat")?.api_url ?? CHAT_API_URL);
}
