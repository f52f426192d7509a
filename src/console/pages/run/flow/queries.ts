import { queryOptions, useMutation } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { call } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import type { Approval } from "../../../parts/flow/run-model.ts";
import { tellProblem } from "../../../parts/Problem.tsx";
import { to } from "../../../parts/places.ts";

export const flowSteps = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "steps", id],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/jobs/flow/steps/{flow_job_id}", { workspace, flow_job_id: id }, signal),
  });

/** The version of a flow that a run executes. */
export const flowVersion = (workspace: string, version: number | null | undefined) =>
  queryOptions({
    queryKey: [workspace, "flows", "version", version],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/flows/get/v/{version}", { workspace, version: String(version) }, signal),
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
export function useRestart(workspace: string, id: string) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: ({ step, part }: Start) =>
      call("POST /w/{workspace}/jobs/restart/f/{job_id}", {
        workspace,
        job_id: id,
        body: { step_id: step, ...(part === undefined ? {} : { branch_or_iteration_n: part }) },
      }),
    onSuccess: (made) => {
      void queryClient.invalidateQueries({ queryKey: [workspace, "runs"] });
      go(to.run(workspace, made.trim()));
    },
    onError: tellProblem,
  });
}

const MAX_RESUME_ID = 2 ** 32;

/** Answers an approval in the user's name. */
export function useAnswer(workspace: string, { job_id }: Approval) {
  return useMutation({
    mutationFn: async ({ approved, value }: { approved: boolean; value: Record<string, unknown> }) => {
      const resume_id = String(Math.floor(Math.random() * MAX_RESUME_ID));
      const signature = await call("GET /w/{workspace}/jobs/job_signature/{job_id}/{resume_id}", {
        workspace,
        job_id,
        resume_id,
      });
      const link = { workspace, job_id, resume_id, signature };
      return approved
        ? call("POST /w/{workspace}/jobs_u/resume/{job_id}/{resume_id}/{signature}", { ...link, body: value })
        : call("POST /w/{workspace}/jobs_u/cancel/{job_id}/{resume_id}/{signature}", { ...link, body: {} });
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: [workspace, "runs"] }),
  });
}
