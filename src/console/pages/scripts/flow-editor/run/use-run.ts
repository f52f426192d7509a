/** The run whose states and values are shown in the editor. */
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { callOperation } from "../../../../api/call.ts";
import { isRecord } from "../../../../api/json.ts";
import { usePolling } from "../../../../api/live.ts";
import { runQuery } from "../../../../api/runs.ts";
import { createOutline, type Picked, RunModel, type StepJob } from "../../../../parts/flow/run-model.ts";
import { buildTree } from "../../../../parts/flow/tree.ts";
import { isLeftOut } from "../../../../parts/runs/result/whole-value.ts";
import type { EarlierRun } from "../context.ts";
import type { FlowDocument } from "../model/document.ts";
import { useStableValue } from "../use-stable-value.ts";

/** Loads the newest completed run of the flow, whose values are shown until the user runs it. */
export const useLatestRun = (workspace: string, path: string, isWanted: boolean) =>
  useQuery({
    queryKey: [workspace, "runs", "latest-of", path],
    queryFn: async ({ signal }) => {
      const query = { script_path_exact: path, job_kinds: "flow", per_page: 1 };
      const found = await callOperation(
        "GET /w/{workspace}/jobs/completed/list",
        { workspace, query },
        signal,
      );
      return found[0]?.id ?? null;
    },
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  }).data ?? undefined;

/**
 * Loads a run of the flow and assigns its jobs to the steps.
 * @param id of the run; undefined: nothing is shown
 * @param picked the selected iteration of each loop
 */
export function useRun(workspace: string, flow: FlowDocument, id: string | undefined, picked: Picked) {
  const live = usePolling(1_000);
  const job = useQuery({
    ...runQuery(workspace, id ?? ""),
    enabled: id !== undefined,
    ...live,
    refetchInterval: (query) => (query.state.data?.type === "CompletedJob" ? false : 1_000),
  }).data;
  const isOpen = job?.type === "QueuedJob";
  const steps = useQuery({
    queryKey: [workspace, "runs", "drawn-steps", id, isOpen],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/jobs/flow/steps/{flow_job_id}",
        { workspace, flow_job_id: id! },
        signal,
      ),
    enabled: id !== undefined && job !== undefined,
    refetchInterval: isOpen ? 1_000 : false,
    placeholderData: (before) => before,
    retry: false,
  }).data;
  const outline = useMemo(() => {
    const { nodes: all, failure } = buildTree(flow.value);
    return (failure ? [...all, failure] : all).map(createOutline);
  }, [flow.value]);
  const nodes = useStableValue(outline);
  const model = useMemo(
    () => (id && steps ? new RunModel(nodes, id, steps, picked) : undefined),
    [nodes, id, steps, picked],
  );
  const input = job && !isLeftOut(job, "args") && isRecord(job.args) ? job.args : undefined;
  const earlier = useMemo((): EarlierRun | undefined => {
    if (!id || !model) return undefined;
    const jobs = new Map<string, StepJob>();
    const gathered = new Set<string>();
    const loops = new Map<string, { iterations: StepJob[]; picked: number }>();
    for (const [step, { job: last, attempts, state, iterations, picked: index = 0 }] of model.seen) {
      if (iterations.length > 0) loops.set(step, { iterations, picked: index });
      if (attempts.length > 0 && last) jobs.set(step, last);
      else if (state === "succeeded") gathered.add(step);
    }
    return { id, input, jobs, gathered, loops };
  }, [id, model, input]);
  return { job, model, earlier, isOpen, version: steps?.version ?? undefined };
}
