import { queryOptions, useMutation } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import { notifyError } from "../../../parts/elements/Problem.tsx";
import type { Approval } from "../../../parts/flow/run-model.ts";
import { linkTo } from "../../../parts/navigation/places.ts";

export const flowStepsQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "steps", id],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/jobs/flow/steps/{flow_job_id}",
        { workspace, flow_job_id: id },
        signal,
      ),
  });

/** Loads the version of a flow that a run executes. */
export const flowVersionQuery = (workspace: string, version: number | null | undefined) =>
  queryOptions({
    queryKey: [workspace, "flows", "version", version],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/flows/get/v/{version}",
        { workspace, version: String(version) },
        signal,
      ),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: typeof version === "number",
    retry: false,
  });

interface Start {
  step: string;
  /** Iteration or branch. */
  part: number | undefined;
}

/** Starts a new run that reuses the results of earlier steps. */
export function useRestartRun(workspace: string, id: string) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: ({ step, part }: Start) =>
      callOperation("POST /w/{workspace}/jobs/restart/f/{job_id}", {
        workspace,
        job_id: id,
        body: { step_id: step, ...(part === undefined ? {} : { branch_or_iteration_n: part }) },
      }),
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: [workspace, "runs"] });
      go(linkTo.run(workspace, made.trim()));
    },
    onError: notifyError,
  });
}

const MAX_RESUME_ID = 2 ** 32;

/** Answers an approval in the user's name. */
export function useAnswerApproval(workspace: string, { job_id }: Approval) {
  return useMutation({
    mutationFn: async ({ approved, value }: { approved: boolean; value: Record<string, unknown> }) => {
      const resume_id = String(Math.floor(Math.random() * MAX_RESUME_ID));
      const signature = await callOperation("GET /w/{workspace}/jobs/job_signature/{job_id}/{resume_id}", {
        workspace,
        job_id,
        resume_id,
      });
      const link = { workspace, job_id, resume_id, signature };
      return approved
        ? callOperation("POST /w/{workspace}/jobs_u/resume/{job_id}/{resume_id}/{signature}", {
            ...link,
            body: value,
          })
        : callOperation("POST /w/{workspace}/jobs_u/cancel/{job_id}/{resume_id}/{signature}", {
            ...link,
            body: {},
          });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: [workspace, "runs"] }),
  });
}
