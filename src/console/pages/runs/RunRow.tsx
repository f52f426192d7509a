import { memo } from "react";
import { Link } from "wouter";
import type { Job } from "../../api/interface.d.ts";
import { formatDuration, Moment } from "../../parts/elements/time.tsx";
import { linkTo } from "../../parts/navigation/places.ts";
import { formatRunName, getRunState, State } from "../../parts/runs/run-state.tsx";

interface Props {
  workspace: string;
  job: Job;
  chosen: boolean;
  choose: (id: string, chosen: boolean) => void;
}

export const RunRow = memo(function RunRow({ workspace, job, chosen, choose }: Props) {
  const name = formatRunName(job);
  const waits = getRunState(job) === "scheduled";
  return (
    <div className="row run-row" role="row" {...(chosen ? { "data-chosen": true } : {})}>
      <div role="cell">
        {/* Rendering a hundred of Mantine's components would take half of the list's rendering time. */}
        <input
          type="checkbox"
          className="row-check"
          aria-label={`Select the run of ${name}`}
          checked={chosen}
          onChange={(event) => choose(job.id, event.currentTarget.checked)}
        />
      </div>
      <div role="cell" className="run-state">
        <State job={job} />
      </div>
      <div role="cell" className="run-path clip">
        <Link href={linkTo.run(workspace, job.id)} style={{ fontWeight: 500 }} title={name}>
          {name}
        </Link>
      </div>
      <div role="cell" className="run-by clip quiet" title={job.schedule_path ?? job.created_by}>
        {job.schedule_path ? "schedule" : job.created_by}
      </div>
      <div role="cell" className="run-time quiet">
        <Moment at={job.started_at ?? (waits ? job.scheduled_for : undefined) ?? job.created_at} />
      </div>
      <div role="cell" className="run-long quiet">
        {job.duration_ms === undefined ? "" : formatDuration(job.duration_ms)}
      </div>
    </div>
  );
});
