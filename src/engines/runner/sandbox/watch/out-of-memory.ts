import type { JobError } from "../../types.ts";

const MB = 1024 * 1024;

/** Creates the error of a job over its memory limit. @param bytes used @param limit limit in MB */
export function createOutOfMemoryError(bytes: number, limit: number): JobError {
  const used = Math.ceil(bytes / MB);
  return {
    name: "OutOfMemory",
    message: `the job used ${used} MB of memory, more than the ${limit} MB allowed, and was stopped`,
    memory_mb: used,
    limit_mb: limit,
  };
}
