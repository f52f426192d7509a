import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Job } from "../../api/interface.d.ts";
import { formatDuration, Moment } from "../../parts/elements/time.tsx";
import { type Fact, FactList } from "../../parts/items/FactList.tsx";
import { linkTo } from "../../parts/navigation/places.ts";
import { findDeployedRunnable } from "../../parts/runs/run-state.tsx";
import { TRIGGER_KINDS } from "../../parts/triggers/trigger-kinds.ts";

interface Props {
  workspace: string;
  job: Job;
  memory: number | undefined;
}

function startedBy(workspace: string, { created_by, schedule_path, trigger_kind }: Job): ReactNode {
  if (schedule_path)
    return (
      <>
        the schedule{" "}
        <Anchor component={Link} href={linkTo.schedule(workspace, schedule_path)}>
          {schedule_path}
        </Anchor>
      </>
    );
  const how = TRIGGER_KINDS[trigger_kind ?? ""];
  return how ? `${created_by}, by ${how}` : created_by;
}

/** Formats a size given in kB. */
const size = (kb: number) => (kb < 1_024 ? `${kb} kB` : `${(kb / 1_024).toFixed(0)} MB`);

/** Metadata of a run. */
export function Facts({ workspace, job, memory }: Props) {
  const peak = memory ?? job.mem_peak;
  const { parent_job, root_job } = job;
  const facts: Fact[] = [
    ["Started by", startedBy(workspace, job)],
    ["Queued", <Moment key="" at={job.created_at} />],
  ];
  if (job.started_at) facts.push(["Started", <Moment key="" at={job.started_at} />]);
  if (!job.started_at && job.scheduled_for)
    facts.push(["Scheduled for", <Moment key="" at={job.scheduled_for} />]);
  if (job.duration_ms !== undefined) facts.push(["Duration", formatDuration(job.duration_ms)]);
  if (peak) facts.push(["Peak memory", size(peak)]);
  facts.push(["Tag", job.tag]);
  if (job.worker)
    facts.push([
      "Worker",
      <span key="" className="mono">
        {job.worker}
      </span>,
    ]);
  const runnable = findDeployedRunnable(job);
  if (job.script_hash)
    facts.push([
      "Version",
      runnable?.kind === "script" ? (
        <Anchor
          key=""
          component={Link}
          href={linkTo.scriptVersion(workspace, runnable.path, job.script_hash)}
          className="mono"
        >
          {job.script_hash}
        </Anchor>
      ) : (
        <span key="" className="mono">
          {job.script_hash}
        </span>
      ),
    ]);
  if (job.permissioned_as !== `u/${job.created_by}`) facts.push(["Runs as", job.permissioned_as]);
  if (job.labels?.length) facts.push(["Labels", job.labels.join(", ")]);
  if (parent_job) {
    facts.push([
      "Part of",
      <Anchor key="" component={Link} href={linkTo.run(workspace, root_job ?? parent_job)}>
        another run
      </Anchor>,
    ]);
  }
  if (job.canceled && job.canceled_by) {
    facts.push([
      "Cancelled by",
      job.canceled_reason ? `${job.canceled_by}: ${job.canceled_reason}` : job.canceled_by,
    ]);
  }
  return <FactList facts={facts} />;
}
