import { queryOptions, useMutation } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { call, type Input } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { allowLeaving } from "../../../api/leaving.ts";
import { tellProblem } from "../../../parts/Problem.tsx";
import { to } from "../../../parts/places.ts";

export const MAX_ROUTES = 1_000;

export const routeList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "routes", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/http_triggers/list", { workspace, query: { per_page: MAX_ROUTES } }, signal),
  });

export const oneRoute = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "routes", "one", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/http_triggers/get/{path}", { workspace, path }, signal),
  });

/** Runs that a route started. @param script_path path of its script or flow; the query uses its index */
export const routeRuns = (workspace: string, path: string, script_path: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "of-route", path, script_path],
    queryFn: ({ signal }) => {
      const by = { script_path_exact: script_path, trigger_kind: "http", created_by: `http-${path}` };
      const query = { ...by, per_page: 12 };
      return call("GET /w/{workspace}/jobs/list", { workspace, query }, signal);
    },
  });

const refresh = (workspace: string) => () =>
  queryClient.invalidateQueries({ queryKey: [workspace, "routes"] });

export function useSwitchRoute(workspace: string) {
  return useMutation({
    mutationFn: ({ path, enabled }: { path: string; enabled: boolean }) =>
      call("POST /w/{workspace}/http_triggers/setenabled/{path}", { workspace, path, body: { enabled } }),
    onError: tellProblem,
    onSettled: refresh(workspace),
  });
}

export const removeRoute = async (workspace: string, path: string) => {
  await call("DELETE /w/{workspace}/http_triggers/delete/{path}", { workspace, path });
  await refresh(workspace)();
};

export type RouteFields = Input<"POST /w/{workspace}/http_triggers/create">["body"];

/** Returns the stored fields of a route that the form does not show; an update must send them again. */
export function unshownFields(route: HttpTrigger | undefined): Partial<RouteFields> {
  if (!route) return {};
  const { raw_string, wrap_body, is_static_website, static_asset_config, retry } = route;
  return {
    raw_string,
    wrap_body,
    is_static_website,
    static_asset_config: static_asset_config ?? null,
    retry: retry as RouteFields["retry"],
  };
}

export function useSaveRoute(workspace: string, existing: string | undefined) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: async (body: RouteFields) => {
      if (existing === undefined) await call("POST /w/{workspace}/http_triggers/create", { workspace, body });
      else await call("POST /w/{workspace}/http_triggers/update/{path}", { workspace, path: existing, body });
      await refresh(workspace)();
      return body.path;
    },
    onSuccess: (path) => {
      allowLeaving();
      go(to.route(workspace, path));
    },
  });
}
