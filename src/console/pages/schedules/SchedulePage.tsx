import { Alert, Anchor, Button, Title } from "@mantine/core";
import { IconPencil, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import type { Schedule } from "../../api/interface.d.ts";
import { useLive } from "../../api/live.ts";
import { useQuestion } from "../../parts/actions.tsx";
import { DataTable } from "../../parts/DataTable.tsx";
import { useMayWrite } from "../../parts/items/rights.ts";
import { Loading } from "../../parts/Loading.tsx";
import { PageHead } from "../../parts/PageHead.tsx";
import { Problem } from "../../parts/Problem.tsx";
import { to, useWorkspace } from "../../parts/places.ts";
import { ResultPanel } from "../../parts/result/ResultPanel.tsx";
import { State } from "../../parts/run-state.tsx";
import { duration, Moment } from "../../parts/time.tsx";
import { NextTimes } from "./NextTimes.tsx";
import { oneSchedule, remove, scheduleRuns, useRunNow, useSwitch } from "./queries.ts";
import { inWords } from "./rule.ts";

export default function SchedulePage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  // One that is being deleted is not asked for again.
  const [isLeaving, setLeaving] = useState(false);
  const found = useQuery({ ...oneSchedule(workspace, path), ...useLive(10_000), enabled: !isLeaving });
  const schedule = found.data;
  return (
    <div className="page">
      <PageHead
        title={schedule?.summary || path}
        above={
          <Anchor component={Link} href={to.schedules(workspace)} fz="sm">
            Schedules
          </Anchor>
        }
        about={schedule && (inWords(schedule.schedule) ?? schedule.schedule)}
      >
        {schedule && <Actions workspace={workspace} schedule={schedule} leave={setLeaving} />}
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
  const [, go] = useLocation();
  const mayWrite = useMayWrite(workspace)(path, extra_perms);
  const change = useSwitch(workspace);
  const run = useRunNow(workspace);
  const { ask, dialog } = useQuestion();
  const Icon = enabled ? IconPlayerPause : IconPlayerPlay;
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
        <>
          <Button
            variant="default"
            leftSection={<Icon size={16} />}
            loading={change.isPending}
            onClick={() => change.mutate({ path, enabled: !enabled })}
          >
            {enabled ? "Pause" : "Resume"}
          </Button>
          <Button
            variant="default"
            component={Link}
            href={to.editSchedule(workspace, path)}
            leftSection={<IconPencil size={16} />}
          >
            Edit
          </Button>
          <Button
            variant="default"
            onClick={() =>
              ask({
                title: "Delete the schedule?",
                text: `The schedule ${path} is deleted. What it started stays among the runs, and what runs now goes on.`,
                label: "Delete",
                action: async () => {
                  leave(true);
                  await remove(workspace, path).catch((error) => {
                    leave(false);
                    throw error;
                  });
                  go(to.schedules(workspace));
                  return undefined;
                },
              })
            }
          >
            Delete
          </Button>
          {dialog}
        </>
      )}
    </>
  );
}

function Shown({ workspace, schedule }: { workspace: string; schedule: Schedule }) {
  const { path, script_path, is_flow, timezone, args, error, next_at, enabled, paused_until } = schedule;
  const runs = useQuery({ ...scheduleRuns(workspace, path), ...useLive(10_000) }).data ?? [];
  const facts: [string, ReactNode][] = [
    ["State", enabled ? "On" : "Paused"],
    [
      is_flow ? "Flow" : "Script",
      <Anchor
        key=""
        component={Link}
        href={is_flow ? to.flow(workspace, script_path) : to.script(workspace, script_path)}
      >
        {script_path}
      </Anchor>,
    ],
    [
      "Rule",
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
  if (schedule.on_failure) facts.push(["When it fails", schedule.on_failure]);
  if (schedule.no_flow_overlap) facts.push(["Overlap", "a run begins when the one before has ended"]);
  return (
    <div className="stack">
      {error && (
        <Alert color="red" variant="light" title="The schedule was switched off">
          {error}
        </Alert>
      )}
      {schedule.description && <p className="wrap">{schedule.description}</p>}
      <dl className="facts" style={{ margin: 0 }}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div className="two">
        <NextTimes schedule={schedule.schedule} timezone={timezone} version={schedule.cron_version} />
        <ResultPanel
          title="Arguments"
          workspace={workspace}
          value={Object.keys(args).length > 0 ? args : null}
        />
      </div>
      <Title order={2}>Last runs</Title>
      {runs.length === 0 ? (
        <p className="quiet">It has not run yet.</p>
      ) : (
        <DataTable
          label="Last runs"
          rows={runs}
          keyOf={({ id }) => id}
          columns={[
            { name: "Status", width: "9rem", cell: (job) => <State job={job} /> },
            {
              name: "When",
              width: "minmax(0, 1fr)",
              cell: (job) => (
                <Link href={to.run(workspace, job.id)}>
                  <Moment at={job.started_at ?? job.scheduled_for ?? job.created_at} />
                </Link>
              ),
            },
            {
              name: "Took",
              width: "6rem",
              cell: ({ duration_ms }) => (duration_ms === undefined ? "" : duration(duration_ms)),
            },
          ]}
        />
      )}
    </div>
  );
}
