import { Alert, Anchor, Button } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import type { Schedule } from "../../../api/interface.d.ts";
import { useMayWrite } from "../../../api/item-rights.ts";
import { usePolling } from "../../../api/live.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { AccessMenu } from "../../../parts/items/access/AccessMenu.tsx";
import { type Fact, FactList } from "../../../parts/items/FactList.tsx";
import { Target } from "../../../parts/items/Target.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { LastRuns } from "../../../parts/runs/LastRuns.tsx";
import { ResultPanel } from "../../../parts/runs/result/ResultPanel.tsx";
import { describeCron } from "../../../parts/triggers/cron.ts";
import { describeRetry, readRetry } from "../RetryInput.tsx";
import { TriggerActions } from "../TriggerActions.tsx";
import { NextTimes } from "./NextTimes.tsx";
import {
  removeSchedule,
  scheduleQuery,
  scheduleRunsQuery,
  useRunScheduleNow,
  useToggleSchedule,
} from "./queries.ts";

export default function SchedulePage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  // A schedule being deleted is not reloaded.
  const [isLeaving, setLeaving] = useState(false);
  const found = useQuery({ ...scheduleQuery(workspace, path), ...usePolling(10_000), enabled: !isLeaving });
  const schedule = found.data;
  return (
    <div className="page">
      <PageHead
        title={schedule?.summary || path}
        above={
          <Anchor component={Link} href={linkTo.schedules(workspace)} fz="sm">
            Schedules
          </Anchor>
        }
        about={schedule && (describeCron(schedule.schedule) ?? schedule.schedule)}
      >
        {schedule && <Actions workspace={workspace} schedule={schedule} leave={setLeaving} />}
        {schedule && <AccessMenu workspace={workspace} kind="schedule" path={path} />}
      </PageHead>
      {schedule ? (
        <Shown workspace={workspace} schedule={schedule} />
      ) : found.error ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

interface ActionsProps {
  workspace: string;
  schedule: Schedule;
  leave: (isLeaving: boolean) => void;
}

function Actions({ workspace, schedule, leave }: ActionsProps) {
  const { path, enabled, extra_perms } = schedule;
  const mayWrite = useMayWrite(workspace)(path, extra_perms);
  const change = useToggleSchedule(workspace);
  const run = useRunScheduleNow(workspace);
  return (
    <>
      <Button
        leftSection={<IconPlayerPlay size={16} />}
        loading={run.isPending}
        onClick={() => run.mutate(schedule)}
      >
        Run now
      </Button>
      {mayWrite && (
        <TriggerActions
          noun="schedule"
          path={path}
          enabled={enabled}
          isSwitching={change.isPending}
          setEnabled={(next) => change.mutate({ path, enabled: next })}
          edit={linkTo.editSchedule(workspace, path)}
          remove={() => removeSchedule(workspace, path)}
          leave={leave}
          back={linkTo.schedules(workspace)}
        />
      )}
    </>
  );
}

/** Names a handler, and after how many runs it starts. */
const describeHandler = (handler: string, times: number | null | undefined, what: string) =>
  (times ?? 1) > 1 ? `${handler}, after ${times} ${what}` : handler;

function Shown({ workspace, schedule }: { workspace: string; schedule: Schedule }) {
  const { path, script_path, is_flow, timezone, args, error, next_at, enabled, paused_until } = schedule;
  const runs = useQuery({ ...scheduleRunsQuery(workspace, path), ...usePolling(10_000) }).data ?? [];
  const facts: Fact[] = [
    ["State", enabled ? "On" : "Paused"],
    [
      is_flow ? "Flow" : "Script",
      <Target key="" workspace={workspace} path={script_path} isFlow={is_flow} />,
    ],
    [
      "Cron expression",
      <span key="" className="mono">
        {schedule.schedule}
      </span>,
    ],
    ["Time zone", timezone],
    ["Path", path],
    ["Runs as", schedule.email],
    ["Last edited", <Moment key="" at={schedule.edited_at} />],
  ];
  if (enabled && next_at) facts.splice(1, 0, ["Next", <Moment key="" at={next_at} />]);
  if (paused_until) facts.push(["Paused until", <Moment key="" at={paused_until} />]);
  const retries = describeRetry(readRetry(schedule));
  if (retries && !is_flow) facts.push(["Retry", retries]);
  if (schedule.on_failure)
    facts.push([
      "When it fails",
      describeHandler(schedule.on_failure, schedule.on_failure_times, "failures"),
    ]);
  if (schedule.on_recovery)
    facts.push([
      "When it recovers",
      describeHandler(schedule.on_recovery, schedule.on_recovery_times, "successes"),
    ]);
  if (schedule.on_success) facts.push(["When it succeeds", schedule.on_success]);
  if (schedule.no_flow_overlap) facts.push(["Overlap", "a run starts only after the previous one has ended"]);
  return (
    <div className="stack">
      {error && (
        <Alert color="red" variant="light" title="The schedule was switched off">
          {error}
        </Alert>
      )}
      {schedule.description && <p className="wrap">{schedule.description}</p>}
      <FactList facts={facts} />
      <div className="two">
        <NextTimes
          schedule={schedule.schedule}
          timezone={timezone}
          version={schedule.cron_version}
          pausedUntil={paused_until}
        />
        <ResultPanel
          title="Arguments"
          workspace={workspace}
          value={Object.keys(args).length > 0 ? args : null}
        />
      </div>
      <LastRuns workspace={workspace} runs={runs} />
    </div>
  );
}
