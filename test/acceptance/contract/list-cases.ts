/** Values that are tried for each query parameter of each list. */
import { STORED_KINDS } from "../../../src/features/triggers/common/stored/kinds.ts";
import type { NewJob } from "../../../src/platform/queue/tables.ts";
import { HOUR, idOf } from "../../support/job-rows.ts";

/** Creation time of a row: the given number of hours after the first. */
export const createdAt = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * HOUR);
const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));
const paged = { page: "page=2&per_page=1", per_page: "per_page=1" };

/** Properties of one job in each half, by which filters distinguish it. */
export const ODD_NAMES = {
  created_by: "bob",
  labels: ["blue"],
  parent_job: idOf(1),
  script_path: "u/admin/other",
  script_hash: "00000000000000bb",
  schedule_path: "u/admin/hourly",
  kind: "preview",
  args: '{"x":1}',
  tag: "gpu",
  flow_step_id: "a",
  worker: "host-2-fghij",
  trigger_kind: "schedule",
  concurrency_key: "key",
} satisfies Partial<NewJob>;

export const jobFilters: Record<string, string> = {
  ...paged,
  order_desc: "order_desc=false",
  created_by: "created_by=bob",
  label: "label=blue",
  parent_job: `parent_job=${idOf(1)}`,
  script_path_exact: "script_path_exact=u/admin/other",
  script_path_start: "script_path_start=u/admin/ot",
  schedule_path: "schedule_path=u/admin/hourly",
  script_hash: "script_hash=00000000000000bb",
  started_before: `started_before=${createdAt(3).toISOString()}`,
  started_after: `started_after=${createdAt(4).toISOString()}`,
  created_before: `created_before=${createdAt(2).toISOString()}`,
  created_after: `created_after=${createdAt(2).toISOString()}`,
  success: "success=false",
  canceled: "canceled=true",
  job_kinds: "job_kinds=preview",
  args: `args=${json({ x: 1 })}`,
  result: `result=${json({ y: 1 })}`,
  tag: "tag=gpu",
  is_skipped: "is_skipped=true",
  include_args: "include_args=true",
  is_flow_step: "is_flow_step=true",
  has_null_parent: "has_null_parent=true",
  is_not_schedule: "is_not_schedule=true",
  all_workspaces: "all_workspaces=true",
  worker: "worker=host-2-fghij",
  allow_wildcards: "tag=g*&allow_wildcards=true | tag=g*",
  trigger_kind: "trigger_kind=schedule",
  running: "running=true",
  scheduled_for_before_now: "scheduled_for_before_now=true",
  suspended: "suspended=true",
  created_or_started_before: `created_or_started_before=${createdAt(2).toISOString()}`,
  created_or_started_after: `created_or_started_after=${createdAt(4).toISOString()}`,
  created_or_started_after_completed_jobs: `created_or_started_after_completed_jobs=${createdAt(4).toISOString()}`,
  concurrency_key: "concurrency_key=key",
  row_limit: "row_limit=1",
};

const audit = {
  ...paged,
  before: "before=2020-01-01T00:00:00Z",
  after: "after=2100-01-01T00:00:00Z",
  username: "username=nobody",
  operation: "operation=scripts.create",
  operations: "operations=scripts.create",
  exclude_operations: "exclude_operations=scripts.create",
  resource: "resource=u/admin/one",
  action_kind: "action_kind=Delete",
};

const deployed = {
  ...paged,
  order_desc: "order_desc=false",
  created_by: "created_by=nobody",
  path_start: "path_start=u/admin/two",
  path_exact: "path_exact=u/admin/one",
  starred_only: "starred_only=true",
};

/** These rows have no creator. */
const { created_by: _, ...rest } = deployed;

const triggers = {
  ...paged,
  path: "path=u/admin/two",
  is_flow: "is_flow=true",
  path_start: "path_start=u/admin/two",
};

const { page: _p, per_page: _pp, order_desc: _o, all_workspaces: _a, ...searchFilters } = jobFilters;
const { concurrency_key: _c, row_limit: _r, ...found } = searchFilters;
const { page: _n, per_page: _s, ...exported } = audit;
/** Everything that completed within the time of the rows. */
const LONG = "100000000";

