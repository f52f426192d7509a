import { queryOptions } from "@tanstack/react-query";
import { callOperation } from "../../../api/call.ts";

export const MAX_VARIABLES = 1_000;

export const variablesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "variables", "list"],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/variables/list",
        { workspace, query: { per_page: MAX_VARIABLES } },
        signal,
      ),
  });
