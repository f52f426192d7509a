/** What a message becomes: whether it passes, and the job that it starts. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { contains } from "../../../lib/json/contains.ts";
import { isJsonObject, parseFields } from "../../../lib/json/json.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { JobFinished } from "../../../platform/events/events.ts";
import { asSent, runnerOf } from "../../runs/arguments/caller-references.ts";
import { takesEvent } from "../../runs/arguments/preprocessor-input.ts";
import { runnableSubmission } from "../../runs/submit/submission.ts";
import { preprocessorOf, resolveTarget, type Target, targetAt } from "../../runs/submit/target.ts";
import { contextOf, submitTriggered, type Trigger } from "../../runs/submit/triggered.ts";
import { type MessageFilter, type WebsocketTrigger, websocketTriggers } from "./tables.ts";

const KIND = "websocket";

/** A trigger as this server listens for it: while the row says so, and is as it was. */
export interface Held {
  row: WebsocketTrigger;
  server: string;
}

/** The row, as long as this server holds it. */
export function isHeld({ row, server }: Held) {
  return and(
    eq(websocketTriggers.workspace_id, row.workspace_id),
    eq(websocketTriggers.path, row.path),
    eq(websocketTriggers.server_id, server),
    eq(websocketTriggers.edited_at, row.edited_at),
  );
}

/** The row as it is now: while a server holds it, what is sealed in it follows the workspace's key. */
export async function rowNow(app: App, held: Held): Promise<WebsocketTrigger> {
  const [row] = await app.db.read.select().from(websocketTriggers).where(isHeld(held));
  return row ?? held.row;
}

/** Whether a message has all that the filters ask for; without filters every message passes. */
export function passes(filters: readonly MessageFilter[], message: string): boolean {
  if (filters.length === 0) return true;
  let value: unknown;
  try {
    value = parseFields(message);
  } catch {
    return false;
  }
  if (!isJsonObject(value)) return false;
  const fields = value as Record<string, unknown>;
  return filters.every(({ key, value: part }) => Object.hasOwn(fields, key) && contains(fields[key], part));
}

/** A job that was started, and its end. */
export interface Started {
  ended: Promise<JobFinished>;
}

/**
 * Starts what the trigger runs for a message.
 * @param url that the message came from
 * @returns undefined when the trigger is no longer this server's
 * @throws NotFound, BadRequest, Unavailable when it cannot start
 */
export function startForMessage(
  app: App,
  held: Held,
  message: string,
  url: string,
): Promise<Started | undefined> {
  const { script_path, is_flow } = held.row;
  return start(app, held, targetAt(script_path, is_flow), { msg: message }, { url });
}

/** Runs a script or flow for what it returns: an address, or what is sent first. @throws as `startForMessage` */
export function startForResult(
  app: App,
  held: Held,
  target: Target,
  args: Record<string, unknown>,
): Promise<Started | undefined> {
  return start(app, held, target, args, undefined);
}

/** @throws BadRequest when it could start nothing: whoever set it up has left, or the workspace is archived */
export async function checkOwner(app: App, held: Held): Promise<void> {
  await contextOf(app, triggerOf(held));
}

function triggerOf({ row: { workspace_id, email, path } }: Held): Trigger {
  return { workspace_id, email, kind: KIND, created_by: `ws-${path}` };
}

async function start(
  app: App,
  held: Held,
  target: Target,
  args: Record<string, unknown>,
  event: { url: string } | undefined,
): Promise<Started | undefined> {
  const trigger = triggerOf(held);
  const ctx = await contextOf(app, trigger, (tx) => stillHeld(app, tx, held));
  const found = await resolveTarget(ctx, target);
  const given = JSON.stringify(args);
  // What a message says was said elsewhere; what the trigger itself gives, its author has written.
  const own = event ? await asSent(app, ctx.caller.member, given) : given;
  const submission = await runnableSubmission(ctx, found, own, {});
  const parameters = event && preprocessorOf(found);
  if (event && parameters) {
    const input = takesEvent(parameters)
      ? { event: { kind: KIND, ...args, ...event } }
      : { ...args, wm_trigger: { kind: KIND, websocket: event } };
    const runner = runnerOf(ctx, submission.runs_as);
    submission.preprocessor_input = await asSent(app, runner, JSON.stringify(input));
  }
  return submitAndFollow(ctx, (job_id) => submitTriggered(ctx, submission, trigger, { job_id }));
}

/** In the transaction that stores the job: so of several servers one starts it, whatever each believes. */
async function stillHeld(app: App, tx: Tx, held: Held): Promise<boolean> {
  const rows = await tx
    .update(websocketTriggers)
    .set({ last_server_ping: app.clock() })
    .where(isHeld(held))
    .returning({ path: websocketTriggers.path });
  return rows.length > 0;
}

async function submitAndFollow(
  { app }: WorkspaceContext,
  submit: (job_id: string) => Promise<string | undefined>,
): Promise<Started | undefined> {
  const id = newJobId();
  const { promise: ended, resolve } = Promise.withResolvers<JobFinished>();
  const unfollow = app.events.onFinished(id, resolve);
  try {
    if ((await submit(id)) !== undefined) return { ended };
  } catch (cause) {
    unfollow();
    throw cause;
  }
  unfollow();
  return undefined;
}