/** By list and parameter: a query whose response must differ from that of the query after `|`, or from none. */
export const CASES: Record<string, Record<string, string>> = {
  listJobs: jobFilters,
  listQueue: jobFilters,
  listCompletedJobs: jobFilters,
  listFilteredJobsUuids: jobFilters,
  listFilteredQueueUuids: jobFilters,
  listExtendedJobs: jobFilters,
  listScripts: {
    ...deployed,
    show_archived: "show_archived=true",
    include_draft_only: "include_draft_only=true",
    include_without_main: "include_without_main=true",
    is_template: "is_template=true",
    parent_hash: "parent_hash=first",
    first_parent_hash: "first_parent_hash=first",
    last_parent_hash: "last_parent_hash=first",
    kinds: "kinds=trigger",
    languages: "languages=python3",
    with_deployment_msg: "with_deployment_msg=true",
  },
  listFlows: {
    ...deployed,
    show_archived: "show_archived=true",
    include_draft_only: "include_draft_only=true",
    with_deployment_msg: "with_deployment_msg=true",
    without_description: "without_description=true",
    dedicated_worker: "dedicated_worker=true",
  },
  listApps: {
    ...deployed,
    include_draft_only: "include_draft_only=true",
    with_deployment_msg: "with_deployment_msg=true",
  },
  listRawApps: rest,
  listSchedules: { ...triggers, args: `args=${json({ x: 1 })}` },
  listSchedulesWithJobs: paged,
  listHttpTriggers: triggers,
  listWebsocketTriggers: triggers,
  ...Object.fromEntries(STORED_KINDS.map(({ name }) => [`list${name}Triggers`, triggers])),
  listVariables: { ...paged, path_start: "path_start=u/admin/two" },
  listResources: {
    ...paged,
    resource_type: "resource_type=b",
    resource_type_exclude: "resource_type_exclude=b",
    path_start: "path_start=u/admin/two",
    path: "path=u/admin/two",
    description: "description=second",
    value: `value=${json({ x: 2 })}`,
  },
  listFolders: paged,
  listFolderNames: { only_member_of: "only_member_of=true" },
  listGroups: paged,
  listGroupNames: { only_member_of: "only_member_of=true" },
  listInputs: {
    ...paged,
    runnable_id: "runnable_id=u/admin/two",
    runnable_type: "runnable_type=FlowPath",
  },
  listAuditLogs: audit,
  listAllAuditLogs: { ...audit, workspace: "workspace=none" },
  listTokens: { ...paged, email: "email=stranger@example.org", exclude_ephemeral: "exclude_ephemeral=true" },
  listUsersAsSuperAdmin: { ...paged, active_only: "active_only=true" },
  listWorkspacesAsSuperAdmin: paged,
  searchJobsIndex: {
    ...found,
    include_args: "include_args=false",
    search_query: "search_query=nowhere",
    pagination_offset: "pagination_offset=1",
  },
  listCaptures: { ...paged, trigger_kind: "trigger_kind=http" },
  getQueueCount: { all_workspaces: "all_workspaces=true", tags: "tags=gpu" },
  countCompletedJobs: {
    completed_after_s_ago: "completed_after_s_ago=1",
    success: "success=false",
    tags: "tags=gpu",
    all_workspaces: "all_workspaces=true",
  },
  countJobsByTag: {
    horizon_secs: `horizon_secs=${LONG} | horizon_secs=1`,
    workspace_id: `horizon_secs=${LONG}&workspace_id=none | horizon_secs=${LONG}`,
  },
  exportCompletedJobs: paged,
  exportQueuedJobs: paged,
  getInputHistory: {
    ...paged,
    runnable_id: "runnable_id=u/admin/two",
    runnable_type: "runnable_type=FlowPath",
    args: `args=${json({ x: 1 })}`,
    include_preview: "runnable_id=u/admin/two&include_preview=true | runnable_id=u/admin/two",
  },
  getCriticalAlerts: {
    page: "page=2&page_size=1",
    page_size: "page_size=1",
    acknowledged: "acknowledged=true",
  },
  exportAuditLogs: exported,
  exportAllAuditLogs: { ...exported, workspace: "workspace=none" },
};
