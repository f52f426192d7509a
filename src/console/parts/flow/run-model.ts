/** Assigns the jobs of a flow run to the steps of the flow's tree. */
import type { Answer } from "../../api/call.ts";
import { getRunState, type RunState } from "../runs/run-state.tsx";
import type { StepNode } from "./tree.ts";

export type FlowSteps = Answer<"GET /w/{workspace}/jobs/flow/steps/{flow_job_id}">;
export type StepJob = FlowSteps["steps"][number];
export type Approval = FlowSteps["approvals"][number];

/** Selected iteration of each loop, by step. */
export type Picked = Readonly<Record<string, number>>;

/** A step's state in the selected iterations. */
export interface StepRunState {
  state: RunState;
  /** The newest attempt. */
  job: StepJob | undefined;
  /** All attempts, oldest first. */
  attempts: StepJob[];
  /** For a loop: its iterations by number. */
  iterations: StepJob[];
  picked: number | undefined;
  /** Index of the executed branch among the bodies. */
  branch: number | undefined;
}

/** Properties of a step that the model needs. */
export interface StepOutline extends Pick<StepNode, "id" | "kind"> {
  bodies: { nodes: StepOutline[]; skipsFailures: boolean }[];
}

export const createOutline = ({ id, kind, bodies }: StepNode): StepOutline => ({
  id,
  kind,
  bodies: bodies.map(({ nodes, skipsFailures }) => ({ nodes: nodes.map(createOutline), skipsFailures })),
});

const isFrame = ({ job_kind }: StepJob) => job_kind === "flownode";

/** Returns the newest attempt of each iteration. */
function listIterations(jobs: StepJob[]): StepJob[] {
  const newest: StepJob[] = [];
  for (const job of jobs) newest[job.index ?? 0] = job;
  return newest.filter(Boolean);
}

export class RunModel {
  readonly seen = new Map<string, StepRunState>();
  private readonly children = new Map<string, Map<string, StepJob[]>>();
  private readonly awaited: ReadonlySet<string>;
  private readonly picked: Picked;

  constructor(nodes: StepOutline[], root: string, { steps, approvals }: FlowSteps, picked: Picked) {
    this.picked = picked;
    this.awaited = new Set(approvals.map(({ job_id }) => job_id));
    for (const job of steps) {
      const inside = this.children.get(job.parent_job) ?? new Map<string, StepJob[]>();
      inside.set(job.step_id, [...(inside.get(job.step_id) ?? []), job]);
      this.children.set(job.parent_job, inside);
    }
    this.place(nodes, root);
  }

  /** Finds the step whose failure ended the run: the last one that failed. The run continued after earlier failures. */
  culpritOf(nodes: StepOutline[]): string | undefined {
    for (const { id, bodies } of nodes.toReversed()) {
      if (this.seen.get(id)?.state !== "failed") continue;
      return this.culpritOf(bodies.flatMap((body) => (body.skipsFailures ? [] : body.nodes))) ?? id;
    }
    return undefined;
  }

  private stateOf(job: StepJob): RunState {
    return this.awaited.has(job.id) ? "suspended" : getRunState(job);
  }

  private place(nodes: StepOutline[], frame: string): void {
    for (const node of nodes) this.placeOne(node, this.children.get(frame)?.get(node.id) ?? []);
  }

  private placeOne(node: StepOutline, jobs: StepJob[]): void {
    const job = jobs.at(-1);
    if (!job) return;
    const isLoop = node.kind === "loop" || node.kind === "while";
    if (!isLoop && node.kind !== "all") {
      this.note(node, { job, attempts: jobs });
      if (node.kind === "choice") this.placeBranch(node, job);
      return;
    }
    const iterations = listIterations(jobs);
    if (node.kind === "all") {
      this.note(node, { job, attempts: [], state: this.together(node, iterations) });
      for (const each of iterations) this.place(node.bodies[each.index ?? 0]?.nodes ?? [], each.id);
      return;
    }
    const failed = iterations.find((each) => getRunState(each) === "failed");
    const wanted = iterations.find(({ index }) => index === this.picked[node.id]);
    const shown = wanted ?? failed ?? iterations.at(-1)!;
    this.note(node, {
      job: shown,
      attempts: [],
      state: this.together(node, iterations),
      iterations,
      picked: shown.index,
    });
    const body = node.bodies[0]?.nodes ?? [];
    if (isFrame(shown)) this.place(body, shown.id);
    // A loop with a single step has no frame per iteration: the iteration is the step's job.
    else if (body[0]) this.note(body[0], { job: shown, attempts: [shown] });
  }

  private placeBranch(node: StepOutline, job: StepJob): void {
    const inside = this.children.get(job.id);
    const branch = node.bodies.findIndex(({ nodes }) => nodes.some(({ id }) => inside?.has(id)));
    if (branch < 0) return;
    this.seen.get(node.id)!.branch = branch;
    this.place(node.bodies[branch]!.nodes, job.id);
  }

  /** Returns the combined state of iterations or branches. Failures that the flow skips count as successes. */
  private together({ kind, bodies }: StepOutline, jobs: StepJob[]): RunState {
    const states = new Set(
      jobs.map((job) => {
        const state = this.stateOf(job);
        const body = bodies[kind === "all" ? (job.index ?? 0) : 0];
        return state === "failed" && body?.skipsFailures ? "succeeded" : state;
      }),
    );
    const order: RunState[] = ["suspended", "running", "waiting", "failed", "cancelled", "succeeded"];
    return order.find((each) => states.has(each)) ?? "skipped";
  }

  private note(node: StepOutline, seen: Partial<StepRunState> & { job: StepJob; attempts: StepJob[] }): void {
    const state = this.stateOf(seen.job);
    this.seen.set(node.id, { state, iterations: [], picked: undefined, branch: undefined, ...seen });
  }
}
