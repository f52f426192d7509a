import { keepPreviousData, queryOptions, useMutation } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { callOperation, type Input } from "../../../api/call.ts";
import { queryClient } from "../../../api/client.ts";
import type { Schedule } from "../../../api/interface.d.ts";
import { allowLeaving } from "../../../api/leaving.ts";
import { notifyError } from "../../../parts/elements/Problem.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";

export const MAX_SCHEDULES = 1_000;
const SHOWN_TIMES = 10;

export const schedulesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "schedules", "list"],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/schedules/list_with_jobs",
        { workspace, query: { per_page: MAX_SCHEDULES } },
        signal,
      ),
  });

export const scheduleQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "schedules", "one", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/schedules/get/{path}", { workspace, path }, signal),
  });

/** Loads the next times of a cron expression; an error if it is invalid. */
export const nextTimesQuery = (
  schedule: string,
  timezone: string,
  cron_version?: string | null,
  paused_until?: string | null,
) =>
  queryOptions({
    queryKey: ["schedule-preview", schedule, timezone, cron_version, paused_until],
    queryFn: ({ signal }) =>
      callOperation(
        "POST /schedules/preview",
        {
          body: {
            schedule,
            timezone,
            cron_version: cron_version ?? null,
            paused_until: paused_until ?? null,
            count: SHOWN_TIMES,
          },
        },
        signal,
      ),
    enabled: schedule.trim() !== "",
    retry: false,
    placeholderData: keepPreviousData,
  });

export const scheduleRunsQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "of-schedule", path],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/jobs/list",
        { workspace, query: { schedule_path: path, per_page: 12 } },
        signal,
      ),
  });

const refresh = (workspace: string) => () =>
  queryClient.invalidateQueries({ queryKey: [workspace, "schedules"] });

export function useToggleSchedule(workspace: string) {
  return useMutation({
    mutationFn: ({ path, enabled }: { path: string; enabled: boolean }) =>
      callOperation("POST /w/{workspace}/schedules/setenabled/{path}", {
        workspace,
        path,
        body: { enabled },
      }),
    onError: notifyError,
    onSettled: refresh(workspace),
  });
}

/** Runs the schedule's script or flow now, with its arguments. */
export function useRunScheduleNow(workspace: string) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: ({ script_path, is_flow, args }: Pick<Schedule, "script_path" | "is_flow" | "args">) => {
      const input = { workspace, path: script_path, body: args };
      return is_flow
        ? callOperation("POST /w/{workspace}/jobs/run/f/{path}", input)
        : callOperation("POST /w/{workspace}/jobs/run/p/{path}", input);
    },
    onSuccess: (id) => go(linkTo.run(workspace, id.trim())),
    onError: notifyError,
  });
}

export const removeSchedule = async (workspace: string, path: string) => {
  await callOperation("DELETE /w/{workspace}/schedules/delete/{path}", { workspace, path });
  await refresh(workspace)();
};

export type ScheduleFields = Input<"POST /w/{workspace}/schedules/create">["body"];

export function useSaveSchedule(workspace: string, existing: string | undefined) {
  const [, go] = useLocation();
  return useMutation({
    mutationFn: async (body: ScheduleFields) => {
      if (existing === undefined)
        await callOperation("POST /w/{workspace}/schedules/create", { workspace, body });
      else {
        const { path: _path, script_path: _script, is_flow: _flow, enabled: _enabled, ...rest } = body;
        await callOperation("POST /w/{workspace}/schedules/update/{path}", {
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
      go(linkTo.schedule(workspace, path));
    },
  });
}
