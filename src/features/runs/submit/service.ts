/** Reading and canceling jobs. */
import { and, asc, desc, eq, inArray, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import { apart } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { inPieces } from "../../../lib/async/batches.ts";
import { BadRequest, NotFound, type SvcError, Unauthorized } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/text/ids.ts";
import { isMeant, isOwner, namesOf, ownedBy } from "../../../platform/access/permissions.ts";
import type { App, Audit, Caller, Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { followUpOf } from "../../../platform/app/job-ends.ts";
import { settlePlaces } from "../../../platform/queue/concurrency.ts";
import { queuedSlices } from "../../../platform/queue/queued-slices.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { settleWithoutLock } from "../../code/flows/locks.ts";
import { isAllowed, tagsOf } from "../../tenancy/tokens/scopes.ts";
import { cancelFlow, endJob } from "../flows/flow-events.ts";
import { canceledResult } from "../job/canceled.ts";

const BY_CALL = "canceled through the API";
/** Jobs that are canceled side by side. */
const MOST_CANCELED = 50;

/** Who cancels, and how that is written. */
export type Canceling = Pick<Context, "app" | "username" | "write">;

/**
 * The job, when the caller may see it: whoever it runs as, which may be a group; an admin; or an owner of its path unless
 * it was made invisible.
 * @throws NotFound; BadRequest when nobody asks for somebody's job
 */
export async function getJob(ctx: Context, workspace_id: string, id: string): Promise<Job> {
  const job = await findJob(ctx.app, workspace_id, id);
  if (!job || !isVisible(ctx.caller, job)) throw hidden(ctx.caller, workspace_id, id);
  return job;
}

export async function findJob(app: App, workspace_id: string, id: string): Promise<Job | undefined> {
  if (!isUuid(id)) throw new BadRequest(`"${id.slice(0, 60)}" is not a job id: it must be a UUID`);
  const [job] = await app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id.toLowerCase()), eq(jobs.workspace_id, workspace_id)));
  return job;
}

function isVisible(caller: Caller, job: Job): boolean {
  return maySee(caller, job) && (!caller.member || isWithinScopes(caller, job));
}

/** What is said of a job that the caller may not see, and just so of one that there is not. */
function hidden({ identity, member }: Caller, workspace_id: string, id: string): SvcError {
  if (member) return new NotFound(`job ${id} in workspace ${workspace_id}`);
  if (identity) return new Unauthorized(`not a member of workspace ${workspace_id}`);
  return new BadRequest("log in to see this job: only jobs started by nobody are open to everybody");
}

/** A token that only runs something is often public: it shows nothing of jobs that run something else. */
function isWithinScopes({ identity }: Caller, job: Job): boolean {
  return !identity || isAllowed(identity, { domain: "jobs", action: "read" }, job.script_path ?? "");
}

/** Whether a member may see a job. */
export function mayRead(
  caller: Caller,
  job: Pick<Job, "permissioned_as" | "email" | "started_by" | "script_path" | "visible_to_owner" | "tag">,
): boolean {
  const { member, identity } = caller;
  if (!member || tagsOf(identity)?.includes(job.tag) === false) return false;
  if (member.is_admin || isMeant(member, job.permissioned_as)) return true;
  if (job.email === member.email || job.started_by === member.email) return true;
  return job.visible_to_owner && job.script_path !== null && isOwner(member, job.script_path);
}

/** The same rule as `mayRead`, said to the database, so that pages of a list come out full. */
export function visibleTo({ member, identity }: WorkspaceContext["caller"]): SQL | undefined {
  const tags = tagsOf(identity);
  const isTagged = tags && inArray(jobs.tag, tags);
  if (member.is_admin) return isTagged;
  const isTheirs = or(
    inArray(jobs.permissioned_as, [...namesOf(member)]),
    eq(jobs.email, member.email),
    eq(jobs.started_by, member.email),
    and(eq(jobs.visible_to_owner, true), ownedBy(member, jobs.script_path)),
  );
  return and(isTagged, isTheirs);
}

