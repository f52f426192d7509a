/** Filters of the run list as URL parameters, one per filter; defaults are omitted. */
import type { Input } from "../../api/call.ts";
import type { RunState } from "../../parts/runs/run-state.tsx";

type Query = NonNullable<Input<"GET /w/{workspace}/jobs/list">["query"]>;

export const STATUSES = [
  "all",
  "running",
  "waiting",
  "suspended",
  "succeeded",
  "failed",
  "cancelled",
  "skipped",
] as const;
export type Status = (typeof STATUSES)[number];

export const KINDS = ["runs", "scripts", "flows", "previews", "everything"] as const;
export type Kind = (typeof KINDS)[number];

export interface Filters {
  status: Status;
  kind: Kind;
  path: string;
  user: string;
  tag: string;
  label: string;
  /** Words in arguments, result, path, labels, creator or id. */
  text: string;
  worker: string;
  trigger: string;
  schedule: string;
  args: string;
  result: string;
  /** ISO 8601, or empty. */
  after: string;
  before: string;
}

const NONE: Filters = {
  status: "all",
  kind: "runs",
  path: "",
  user: "",
  tag: "",
  label: "",
  text: "",
  worker: "",
  trigger: "",
  schedule: "",
  args: "",
  result: "",
  after: "",
  before: "",
};

/** Parses filters from the URL; ignores unknown and invalid values. */
export function parseFilters(search: URLSearchParams): Filters {
  const filters: Filters = { ...NONE };
  for (const name of Object.keys(NONE) as (keyof Filters)[]) {
    const value = search.get(name);
    if (value === null) continue;
    if (name === "status") filters.status = STATUSES.find((each) => each === value) ?? "all";
    else if (name === "kind") filters.kind = KINDS.find((each) => each === value) ?? "runs";
    else if ((name === "after" || name === "before") && Number.isNaN(Date.parse(value))) continue;
    else filters[name] = value;
  }
  return filters;
}

export function serializeFilters(filters: Filters): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    if (value !== NONE[name as keyof Filters]) search.set(name, value);
  }
  return search;
}

/** Counts active filters of the popover. */
export const countPopoverFilters = (filters: Filters): number =>
  (["text", "user", "tag", "label", "worker", "trigger", "schedule", "args", "result"] as const).filter(
    (name) => filters[name] !== "",
  ).length;

const OUTCOMES: Record<Status, Query> = {
  all: {},
  running: { running: true },
  waiting: { running: false },
  suspended: { suspended: true },
  succeeded: { success: true, is_skipped: false },
  failed: { success: false, canceled: false },
  cancelled: { canceled: true },
  skipped: { is_skipped: true },
};

const JOB_KINDS: Record<Kind, Query> = {
  runs: { has_null_parent: true, job_kinds: "script,singlestepflow,flow" },
  scripts: { has_null_parent: true, job_kinds: "script,singlestepflow" },
  flows: { has_null_parent: true, job_kinds: "flow" },
  previews: { has_null_parent: true, job_kinds: "preview,flowpreview" },
  everything: {},
};

/** Converts filters to the query of the API. */
export function toQuery(filters: Filters): Query {
  return {
    ...OUTCOMES[filters.status],
    ...JOB_KINDS[filters.kind],
    script_path_start: filters.path,
    created_by: filters.user,
    tag: filters.tag,
    label: filters.label,
    worker: filters.worker,
    trigger_kind: filters.trigger,
    schedule_path: filters.schedule,
    args: filters.args,
    result: filters.result,
    created_after: filters.after,
    created_before: filters.before,
  };
}

/** Labels of the statuses. */
export const STATUS_LABELS: Record<Status, string> = {
  all: "Any status",
  running: "Running",
  waiting: "Waiting",
  suspended: "Needs approval",
  succeeded: "Succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
  skipped: "Skipped",
};

export const canBeCancelled = (state: RunState): boolean =>
  state === "waiting" || state === "running" || state === "suspended" || state === "scheduled";
