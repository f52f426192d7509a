/** One line with the result of a step, on its card. */
import { useInViewport } from "@mantine/hooks";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { callOperation } from "../../../../api/call.ts";
import { queryClient } from "../../../../api/client.ts";
import { isRecord, writeJson } from "../../../../api/json.ts";
import { useWorkspace } from "../../../../parts/navigation/places.ts";
import { isLeftOut } from "../../../../parts/runs/result/whole-value.ts";
import { jobResultQuery } from "../values.ts";

const SHOWN_CHARACTERS = 80;

/** Loads the result of a job as one line. It is loaded once, because the result of a completed job never changes. */
const resultLineQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "result-line", id],
    async queryFn({ signal }) {
      const loaded: unknown = queryClient.getQueryData(jobResultQuery(workspace, id).queryKey);
      if (loaded !== undefined) return summarize(loaded);
      const query = { no_logs: true, no_code: true };
      const job = await callOperation("GET /w/{workspace}/jobs_u/get/{id}", { workspace, id, query }, signal);
      if (job.type !== "CompletedJob") return "";
      return isLeftOut(job, "result") ? "a large result" : summarize(job.result);
    },
    staleTime: "static",
  });

/**
 * Shows the result of a completed job in one line.
 * @param id id of the completed job, which is loaded when the card becomes visible
 */
export function ResultLine({ id }: { id: string }) {
  const workspace = useWorkspace();
  const { ref, inViewport } = useInViewport<HTMLSpanElement>();
  const line = useQuery({ ...resultLineQuery(workspace, id), enabled: inViewport, retry: false }).data;
  return (
    <span ref={ref} className="step-result clip mono">
      {line}
    </span>
  );
}

function summarize(result: unknown): string {
  const error = isRecord(result) && isRecord(result.error) ? result.error.message : undefined;
  const text = typeof error === "string" ? error : writeJson(result ?? null);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