/** Whether a job is another one, or was started by it, however many are between them. */
export async function isWithin(app: App, job: Job, other: string): Promise<boolean> {
  const seen = new Set<string>();
  for (let at: Job | undefined = job; at && !seen.has(at.id); ) {
    if (at.id === other) return true;
    seen.add(at.id);
    at = at.parent_job ? await findJob(app, job.workspace_id, at.parent_job) : undefined;
  }
  return false;
}

/** Follows a job's parents to the topmost; one that is gone ends the way. */
export async function rootOf(app: App, job: Job): Promise<string> {
  const seen = new Set<string>();
  let at = job;
  while (at.parent_job && !seen.has(at.id)) {
    seen.add(at.id);
    const parent = await findJob(app, job.workspace_id, at.parent_job);
    if (!parent) break;
    at = parent;
  }
  return at.id;
}

/** How a job is canceled. */
interface CancelHow {
  /** Completes a running one at once too when its worker is another one, which may be gone. */
  force?: boolean;
  /** What the audit log says, where that is not what the operation declares; `nothing`: the job's row alone tells it. */
  as?: Audit | "nothing";
}

/**
 * Cancels a job: a queued one is completed at once, a running one is stopped with everything it started.
 * @returns what happened, for the caller to read
 */
export async function cancelJob(
  ctx: Context,
  workspace_id: string,
  id: string,
  reason: string | undefined,
  { force = false, as }: CancelHow = {},
): Promise<string> {
  const job = await getJob(ctx, workspace_id, id);
  if (job.state === "completed") return `job ${job.id} is already completed`;
  const whileRunning = force && !ctx.app.queue.has(job.id);
  await cancelUnfinished(ctx, job, reason ?? BY_CALL, whileRunning, as);
  return job.id;
}

/**
 * Cancels those of the jobs that have not ended and that the caller may see; what a schedule has planned for later is
 * left alone.
 * @returns their ids
 */
export function cancelSelection(
  ctx: Context,
  workspace_id: string,
  ids: readonly string[],
): Promise<string[]> {
  const now = ctx.app.clock();
  // What waits for a place of its concurrency key was due already.
  const isPlanned = (job: Job) =>
    job.schedule_path !== null &&
    job.state === "queued" &&
    job.scheduled_for > now &&
    !job.concurrency_blocked;
  const cancelSome = async (some: readonly string[]) => {
    const found = await ctx.app.db.read
      .select()
      .from(jobs)
      .where(
        and(eq(jobs.workspace_id, workspace_id), inArray(jobs.id, [...some]), ne(jobs.state, "completed")),
      );
    const wanted = found.filter((job) => mayRead(ctx.caller, job) && !isPlanned(job));
    await Promise.all(wanted.map((job) => cancelUnfinished(ctx, job, BY_CALL, false)));
    const ended = new Set(wanted.map(({ id }) => id));
    return some.filter((id) => ended.has(id));
  };
  return inPieces([...new Set(ids)], cancelSome, MOST_CANCELED);
}

/**
 * Ends every run of a script that the caller may see, due, scheduled or running, also of one that begins again
 * whenever it ends.
 */
export async function cancelRunsOf(
  ctx: WorkspaceContext,
  path: string,
  reason: string | undefined,
): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  const runs = and(eq(jobs.workspace_id, workspace_id), eq(jobs.script_path, path), eq(jobs.kind, "script"));
  await cancelAll(ctx, and(runs && apart(runs), visibleTo(ctx.caller)), reason ?? BY_CALL);
}

/**
 * Cancels the jobs of a condition in pieces, however many there are: first what runs, which is asked to stop and takes
 * the steps of its flows with it, then what is queued.
 * @param which both, or what runs alone
 */
