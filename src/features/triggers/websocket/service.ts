/** WebSocket triggers: who may set them up, and what must hold of each. */

import { and, eq, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { checkPath } from "../../../lib/text/paths.ts";
import { requireManage, requireWrite } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Renaming } from "../../../platform/app/person.ts";
import { requireTarget, type Target, targetAt } from "../../runs/submit/target.ts";
import { TriggerStore, type Written } from "../common/store.ts";
import { type WebsocketTrigger, websocketTriggers } from "./tables.ts";

/** Called when a trigger was changed; set by the listener where there is one. */
export const listenerOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** What the listener writes. */
type Listening = "error" | "server_id" | "last_server_ping";

/** Whoever listens to a trigger as it was before has no hold on it any more. */
export const triggers = new TriggerStore<WebsocketTrigger, Listening>(websocketTriggers, {
  kind: "websocket_trigger",
  one: "a WebSocket trigger",
  anew: () => ({ error: null, server_id: null, last_server_ping: null }),
  changed: (app) => listenerOf(app).wake(),
});

type TriggerBody = Omit<Written<WebsocketTrigger, Listening>, "enabled">;

/** @throws BadRequest naming the field, Forbidden, NotFound for what it would run */
export async function createTrigger(
  ctx: WorkspaceContext,
  body: TriggerBody & { enabled: boolean },
): Promise<void> {
  const path = checkPath(body.path);
  requireWrite(ctx.caller.member, path);
  await checkBody(ctx, body);
  await triggers.insert(ctx, { ...body, path });
}

/** Changes a trigger, and where it is kept: whoever listens begins anew. @throws as `createTrigger` */
export async function updateTrigger(
  ctx: WorkspaceContext,
  path: string,
  body: TriggerBody & { enabled?: boolean },
): Promise<void> {
  await triggers.getWritable(ctx, path);
  const to = checkPath(body.path);
  if (to !== path) {
    requireManage(ctx.caller.member, path, "move");
    requireWrite(ctx.caller.member, to);
  }
  await checkBody(ctx, body);
  await triggers.update(ctx, path, { ...body, path: to });
}

async function checkBody(ctx: WorkspaceContext, body: TriggerBody): Promise<void> {
  const { script_path, is_flow, url, initial_messages } = body;
  await requireTarget(ctx, targetAt(script_path, is_flow));
  const runnable = runnableOf(url);
  if (runnable) await requireTarget(ctx, runnable);
  else checkUrl(url);
  for (const message of initial_messages) {
    if ("raw_message" in message) continue;
    const { path, is_flow: isFlow } = message.runnable_result;
    await requireTarget(ctx, targetAt(path, isFlow));
  }
}

/** What `$script:<path>` or `$flow:<path>` names; undefined for any other text. */
export function runnableOf(url: string): Target | undefined {
  const [, kind, path] = /^\$(script|flow):(.+)$/.exec(url) ?? [];
  if (path === undefined) return undefined;
  return targetAt(path, kind === "flow");
}

/** @throws BadRequest for what is no address of a WebSocket (RFC 6455 §3) */
export function checkUrl(url: string): string {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === "ws:" || protocol === "wss:") return url;
  throw new BadRequest(
    "`url`: must be ws://… or wss://…, or $script:<path> or $flow:<path>, whose result it is",
  );
}

/**
 * Has the triggers of a renamed user listened to anew, and those that run something of theirs. As after an edit, the
 * server that listens knows the trigger as it was, so its lease ends.
 */
export async function restartListening(app: App, tx: Tx, { workspace_id, to }: Renaming): Promise<void> {
  const { path, script_path, url, url_runnable_args, initial_messages } = websocketTriggers;
  const texts = [path, script_path, url, url_runnable_args, initial_messages];
  const hasMoved = or(...texts.map((text) => containsText(text, `u/${to}/`)));
  await tx
    .update(websocketTriggers)
    .set({ edited_at: app.clock(), server_id: null, last_server_ping: null })
    .where(and(eq(websocketTriggers.workspace_id, workspace_id), hasMoved));
  tx.afterCommit(() => listenerOf(app).wake());
}
