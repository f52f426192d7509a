/** Finding jobs: what the server filters is asked of it, the rest is picked from what it answers. */
import { listJobs } from "../../src/features/runs/api/lists/list-operations.ts";
import type { JobRecord } from "../../src/features/runs/job/records.ts";
import type { Client } from "../client/transport.ts";
import { momentBack, wholeNumber } from "../program/options.ts";
import { type STATES, stateOf } from "./summary.ts";

/** As given on the command line. */
export interface ListOptions {
  status?: (typeof STATES)[number];
  path?: string;
  pathStart?: string;
  createdBy?: string;
  label?: string;
  tag?: string;
  kind?: string;
  since?: string;
  before?: string;
  limit: string;
  page: string;
}

export interface Filter {
  query: object;
  /** What no query tells apart: failed and canceled ones both had no success. */
  pick: "failure" | "canceled" | undefined;
  limit: number;
  /** From 1. */
  page: number;
}

/** What the server is asked for the jobs in a state. */
const ASKED = {
  queued: { running: false },
  running: { running: true },
  success: { success: true },
  failure: { success: false },
  canceled: { success: false },
};

const MOST = 10_000;
const MOST_PAGES = 1_000_000;

/** @throws a usage error */
export function readFilter(options: ListOptions): Filter {
  const { status, since, before } = options;
  return {
    query: {
      ...(status && ASKED[status]),
      script_path_exact: options.path,
      script_path_start: options.pathStart,
      created_by: options.createdBy,
      label: options.label,
      tag: options.tag,
      job_kinds: options.kind,
      created_after: since === undefined ? undefined : momentBack("--since", since),
      created_before: before === undefined ? undefined : momentBack("--before", before),
    },
    pick: status === "failure" || status === "canceled" ? status : undefined,
    limit: wholeNumber("--limit", options.limit, MOST, 1),
    page: wholeNumber("--page", options.page, MOST_PAGES, 1),
  };
}

/** One page of the jobs that match, newest first. */
export async function findJobs(client: Client, workspace: string, filter: Filter): Promise<JobRecord[]> {
  const { query, pick, limit, page } = filter;
  if (!pick) return client.call(listJobs, { workspace, query: { ...query, page, per_page: limit } });
  const found: JobRecord[] = [];
  for await (const job of allJobs(client, workspace, query)) {
    if (stateOf(job) === pick && found.push(job) === page * limit) break;
  }
  return found.slice((page - 1) * limit);
}

const PAGE = 1000;

/** One after the other, each once: while pages are asked for, jobs that end move others to the next one. */
async function* allJobs(client: Client, workspace: string, query: object): AsyncGenerator<JobRecord> {
  const seen = new Set<string>();
  for (let page = 1; ; page++) {
    const some = await client.call(listJobs, { workspace, query: { ...query, page, per_page: PAGE } });
    for (const job of some) {
      if (!seen.has(job.id)) yield job;
      seen.add(job.id);
    }
    if (some.length < PAGE) return;
  }
}
