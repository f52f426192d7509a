import { queryOptions } from "@tanstack/react-query";
import { call } from "../../api/call.ts";

const MAX_PLACES = 1_000;

/** Paths of the resources and variables that can hold the secret of callers. */
export const secretPlaces = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "secret-places"],
    queryFn: async ({ signal }) => {
      const query = { per_page: MAX_PLACES };
      const [resources, variables] = await Promise.all([
        call("GET /w/{workspace}/resources/list", { workspace, query }, signal),
        call("GET /w/{workspace}/variables/list", { workspace, query }, signal),
      ]);
      return {
        resources: resources.map(({ path }) => path),
        variables: variables.map(({ path }) => path),
      };
    },
  });
