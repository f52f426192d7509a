import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";

export const MAX_VARIABLES = 1_000;

export const variableList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "variables", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/variables/list", { workspace, query: { per_page: MAX_VARIABLES } }, signal),
  });
