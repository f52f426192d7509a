/** One line with the result of a step, on its card. */
import { useInViewport } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { isRecord, writeJson } from "../../../../api/json.ts";
import { oneRun } from "../../../../parts/following.ts";
import { useWorkspace } from "../../../../parts/places.ts";

const SHOWN_CHARACTERS = 80;

/** @param id id of the completed job, which is loaded when the card becomes visible */
export function ResultLine({ id }: { id: string }) {
  const workspace = useWorkspace();
  const { ref, inViewport } = useInViewport<HTMLSpanElement>();
  const job = useQuery({
    ...oneRun(workspace, id),
    enabled: inViewport,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  }).data;
  return (
    <span ref={ref} className="step-result clip mono">
      {job?.type === "CompletedJob" ? summarize(job.result) : ""}
    </span>
  );
}

function summarize(result: unknown): string {
  const error = isRecord(result) && isRecord(result.error) ? result.error.message : undefined;
  const text = typeof error === "string" ? error : writeJson(result ?? null);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
