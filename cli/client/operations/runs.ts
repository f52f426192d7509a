import type * as cancel from "../../../src/features/runs/api/change/cancel-operations.ts";
import type * as list from "../../../src/features/runs/api/lists/list-operations.ts";
import type * as completed from "../../../src/features/runs/api/read/completed-operations.ts";
import type * as environment from "../../../src/features/runs/api/read/environment-operations.ts";
import type * as read from "../../../src/features/runs/api/read/operations.ts";
import type * as step from "../../../src/features/runs/api/read/step-operations.ts";
import type * as batch from "../../../src/features/runs/api/run/batch-operations.ts";
import type * as preview_ from "../../../src/features/runs/api/run/preview-operations.ts";
import type * as run from "../../../src/features/runs/api/run/run-operations.ts";
import type * as preview from "../../../src/features/runs/api/run-flow/preview-operations.ts";
import type * as approvals from "../../../src/features/runs/approvals/operations.ts";
import { remote } from "../remote-operation.ts";

export const cancelQueuedJob = remote<typeof cancel.cancelQueuedJob>(
  "POST",
  "/w/{workspace}/jobs_u/queue/cancel/{id}",
  "text",
);
export const forceCancelQueuedJob = remote<typeof cancel.forceCancelQueuedJob>(
  "POST",
  "/w/{workspace}/jobs_u/queue/force_cancel/{id}",
  "text",
);

export const listJobs = remote<typeof list.listJobs>("GET", "/w/{workspace}/jobs/list", "json");

export const getCompletedJobResult = remote<typeof completed.getCompletedJobResult>(
  "GET",
  "/w/{workspace}/jobs_u/completed/get_result/{id}",
  "raw",
);

export const getResourceValueInterpolated = remote<typeof environment.getResourceValueInterpolated>(
  "GET",
  "/w/{workspace}/resources/get_value_interpolated/{path}",
  "json",
);

export const getJobById = remote<typeof read.getJobById>("GET", "/w/{workspace}/jobs_u/get/{id}", "json");
export const getJobLogs = remote<typeof read.getJobLogs>(
  "GET",
  "/w/{workspace}/jobs_u/get_logs/{id}",
  "text",
);
export const getJobUpdateStream = remote<typeof read.getJobUpdateStream>(
  "GET",
  "/w/{workspace}/jobs_u/getupdate_sse/{id}",
  "raw",
);

export const listFlowSteps = remote<typeof step.listFlowSteps>(
  "GET",
  "/w/{workspace}/jobs/flow/steps/{flow_job_id}",
  "json",
);

export const runFlowPreview = remote<typeof preview.runFlowPreview>(
  "POST",
  "/w/{workspace}/jobs/run/preview_flow",
  "text",
);

export const batchRerunJobs = remote<typeof batch.batchRerunJobs>(
  "POST",
  "/w/{workspace}/jobs/run/batch_rerun_jobs",
  "text",
);

export const runPreview = remote<typeof preview_.runPreview>(
  "POST",
  "/w/{workspace}/jobs/run/preview",
  "text",
);

export const runFlowByPath = remote<typeof run.runFlowByPath>(
  "POST",
  "/w/{workspace}/jobs/run/f/{path}",
  "text",
);
export const runScriptByPath = remote<typeof run.runScriptByPath>(
  "POST",
  "/w/{workspace}/jobs/run/p/{path}",
  "text",
);

export const getResumeUrls = remote<typeof approvals.getResumeUrls>(
  "GET",
  "/w/{workspace}/jobs/resume_urls/{job_id}/{resume_id}",
  "json",
);
