/** Cancels the unfinished runs of a user in a workspace: queued, scheduled and running ones. */
import { and, asc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../../database/conditions.ts";
import type { Tx } from "../../../../database/database.ts";
import type { App, AuditedAction } from "../../../../platform/app/context.ts";
import type { Revocation, RevokedWork, RunOwner } from "../../../../platform/app/person.ts";
import { isQueueLongerThan, queuedCondition } from "../../../../platform/queue/queued-slices.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { createActorContext, type Requester } from "../../../signals/audit/actor.ts";
import { defineResumable } from "../../../tenancy/resumable/service.ts";
import { cancelJobsWhere } from "../../submit/find-and-cancel.ts";

const CANCEL_AUDIT = { operation: "jobs.cancel", action_kind: "Delete" } as const satisfies AuditedAction;

/** Maximum number of queued jobs that are searched and marked in the transaction that revokes the access. */
const MAX_LOOKED_THROUGH = 20_000;
const MAX_MARKED = 1_000;

/**
 * SQL condition for the unfinished runs of a user. Planned runs stay with their schedule, which shows why it cannot
 * start.
 */
const whereRunsOfUser = ({ workspace_id, username }: RunOwner): SQL =>
  preventIndexUse(and(eq(jobs.workspace_id, workspace_id), eq(jobs.permissioned_as, `u/${username}`))!);

interface Ended extends Requester {
  person: RunOwner;
  reason: string;
}

/**
 * Cancels the runs of a user whose access is revoked. Once the transaction commits, none of them starts, even if this
 * process stops: they are marked as canceled, the first ones in this transaction and the rest in the background.
 * @returns `finish` ends the marked runs without waiting for a worker
 */
export async function cancelUserRuns(
  app: App,
  tx: Tx,
  person: RunOwner,
  { by, reason }: Revocation,
): Promise<RevokedWork> {
  const mark = { cancel_requested: true, canceled_by: by, canceled_reason: reason };
  const its = whereRunsOfUser(person);
  const running = await tx
    .update(jobs)
    .set(mark)
    .where(and(sql`${jobs.state} = 'running'`, its))
    .returning({ id: jobs.id });
  const isLong = await isQueueLongerThan(tx, MAX_LOOKED_THROUGH);
  const waiting = isLong
    ? []
    : await tx
        .select({ id: jobs.id })
        .from(jobs)
        .where(and(queuedCondition, its))
        .orderBy(asc(jobs.id))
        .limit(MAX_MARKED + 1);
  const marked = waiting.slice(0, MAX_MARKED).map(({ id }) => id);
  if (marked.length > 0) await tx.update(jobs).set(mark).where(inArray(jobs.id, marked));
  const isAll = !isLong && waiting.length === marked.length;
  const ended: Ended = { person, reason, username: by, email: person.email };
  const subject = `runs of u/${person.username} in ${person.workspace_id}`;
  const rest = isAll ? undefined : await endOfRuns.start(app, tx, subject, ended);
  return {
    canceled_runs: running.length + marked.length,
    isAll,
    async finish(ctx) {
      if (rest) await endOfRuns.run(app, rest);
      else if (running.length + marked.length > 0)
        await endRuns(app, { ...ended, username: ctx.username, email: ctx.caller.identity.email });
    },
  };
}

const endOfRuns = defineResumable<Ended>("the cancelation", { hold() {}, finish: endRuns });

/** Cancels the runs with all jobs they started, each with its own audit row. */
function endRuns(app: App, { person, reason, username, email }: Ended): Promise<void> {
  const ctx = createActorContext(app, person.workspace_id, { username, email });
  return cancelJobsWhere(ctx, whereRunsOfUser(person), reason, { as: CANCEL_AUDIT });
}
