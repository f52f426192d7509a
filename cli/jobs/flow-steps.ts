/** The progress of a flow run: a line for each step, with the steps inside running ones. */

import type { FlowModule, FlowValue } from "../../src/engines/flow-engine/types.ts";
import { listBodies } from "../../src/features/runs/flows/modules.ts";
import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { getFlowByPath } from "../client/operations/code.ts";
import { getJobById } from "../client/operations/runs.ts";
import type { ServiceClient } from "../client/transport.ts";
import { formatStepTitle } from "../terminal/tree/flow-tree.ts";
import type { StepLine, StepState } from "../terminal/tree/step-tree.ts";
import type { JobRef } from "./follow.ts";

type FlowStatus = NonNullable<JobRecord["flow_status"]>;
type Status = FlowStatus["modules"][number] & {
  flow_jobs?: string[];
  flow_jobs_success?: (boolean | null)[];
  iterator?: { itered_len?: number };
  branchall?: { len: number };
  branch_chosen?: { type: string; branch?: number };
  skipped?: boolean;
};

/** Reads one run repeatedly; completed jobs are read once. */
export class FlowSteps {
  readonly #client: ServiceClient;
  readonly #root: JobRef;
  readonly #ended = new Map<string, JobRecord>();
  #value: Promise<FlowValue | undefined> | undefined;

  constructor(client: ServiceClient, root: JobRef) {
    this.#client = client;
    this.#root = root;
  }

  async readLines(): Promise<StepLine[]> {
    const record = await this.#job(this.#root.id);
    this.#value ??= this.#steps(record);
    const value = await this.#value;
    if (!value || !record.flow_status) return [];
    const { modules, failure_module, preprocessor_module } = value;
    const { flow_status } = record;
    const lines = await this.#frameLines(modules, flow_status);
    const failure = flow_status.failure_module as Status;
    const preprocessor = flow_status.preprocessor_module as Status | undefined;
    return [
      ...(preprocessor_module && preprocessor
        ? await this.#lines([preprocessor_module], [preprocessor])
        : []),
      ...lines,
      ...(failure_module && failure.job ? await this.#lines([failure_module], [failure]) : []),
    ];
  }

  async #job(id: string): Promise<JobRecord> {
    const known = this.#ended.get(id);
    if (known) return known;
    const { workspace } = this.#root;
    const record = await this.#client.call(getJobById, { workspace, id, query: { no_logs: true } });
    if (record.type === "CompletedJob") this.#ended.set(id, record);
    return record;
  }

  async #steps({ raw_flow, script_path }: JobRecord): Promise<FlowValue | undefined> {
    if (raw_flow !== undefined) return raw_flow as FlowValue;
    const { workspace } = this.#root;
    const path = script_path ?? "";
    return this.#client.call(getFlowByPath, { workspace, path }).then(
      ({ value }) => value as FlowValue,
      () => undefined,
    );
  }

  /** Returns the steps of a frame. If the frame waits for approval, the step before its current one requested it. */
  async #frameLines(modules: FlowModule[], flow_status: FlowStatus): Promise<StepLine[]> {
    const lines = await this.#lines(modules, flow_status.modules as Status[]);
    if (flow_status.approval_conditions === undefined) return lines;
    const asking = flow_status.step - 1;
    return lines.map((line, index) => {
      if (index === asking) return { ...line, state: "approval" };
      return line.state === "approval" ? { ...line, state: "waiting" } : line;
    });
  }

  async #lines(modules: FlowModule[], statuses: Status[]): Promise<StepLine[]> {
    return Promise.all(
      modules.map((module) =>
        this.#line(
          module,
          statuses.find(({ id }) => id === module.id),
        ),
      ),
    );
  }

  async #line(module: FlowModule, status: Status | undefined): Promise<StepLine> {
    const state = stepState(status);
    const line = {
      id: module.id,
      job: status?.job,
      title: formatStepTitle(module),
      state,
      ms: undefined,
      count: undefined,
      inner: [],
    };
    if (!status?.job) return line;
    const count = formatIterations(status);
    // While iterations run, the newest is shown.
    if (count !== undefined && state !== "running") {
      return { ...line, count, ms: await this.#tookTogether(status.flow_jobs ?? []) };
    }
    const record = await this.#job(status.job);
    const body = findBody(module, status);
    const inner = body && record.flow_status ? await this.#frameLines(body, record.flow_status) : [];
    return { ...line, count, inner, ms: state === "waiting" ? undefined : measureMs(record) };
  }

  /** Returns the time from the start of the first iteration to the end of the last. */
  async #tookTogether(ids: string[]): Promise<number | undefined> {
    const [first, last] = [ids[0], ids.at(-1)];
    if (first === undefined || last === undefined) return undefined;
    const [a, b] = await Promise.all([this.#job(first), this.#job(last)]);
    return toMilliseconds(b.completed_at ?? b.created_at) - toMilliseconds(a.created_at);
  }
}

function stepState(status: Status | undefined): StepState {
  if (status?.skipped) return "skipped";
  switch (status?.type) {
    case "InProgress":
      return "running";
    case "WaitingForEvents":
      return "approval";
    case "Success":
      return "success";
    case "Failure":
      return "failure";
    default:
      return "waiting";
  }
}

function formatIterations({ flow_jobs_success, iterator, branchall }: Status): string | undefined {
  if (!flow_jobs_success) return undefined;
  const ended = flow_jobs_success.filter((success) => success !== null).length;
  return `${ended} of ${iterator?.itered_len ?? branchall?.len ?? flow_jobs_success.length}`;
}

/** Finds the steps that run inside a step. */
function findBody(module: FlowModule, { branch_chosen }: Status): FlowModule[] | undefined {
  const bodies = listBodies(module);
  if (module.value.type !== "branchone") return bodies.length === 1 ? bodies[0]!.modules : undefined;
  return branch_chosen?.type === "branch"
    ? bodies[branch_chosen.branch ?? 0]?.modules
    : bodies.at(-1)?.modules;
}

function measureMs({ type, duration_ms, started_at }: JobRecord): number | undefined {
  if (type === "CompletedJob") return duration_ms;
  return started_at === undefined ? undefined : Math.max(0, Date.now() - toMilliseconds(started_at));
}

function toMilliseconds(moment: Date | string): number {
  return new Date(moment).getTime();
}
