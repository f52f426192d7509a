/** The ways into running flows: a flow begins, a step ends, a moment comes, somebody cancels. */
import { and, eq } from "drizzle-orm";
import type { App } from "../../../context.ts";
import type { Tx } from "../../../database/database.ts";
import { Internal } from "../../../errors.ts";
import type { FrameEvent } from "../../../flow-engine/state.ts";
import type { FlowValue } from "../../../flow-engine/types.ts";
import { isFrame } from "../../../queue/states.ts";
import { type Job, jobs } from "../../../queue/tables.ts";
import { drive, flowFrame, liveFlow } from "./drive.ts";
import { FlowConflict, Plan } from "./plan.ts";
import { type FlowRun, newRun, reviveFrame, withRun } from "./run.ts";

/** Other servers may work on the same run; it never takes many rounds. */
const MAX_TRIES = 20;

/** The job ended elsewhere before: nothing of this end counts. */
class NotHeld extends Error {}

/**
 * Plans the beginning of a flow whose job is about to be stored as running.
 * @returns the plan, to be stored in the same transaction
 */
export async function beginFlow(
  app: App,
  job: Job,
  value: FlowValue,
  options: { skip_preprocessor: boolean },
): Promise<Plan> {
  const run = newRun(app, job.id);
  const plan = new Plan(app, run, { begins: true });
  const frame = flowFrame(liveFlow(job, value, 0), {
    parent: undefined,
    module: undefined,
    index: undefined,
  });
  try {
    plan.frameBegins(frame, undefined);
    await drive(app, run, plan, frame, { type: "start", ...options });
  } catch (cause) {
    plan.abandon();
    throw cause;
  }
  return plan;
}

/** Begins a flow that was queued and that this worker has claimed: from here on no worker holds it. */
export async function beginClaimedFlow(app: App, job: Job): Promise<void> {
  const frame = await reviveFrame(app, job, undefined);
  const plan = await beginFlow(app, job, frame.flow.value, { skip_preprocessor: false });
  await carried(plan, () =>
    app.db.write(async (tx) => {
      const [held] = await tx
        .update(jobs)
        .set({ worker: null, last_ping: null })
        .where(and(eq(jobs.id, job.id), eq(jobs.state, "running"), eq(jobs.worker, app.queue.worker)))
        .returning({ id: jobs.id });
      if (!held) throw new Internal(`flow ${job.id} was claimed by another worker`);
      await plan.store(tx);
    }),
  );
}

/** Gives back what a plan reserved when its transaction does not go through. */
async function carried<T>(plan: Plan, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    plan.abandon();
    throw cause;
  }
}

export interface JobEnd {
  status: "success" | "failure" | "canceled" | "skipped";
  /** JSON text. */
  result: string;
}

/**
 * Stores the end of any job. Of a flow's step it stores, in the same transaction, what the flow does next.
 * @param work stores the end itself; false: the job ended elsewhere, and nothing is to be stored
 * @param write the transaction it is done in; the database's own when left out
 * @returns what `work` returned
 */
export async function endJob(
  app: App,
  job: Job,
  end: JobEnd,
  work: (tx: Tx) => Promise<boolean>,
  write: Write = app.db.write,
): Promise<boolean> {
  if (job.flow_step_id === null || job.root_job === null) return write(work);
  return transact(app, job.root_job, { work, write }, (run) => {
    const frame = run.frames.get(job.parent_job ?? "");
    if (!frame) return undefined;
    const event: FrameEvent = {
      type: "child",
      module: job.flow_step_id ?? "",
      job: job.id,
      index: job.flow_index ?? undefined,
      ...end,
    };
    return { frame, event, remember: [job.id, end.result, end.status] };
  });
}

type Write = (work: (tx: Tx) => Promise<boolean>) => Promise<boolean>;

type Asked =
  | {
      frame: Parameters<typeof drive>[3];
      event: FrameEvent;
      remember?: [job_id: string, result: string, status: JobEnd["status"]];
    }
  | undefined;

