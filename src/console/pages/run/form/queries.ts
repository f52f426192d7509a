import { useMutation, useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import { linkTo, type RunnableKind } from "../../../parts/navigation/places.ts";

/** Loads the arguments of an earlier run. */
export const useEarlierArguments = (workspace: string, run: string | null) =>
  useQuery({
    queryKey: [workspace, "runs", "args", run],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/jobs_u/get_args/{id}", { workspace, id: run! }, signal),
    enabled: run !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });

export function useStartRun(workspace: string, kind: RunnableKind, path: string) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: ({ args, at }: { args: Record<string, unknown>; at: string | undefined }) => {
      const input = { workspace, path, body: args, query: { scheduled_for: at } };
      return kind === "script"
        ? callOperation("POST /w/{workspace}/jobs/run/p/{path}", input as never)
        : callOperation("POST /w/{workspace}/jobs/run/f/{path}", input as never);
    },
    onSuccess: (id: string) => {
      void queryClient.invalidateQueries({ queryKey: [workspace, "runs"] });
      go(linkTo.run(workspace, id.trim()));
    },
  });
}
