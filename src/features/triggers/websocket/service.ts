/** WebSocket triggers: permissions and validation. */

import { and, eq, or } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { RenameParameters } from "../../../platform/app/person.ts";
import { type RelockTarget, requireTarget, toTarget } from "../../runs/submit/target.ts";
import { type TriggerInput, TriggerStore } from "../common/trigger-store.ts";
import { type WebsocketTrigger, websocketTriggers } from "./tables.ts";

/** Wakes the listener after a change; a no-op where there is none. */
export const getListener = memoizePerApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** Columns that the listener writes. */
type LeaseColumns = "error" | "server_id" | "last_server_ping";

/** A change clears the lease, so that the listening server reconnects with the new settings. */
export const triggerStore = new TriggerStore<WebsocketTrigger, LeaseColumns>(websocketTriggers, {
  kind: "websocket_trigger",
  one: "a WebSocket trigger",
  anew: () => ({ error: null, server_id: null, last_server_ping: null }),
  changed: (app) => getListener(app).wake(),
});

type TriggerBody = Omit<TriggerInput<WebsocketTrigger, LeaseColumns>, "enabled">;

/** Creates a WebSocket trigger. @throws BadRequest naming the field, Forbidden, NotFound for an unknown target */
export async function createTrigger(
  ctx: WorkspaceContext,
  body: TriggerBody & { enabled: boolean },
): Promise<void> {
  const path = parsePath(body.path);
  requireWriteAccess(ctx.caller.member, path);
  await requireValidTrigger(ctx, body);
  await triggerStore.insert(ctx, { ...body, path });
}

/** Changes a trigger, and its path: the listening server reconnects. @throws as `createTrigger` */
export async function updateTrigger(
  ctx: WorkspaceContext,
  path: string,
  body: TriggerBody & { enabled?: boolean },
): Promise<void> {
  const to = parsePath(body.path);
  await triggerStore.getMovable(ctx, path, to);
  await requireValidTrigger(ctx, body);
  await triggerStore.update(ctx, path, { ...body, path: to });
}

async function requireValidTrigger(ctx: WorkspaceContext, body: TriggerBody): Promise<void> {
  const { script_path, is_flow, url, initial_messages } = body;
  await requireTarget(ctx, toTarget(script_path, is_flow));
  const runnable = parseRunnableUrl(url);
  if (runnable) await requireTarget(ctx, runnable);
  else parseWebsocketUrl(url);
  for (const message of initial_messages) {
    if ("raw_message" in message) continue;
    const { path, is_flow: isFlow } = message.runnable_result;
    await requireTarget(ctx, toTarget(path, isFlow));
  }
}

/** Parses `$script:<path>` or `$flow:<path>`; undefined for any other text. */
export function parseRunnableUrl(url: string): RelockTarget | undefined {
  const [, kind, path] = /^\$(script|flow):(.+)$/.exec(url) ?? [];
  if (path === undefined) return undefined;
  return toTarget(path, kind === "flow");
}

/**
 * Checks that a text is the URL of a WebSocket server, and returns it.
 * @throws BadRequest for an invalid WebSocket URL (RFC 6455 §3)
 */
export function parseWebsocketUrl(url: string): string {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === "ws:" || protocol === "wss:") return url;
  throw new BadRequest(
    "`url`: must be ws://… or wss://…, or $script:<path> or $flow:<path>, whose result it is",
  );
}

/**
 * Restarts the triggers of a renamed user, and those that run one of the user's items. As after an edit, their lease
 * is cleared, because the listening server has the old settings.
 */
export async function restartListening(
  app: App,
  tx: Tx,
  { workspace_id, to }: RenameParameters,
): Promise<void> {
  const { path, script_path, url, url_runnable_args, initial_messages } = websocketTriggers;
  const texts = [path, script_path, url, url_runnable_args, initial_messages];
  const hasMoved = or(...texts.map((text) => containsText(text, `u/${to}/`)));
  await tx
    .update(websocketTriggers)
    .set({ edited_at: app.clock(), server_id: null, last_server_ping: null })
    .where(and(eq(websocketTriggers.workspace_id, workspace_id), hasMoved));
  tx.afterCommit(() => getListener(app).wake());
}
