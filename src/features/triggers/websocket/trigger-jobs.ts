/** Jobs of WebSocket triggers: filters messages, and starts the job of a message. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { containsJson } from "../../../lib/json/contains.ts";
import { isJsonObject, parseSchemaJson } from "../../../lib/json/json.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { JobFinished } from "../../../platform/events/events.ts";
import { determineRunAs, escapeReferences } from "../../runs/arguments/caller-references.ts";
import { expectsEvent } from "../../runs/arguments/preprocessor-input.ts";
import { addRetries } from "../../runs/submit/retrying.ts";
import { createSubmission } from "../../runs/submit/submission.ts";
import {
  findPreprocessorParameters,
  type RelockTarget,
  resolveTarget,
  toTarget,
} from "../../runs/submit/target.ts";
import { createTriggerContext, submitTriggered, type Trigger } from "../../runs/submit/triggered.ts";
import { captureMessage } from "../captures/captures.ts";
import { type MessageFilter, type WebsocketTrigger, websocketTriggers } from "./tables.ts";

const TRIGGER_KIND = "websocket";

/** A trigger leased by this server, with its row at that time. */
export interface LeasedTrigger {
  row: WebsocketTrigger;
  server: string;
}

/** SQL condition for the row while this server holds the lease. */
export function createLeaseCondition({ row, server }: LeasedTrigger) {
  return and(
    eq(websocketTriggers.workspace_id, row.workspace_id),
    eq(websocketTriggers.path, row.path),
    eq(websocketTriggers.server_id, server),
    eq(websocketTriggers.edited_at, row.edited_at),
  );
}

/** Reads the current row: a key rotation re-encrypts values in it. */
export async function readCurrentRow(app: App, held: LeasedTrigger): Promise<WebsocketTrigger> {
  const [row] = await app.db.read.select().from(websocketTriggers).where(createLeaseCondition(held));
  return row ?? held.row;
}

/** Whether a message matches all filters; without filters every message does. */
export function matchesFilters(filters: readonly MessageFilter[], message: string): boolean {
  if (filters.length === 0) return true;
  let value: unknown;
  try {
    value = parseSchemaJson(message);
  } catch {
    return false;
  }
  if (!isJsonObject(value)) return false;
  const fields = value as Record<string, unknown>;
  return filters.every(
    ({ key, value: part }) => Object.hasOwn(fields, key) && containsJson(fields[key], part),
  );
}

/** A started job, and its completion. */
export interface StartedJob {
  ended: Promise<JobFinished>;
}

/**
 * Starts the trigger's target for a message.
 * @param url URL that the message was received from
 * @returns undefined if the trigger is no longer leased by this server
 * @throws NotFound, BadRequest, Unavailable if it cannot start
 */
export async function startJobForMessage(
  app: App,
  held: LeasedTrigger,
  message: string,
  url: string,
): Promise<StartedJob | undefined> {
  const { workspace_id, script_path, is_flow } = held.row;
  await captureMessage(app, { workspace_id, path: script_path, is_flow }, { msg: message, url });
  return startJob(app, held, toTarget(script_path, is_flow), { msg: message }, { url });
}

/** Runs a script or flow that returns the URL, or an initial message. @throws as `startJobForMessage` */
export function startJobForResult(
  app: App,
  held: LeasedTrigger,
  target: RelockTarget,
  args: Record<string, unknown>,
): Promise<StartedJob | undefined> {
  return startJob(app, held, target, args, undefined);
}

/**
 * Checks that the trigger can start jobs with its owner's rights.
 * @throws BadRequest if the trigger can start nothing: its owner has left, or the workspace is archived
 */
export async function requireOwner(app: App, held: LeasedTrigger): Promise<void> {
  await createTriggerContext(app, createTrigger(held));
}

function createTrigger({ row: { workspace_id, email, path } }: LeasedTrigger): Trigger {
  return { workspace_id, email, kind: TRIGGER_KIND, created_by: `ws-${path}` };
}

async function startJob(
  app: App,
  held: LeasedTrigger,
  target: RelockTarget,
  args: Record<string, unknown>,
  event: { url: string } | undefined,
): Promise<StartedJob | undefined> {
  const trigger = createTrigger(held);
  const ctx = await createTriggerContext(app, trigger, (tx) => renewLease(app, tx, held));
  const found = await resolveTarget(ctx, target);
  const given = JSON.stringify(args);
  // Messages are untrusted, so references in them are escaped. The trigger's own arguments come from its author.
  const own = event ? await escapeReferences(app, ctx.caller.member, given) : given;
  const parameters = event && findPreprocessorParameters(found);
  const has_preprocessor_input = parameters !== undefined;
  const submission = await createSubmission(ctx, found, own, { has_preprocessor_input });
  if (event && parameters) {
    const input = expectsEvent(parameters)
      ? { event: { kind: TRIGGER_KIND, ...args, ...event } }
      : { ...args, wm_trigger: { kind: TRIGGER_KIND, websocket: event } };
    const runner = determineRunAs(ctx, submission.runs_as);
    submission.preprocessor_input = await escapeReferences(app, runner, JSON.stringify(input));
  }
  const tried = event
    ? addRetries({ ...submission, delete_after_use: false }, found, held.row.retry)
    : submission;
  return submitAndAwait(ctx, (job_id) => submitTriggered(ctx, tried, trigger, { job_id }));
}

/** Checks the lease in the transaction that stores the job, so that only one server starts it. */
async function renewLease(app: App, tx: Tx, held: LeasedTrigger): Promise<boolean> {
  const rows = await tx
    .update(websocketTriggers)
    .set({ last_server_ping: app.clock() })
    .where(createLeaseCondition(held))
    .returning({ path: websocketTriggers.path });
  return rows.length > 0;
}

async function submitAndAwait(
  { app }: WorkspaceContext,
  submit: (job_id: string) => Promise<string | undefined>,
): Promise<StartedJob | undefined> {
  const id = createUuid();
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
