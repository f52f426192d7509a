/** What is set of the chat product: the client `chat` of the setting oauths, and the setting chat. */
import { z } from "zod";
import { NotFound } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { CHAT } from "../../assets/connecting/connect.ts";
import { CHAT_API } from "../../signals/alerts/channels.ts";

const ChatClient = z.looseObject({
  /** What the product signs its requests with. */
  signing_secret: z.string().min(1).optional().catch(undefined),
});

/** @throws NotFound while none is set */
export function signingSecret(app: App): string {
  const { signing_secret } = ChatClient.parse(app.settings.get("oauths")?.[CHAT] ?? {});
  if (signing_secret !== undefined) return signing_secret;
  throw new NotFound("the signing secret of the chat product", {
    hint: "a super admin sets it: setting oauths, client chat, field signing_secret",
  });
}

/** Where messages are posted: the product's own interface, or what stands in for it. */
export function chatApi(app: App): string {
  return (app.settings.get("chat")?.api_url ?? CHAT_API).replace(/\/+$/, "");
}