/** One transition of a run, together with other work; planned anew when somebody else was first. */
async function transact(
  app: App,
  root_id: string,
  { work, write }: { work: (tx: Tx) => Promise<boolean>; write: Write },
  ask: (run: FlowRun) => Asked,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      // Planned in turn, written without waiting for the turn to end: see run.ts.
      const { written } = await withRun(app, root_id, async (run) => {
        const asked = ask(run);
        if (!asked) return { written: write(work) };
        const plan = new Plan(app, run);
        if (asked.remember) plan.remember(...asked.remember);
        const store = () =>
          write(async (tx) => {
            if (!(await work(tx))) throw new NotHeld();
            await plan.store(tx);
            return true;
          });
        try {
          await drive(app, run, plan, asked.frame, asked.event);
        } catch (cause) {
          plan.abandon();
          throw cause;
        }
        return inTurn(app, carried(plan, store));
      });
      return await written;
    } catch (cause) {
      if (cause instanceof NotHeld) return false;
      if (!(cause instanceof FlowConflict) || tries >= MAX_TRIES) throw cause;
    }
  }
}

/**
 * SQLite writes in the order it is asked to, so the turn ends here. On PostgreSQL a later transaction could be first:
 * there the turn ends with the commit.
 */
async function inTurn(app: App, written: Promise<boolean>): Promise<{ written: Promise<boolean> }> {
  const settled = written.catch(() => {});
  if (app.db.dialect === "postgres") await settled;
  return { written };
}

const nothing = async () => true;

/** The moment that a frame asked for has come. */
export async function wakeFrame(app: App, root_job: string, frame_id: string): Promise<void> {
  await transact(app, root_job, { work: nothing, write: app.db.write }, (run) => {
    const frame = run.frames.get(frame_id);
    if (!frame?.wake_at || frame.wake_at > app.clock()) return undefined;
    return { frame, event: { type: "woken" } };
  });
}

/** Approvals have come, or somebody disapproves; `work` stores them in the same transaction. */
export async function approveFrame(
  app: App,
  where: { root_job: string; frame_id: string },
  event: Extract<FrameEvent, { type: "resumed" | "disapproved" }> | undefined,
  work: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  return transact(app, where.root_job, { work, write: app.db.write }, (run) => {
    const frame = run.frames.get(where.frame_id);
    return frame && event ? { frame, event } : undefined;
  });
}

/**
 * Cancels a flow that runs: everything in it stops.
 * @param result JSON text of the canceled job's result
 * @returns false when it had ended
 */
export async function cancelFlow(
  app: App,
  job: Job,
  end: { result: string; canceled_by: string; canceled_reason: string },
): Promise<boolean> {
  if (!isFrame(job.kind)) throw new Internal(`job ${job.id} is no flow`);
  const root_id = job.kind === "flownode" || job.flow_step_id !== null ? (job.root_job ?? job.id) : job.id;
  for (let tries = 1; ; tries++) {
    try {
      const { written } = await withRun(app, root_id, async (run) => {
        const frame = run.frames.get(job.id);
        if (!frame) return { written: Promise.resolve(false) };
        const plan = new Plan(app, run);
        plan.stopFrame(frame);
        frame.state = { ...frame.state, ended: true };
        frame.wake_at = null;
        plan.frameChanged(frame);
        plan.frameEnds({ frame, status: "canceled", result: end.result });
        const { parent, module } = frame;
        if (parent && module !== undefined) {
          const child = { type: "child", module, job: job.id, index: frame.index } as const;
          await drive(app, run, plan, parent, { ...child, status: "canceled", result: end.result });
        }
        const write = () =>
          app.db.write(async (tx) => {
            const { canceled_by, canceled_reason } = end;
            await tx.update(jobs).set({ canceled_by, canceled_reason }).where(eq(jobs.id, job.id));
            await plan.store(tx);
            return true;
          });
        return inTurn(app, carried(plan, write));
      });
      return await written;
    } catch (cause) {
      if (!(cause instanceof FlowConflict) || tries >= MAX_TRIES) throw cause;
    }
  }
}