export async function cancelAll(
  ctx: Canceling,
  condition: SQL | undefined,
  reason: string,
  { which = "unfinished", as }: { which?: "unfinished" | "running"; as?: Audit } = {},
): Promise<void> {
  const { read } = ctx.app.db;
  const cancelIn = async (slice: SQL | undefined) => {
    const found = await read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(slice, condition))
      // A step of a flow that has been canceled is canceled already.
      .orderBy(desc(isNull(jobs.flow_step_id)), asc(jobs.id));
    const cancelSome = async (some: readonly { id: string }[]) => {
      const ids = some.map(({ id }) => id);
      const rows = await read
        .select()
        .from(jobs)
        .where(and(inArray(jobs.id, ids), ne(jobs.state, "completed")));
      await Promise.all(rows.map((job) => cancelUnfinished(ctx, job, reason, false, as)));
      return [];
    };
    await inPieces(found, cancelSome, MOST_CANCELED);
  };
  await cancelIn(sql`${jobs.state} = 'running'`);
  if (which === "running") return;
  for await (const slice of queuedSlices(read)) await cancelIn(slice);
}

/**
 * @param whileRunning completes the row of a running job as well, instead of asking its worker to stop
 */
export async function cancelUnfinished(
  ctx: Canceling,
  job: Job,
  canceled_reason: string,
  whileRunning: boolean,
  as?: CancelHow["as"],
): Promise<void> {
  const { app } = ctx;
  const result = canceledResult(canceled_reason, ctx.username);
  const now = app.clock();
  const canceled = { canceled_by: ctx.username, canceled_reason };
  const write = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    as === "nothing" ? app.db.write(work) : ctx.write({ resource: job.id, ...(as ? { as } : {}) }, work);
  const cancelRunning = () => cancelFlow(app, job, { result, ...canceled }, write);
  if (isFrame(job.kind) && job.state === "running" && job.worker === null) {
    await cancelRunning();
    return;
  }
  const end = async (tx: Tx): Promise<boolean> => {
    const [ended] = await tx
      .update(jobs)
      .set({
        ...canceled,
        state: "completed",
        status: "canceled",
        result,
        preprocessor_input: null,
        completed_at: now,
        duration_ms: job.started_at ? Math.max(0, now.getTime() - job.started_at.getTime()) : 0,
      })
      .where(and(eq(jobs.id, job.id), whileRunning ? ne(jobs.state, "completed") : eq(jobs.state, "queued")))
      .returning({ id: jobs.id });
    if (!ended) return false;
    await settleWithoutLock(app, tx, job, `the dependency job was canceled: ${canceled_reason}`);
    if (job.concurrency_key !== null) {
      await settlePlaces(tx, job, now);
      tx.afterCommit(app.queue.wake);
    }
    await followUpOf(app, job, "canceled")?.(tx);
    const told = { id: job.id, workspace_id: job.workspace_id, status: "canceled", result } as const;
    tx.afterCommit(() => app.events.publishFinished(told));
    return true;
  };
  /** Set when it is a flow that has begun meanwhile: no worker has it, so none can be asked. */
  let hasBegun = false;
  const ask = async (tx: Tx): Promise<void> => {
    const [running] = await tx
      .update(jobs)
      .set({ ...canceled, cancel_requested: true })
      .where(and(eq(jobs.id, job.id), eq(jobs.state, "running")))
      .returning({ worker: jobs.worker });
    hasBegun = isFrame(job.kind) && running?.worker === null;
    tx.afterCommit(() => app.queue.cancel(job.id));
  };
  if (job.flow_step_id === null) {
    await write(async (tx) => void ((await end(tx)) || (await ask(tx))));
  } else if (!(await endJob(app, job, { status: "canceled", result }, end, write))) {
    await write(ask);
  }
  if (hasBegun) await cancelRunning();
}

/** Whether a caller may see a job; without a login only those that nobody in particular started. */
export function maySee(
  caller: Caller,
  job: Parameters<typeof mayRead>[1] & Pick<Job, "created_by">,
): boolean {
  return caller.member ? mayRead(caller, job) : job.created_by === "anonymous";
}
