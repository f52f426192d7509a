/** The query of a run, for all who show it. */
import { queryOptions } from "@tanstack/react-query";
import { callOperation } from "./call.ts";

export const runQuery = (workspace: string, id: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "one", id],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/jobs_u/get/{id}",
        { workspace, id, query: { no_logs: true } },
        signal,
      ),
  });
