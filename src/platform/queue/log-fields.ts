import type { Job } from "./tables.ts";

/** What the lines of the log that are about a job name: its id, and the request that asked for it, as its own lines have it. */
export function aboutJob({ id, request_id }: Pick<Job, "id" | "request_id">): {
  job: string;
  request_id?: string;
} {
  return request_id === null ? { job: id } : { job: id, request_id };
}
