/** Lists jobs: filters on the server where it can, and here otherwise. */

import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { listJobs } from "../client/operations/runs.ts";
import type { ServiceClient } from "../client/transport.ts";
import { parsePastTime, parseWholeNumber } from "../program/options.ts";
import { getJobState, type STATES } from "./summary.ts";

/** Options of the command line. */
export interface ListOptions {
  status?: (typeof STATES)[number];
  path?: string;
  prefix?: string;
  by?: string;
  label?: string;
  tag?: string;
  kind?: string;
  since?: string;
  before?: string;
  limit: string;
  page: string;
}

export interface ListFilter {
  query: object;
  /** Filtered on the client: the query `success=false` does not distinguish failed and canceled jobs. */
  pick: "failure" | "canceled" | undefined;
  limit: number;
  /** Counted from 1. */
  page: number;
}

/** Query fields for each state. */
const STATE_QUERIES = {
  queued: { running: false },
  running: { running: true, suspended: false },
  waiting: { suspended: true },
  success: { success: true },
  failure: { success: false },
  canceled: { success: false },
};

const MAX_LIMIT = 10_000;
const MAX_PAGES = 1_000_000;

/** Converts the options of `svc job list` to a filter. @throws a usage error */
export function readFilter(options: ListOptions): ListFilter {
  const { status, since, before } = options;
  return {
    query: {
      ...(status && STATE_QUERIES[status]),
      script_path_exact: options.path,
      script_path_start: options.prefix,
      created_by: options.by,
      label: options.label,
      tag: options.tag,
      job_kinds: options.kind,
      created_after: since === undefined ? undefined : parsePastTime("--since", since),
      created_before: before === undefined ? undefined : parsePastTime("--before", before),
    },
    pick: status === "failure" || status === "canceled" ? status : undefined,
    limit: parseWholeNumber("--limit", options.limit, MAX_LIMIT, 1),
    page: parseWholeNumber("--page", options.page, MAX_PAGES, 1),
  };
}

/** Lists one page of matching jobs, newest first. */
export async function listMatchingJobs(
  client: ServiceClient,
  workspace: string,
  filter: ListFilter,
): Promise<JobRecord[]> {
  const { query, pick, limit, page } = filter;
  if (!pick) return client.call(listJobs, { workspace, query: { ...query, page, per_page: limit } });
  const found: JobRecord[] = [];
  for await (const job of readAllJobs(client, workspace, query)) {
    if (getJobState(job) === pick && found.push(job) === page * limit) break;
  }
  return found.slice((page - 1) * limit);
}

const PAGE_SIZE = 1000;

/** Yields each job once, although jobs that complete in the meantime move others to the next page. */
async function* readAllJobs(
  client: ServiceClient,
  workspace: string,
  query: object,
): AsyncGenerator<JobRecord> {
  const seen = new Set<string>();
  for (let page = 1; ; page++) {
    const some = await client.call(listJobs, { workspace, query: { ...query, page, per_page: PAGE_SIZE } });
    for (const job of some) {
      if (!seen.has(job.id)) yield job;
      seen.add(job.id);
    }
    if (some.length < PAGE_SIZE) return;
  }
}
