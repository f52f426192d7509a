/** Names of the resource types of a workspace. */
import { queryOptions } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";

export const resourceTypesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "resources", "type-names"],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/resources/type/listnames", { workspace }, signal),
  });

/** Returns the names if a field of a form has loaded them. */
export const getKnownResourceTypes = (workspace: string): readonly string[] | undefined =>
  queryClient.getQueryData(resourceTypesQuery(workspace).queryKey);
