import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import type { Job } from "../../api/interface.d.ts";
import { notifyError } from "../../parts/elements/Problem.tsx";
import { linkTo } from "../../parts/navigation/places.ts";
import type { Source } from "../../parts/runs/result/views/ErrorView.tsx";

/** Loads the executed version of a script. */
const scriptVersionQuery = (workspace: string, hash: string | undefined) =>
  queryOptions({
    queryKey: [workspace, "scripts", "version", hash],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/scripts/get/h/{hash}", { workspace, hash: hash! }, signal),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: hash !== undefined,
    retry: false,
  });

/** Returns the code of a failed run: that of the job (previews), else of the script version. */
export function useRunSource(workspace: string, job: Job | undefined): Source | undefined {
  const wanted = job?.success === false && !job.raw_code ? job.script_hash : undefined;
  const version = useQuery(scriptVersionQuery(workspace, wanted)).data;
  const code = job?.raw_code ?? version?.content;
  return code === undefined ? undefined : { path: job?.script_path, code };
}

export function useCancelRun(workspace: string) {
  return useMutation({
    mutationFn: (id: string) =>
      callOperation("POST /w/{workspace}/jobs_u/queue/cancel/{id}", { workspace, id, body: {} }),
    onError: notifyError,
    onSettled: () => queryClient.invalidateQueries({ queryKey: [workspace, "runs"] }),
  });
}

/** Reruns with the same arguments. The server copies them; they are not sent by the browser. */
export function useRerun(workspace: string) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: async (id: string) => {
      const made = await callOperation("POST /w/{workspace}/jobs/run/batch_rerun_jobs", {
        workspace,
        body: { job_ids: [id] },
      });
      const [first = ""] = made.split("\n");
      if (!/^[0-9a-f-]{36}$/.test(first)) throw new Error(first);
      return first;
    },
    onSuccess: (id) => go(linkTo.run(workspace, id)),
    onError: notifyError,
  });
}
