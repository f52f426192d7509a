import { queryOptions, useMutation } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation, type Input } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { allowLeaving } from "../../../api/leaving.ts";
import { notifyError } from "../../../parts/elements/Problem.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";

export const MAX_ROUTES = 1_000;

export const routesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "routes", "list"],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/http_triggers/list",
        { workspace, query: { per_page: MAX_ROUTES } },
        signal,
      ),
  });

export const routeQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "routes", "one", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/http_triggers/get/{path}", { workspace, path }, signal),
  });

/** Loads the runs that a route started. @param script_path path of its script or flow; the query uses its index */
export const routeRunsQuery = (workspace: string, path: string, script_path: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "of-route", path, script_path],
    queryFn: ({ signal }) => {
      const by = { script_path_exact: script_path, trigger_kind: "http", created_by: `http-${path}` };
      const query = { ...by, per_page: 12 };
      return callOperation("GET /w/{workspace}/jobs/list", { workspace, query }, signal);
    },
  });

const refresh = (workspace: string) => () =>
  queryClient.invalidateQueries({ queryKey: [workspace, "routes"] });

export function useToggleRoute(workspace: string) {
  return useMutation({
    mutationFn: ({ path, enabled }: { path: string; enabled: boolean }) =>
      callOperation("POST /w/{workspace}/http_triggers/setenabled/{path}", {
        workspace,
        path,
        body: { enabled },
      }),
    onError: notifyError,
    onSettled: refresh(workspace),
  });
}

export const removeRoute = async (workspace: string, path: string) => {
  await callOperation("DELETE /w/{workspace}/http_triggers/delete/{path}", { workspace, path });
  await refresh(workspace)();
};

export type RouteFields = Input<"POST /w/{workspace}/http_triggers/create">["body"];

/** Returns the stored fields of a route that the form does not show; an update must send them again. */
export function pickUnshownFields(route: HttpTrigger | undefined): Partial<RouteFields> {
  if (!route) return {};
  const { raw_string, wrap_body, is_static_website, static_asset_config } = route;
  return {
    raw_string,
    wrap_body,
    is_static_website,
    static_asset_config: static_asset_config ?? null,
  };
}

export function useSaveRoute(workspace: string, existing: string | undefined) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: async (body: RouteFields) => {
      if (existing === undefined)
        await callOperation("POST /w/{workspace}/http_triggers/create", { workspace, body });
      else
        await callOperation("POST /w/{workspace}/http_triggers/update/{path}", {
          workspace,
          path: existing,
          body,
        });
      await refresh(workspace)();
      return body.path;
    },
    onSuccess: (path) => {
      allowLeaving();
      go(linkTo.route(workspace, path));
    },
  });
}
