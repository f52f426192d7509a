/** Loads arguments and results that are too large for a run's record. */
import { queryOptions } from "@tanstack/react-query";
import { getOperationUrl, sendRequest } from "../../../api/call.ts";
import type { Job } from "../../../api/interface.d.ts";
import { parseJson } from "../../../api/json.ts";

export type Part = "args" | "result";

/** Placeholder of a large value in a record. */
const TOO_BIG = "WINDMILL_TOO_BIG";

const OPERATIONS = {
  args: "GET /w/{workspace}/jobs_u/get_args/{id}",
  result: "GET /w/{workspace}/jobs_u/completed/get_result/{id}",
} as const;

/** Larger values are loaded only on request, because of the memory they need. */
const MAX_READ_BYTES = 16_000_000;
const KEPT_MS = 30_000;

export const isLeftOut = (job: Job, part: Part): boolean =>
  part === "result"
    ? job.result === TOO_BIG
    : (job.args as Record<string, unknown> | undefined)?.reason === TOO_BIG;

export const getPartUrl = (workspace: string, id: string, part: Part): string =>
  getOperationUrl(OPERATIONS[part], { workspace, id });

/** Reads the text of a response up to a limit. @returns undefined if the text is longer than `most` bytes */
async function readText(response: Response, most: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const reader = response.body!.getReader();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > most) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Loads the whole value; `{}` if it is too long and was not requested explicitly. */
export const wholeValueQuery = (workspace: string, id: string, part: Part, isAsked: boolean) =>
  queryOptions({
    queryKey: [workspace, "runs", "whole", id, part, isAsked],
    async queryFn({ signal }): Promise<{ value?: unknown }> {
      const response = await sendRequest(OPERATIONS[part], { workspace, id }, signal);
      const text = await readText(response, isAsked ? Number.POSITIVE_INFINITY : MAX_READ_BYTES);
      return text === undefined ? {} : { value: parseJson(text) };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
    structuralSharing: false,
  });
