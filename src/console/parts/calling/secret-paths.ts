import { queryOptions } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";

const MAX_PLACES = 1_000;

/** Loads the paths of the resources and variables that can hold the secret of callers. */
export const secretPathsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "secret-places"],
    queryFn: async ({ signal }) => {
      const query = { per_page: MAX_PLACES };
      const [resources, variables] = await Promise.all([
        callOperation("GET /w/{workspace}/resources/list", { workspace, query }, signal),
        callOperation("GET /w/{workspace}/variables/list", { workspace, query }, signal),
      ]);
      return {
        resources: resources.map(({ path }) => path),
        variables: variables.map(({ path }) => path),
      };
    },
  });
