import { queryOptions, useMutation } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation, type Input } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import { allowLeaving } from "../../../api/leaving.ts";
import { notifyError } from "../../../parts/elements/Problem.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";

export const MAX_SOCKETS = 1_000;

export const socketsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "sockets", "list"],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/websocket_triggers/list",
        { workspace, query: { per_page: MAX_SOCKETS } },
        signal,
      ),
  });

export const socketQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "sockets", "one", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/websocket_triggers/get/{path}", { workspace, path }, signal),
  });

/** Loads the runs that a trigger started. @param script_path path of its script or flow; the query uses its index */
export const socketRunsQuery = (workspace: string, path: string, script_path: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "of-socket", path, script_path],
    queryFn: ({ signal }) => {
      const by = { script_path_exact: script_path, trigger_kind: "websocket", created_by: `ws-${path}` };
      const query = { ...by, per_page: 12 };
      return callOperation("GET /w/{workspace}/jobs/list", { workspace, query }, signal);
    },
  });

const refresh = (workspace: string) => () =>
  queryClient.invalidateQueries({ queryKey: [workspace, "sockets"] });

export function useToggleSocket(workspace: string) {
  return useMutation({
    mutationFn: ({ path, enabled }: { path: string; enabled: boolean }) =>
      callOperation("POST /w/{workspace}/websocket_triggers/setenabled/{path}", {
        workspace,
        path,
        body: { enabled },
      }),
    onError: notifyError,
    onSettled: refresh(workspace),
  });
}

export const removeSocket = async (workspace: string, path: string) => {
  await callOperation("DELETE /w/{workspace}/websocket_triggers/delete/{path}", { workspace, path });
  await refresh(workspace)();
};

export type SocketFields = Input<"POST /w/{workspace}/websocket_triggers/create">["body"];

export function useSaveSocket(workspace: string, existing: string | undefined) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: async (body: SocketFields) => {
      if (existing === undefined)
        await callOperation("POST /w/{workspace}/websocket_triggers/create", { workspace, body });
      else {
        const { enabled: _enabled, ...rest } = body;
        await callOperation("POST /w/{workspace}/websocket_triggers/update/{path}", {
          workspace,
          path: existing,
          body: rest,
        });
      }
      await refresh(workspace)();
      return body.path;
    },
    onSuccess: (path) => {
      allowLeaving();
      go(linkTo.socket(workspace, path));
    },
  });
}
