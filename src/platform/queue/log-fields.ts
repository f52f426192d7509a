import type { Job } from "./tables.ts";

/** Returns the log fields of a job: its id, and the id of the request that submitted it. */
export function getLogFields({ id, request_id }: Pick<Job, "id" | "request_id">): {
  job: string;
  request_id?: string;
} {
  return request_id === null ? { job: id } : { job: id, request_id };
}
