import { Button, Center, Checkbox } from "@mantine/core";
import { useState } from "react";
import { formatDuration } from "../../../parts/elements/time.tsx";
import type { StepJob } from "../../../parts/flow/run-model.ts";
import { getRunState, STATES } from "../../../parts/runs/run-state.tsx";

const PAGE = 300;
/** Deeper rows are not indented further. */
const MAX_INDENT = 8;

interface Props {
  root: string;
  steps: StepJob[];
  titles: ReadonlyMap<string, string>;
  /** The job whose step is selected. */
  selected: string | undefined;
  select: (job: StepJob) => void;
}

interface Row {
  job: StepJob;
  depth: number;
  /** Submission time, Unix milliseconds. */
  asked: number;
  began: number;
  ended: number;
}

/** Sorts the jobs as a tree, by start time. */
function listRows(root: string, steps: StepJob[], now: number): Row[] {
  const inside = new Map<string, StepJob[]>();
  for (const job of steps) {
    const siblings = inside.get(job.parent_job);
    if (siblings) siblings.push(job);
    else inside.set(job.parent_job, [job]);
  }
  const rows: Row[] = [];
  const walk = (parent: string, depth: number) => {
    for (const job of inside.get(parent) ?? []) {
      const asked = Date.parse(job.created_at);
      const began = job.started_at ? Date.parse(job.started_at) : now;
      const ended = job.completed_at ? Date.parse(job.completed_at) : now;
      rows.push({ job, depth, asked, began: Math.min(began, ended), ended });
      walk(job.id, depth + 1);
    }
  };
  walk(root, 0);
  return rows;
}

/** Waterfall chart of a run's jobs: waiting time and run time of each. */
export function Timeline({ root, steps, titles, selected, select }: Props) {
  const [shown, setShown] = useState(PAGE);
  const [isFailedOnly, setFailedOnly] = useState(false);
  const all = listRows(root, steps, Date.now());
  const failed = all.filter(({ job }) => getRunState(job) === "failed");
  const rows = isFailedOnly && failed.length > 0 ? failed : all;
  const from = all.reduce((least, { asked }) => Math.min(least, asked), Number.POSITIVE_INFINITY);
  const until = all.reduce((most, { ended }) => Math.max(most, ended), 0);
  const span = Math.max(1, until - from);
  const percent = (ms: number) => `${((100 * ms) / span).toFixed(3)}%`;
  return (
    <div className="timeline">
      {failed.length > 0 && failed.length < all.length && (
        <Checkbox
          size="xs"
          p="xs"
          label={`Only what failed, ${failed.length} of ${all.length}`}
          checked={isFailedOnly}
          onChange={(event) => setFailedOnly(event.currentTarget.checked)}
        />
      )}
      <div className="timeline-scale quiet" aria-hidden>
        <span />
        <span className="timeline-marks">
          <span>0</span>
          <span>{formatDuration(span / 2)}</span>
          <span>{formatDuration(span)}</span>
        </span>
      </div>
      {rows.slice(0, shown).map(({ job, depth, asked, began, ended }) => {
        const { tone, word } = STATES[getRunState(job)];
        const name = titles.get(job.step_id) ?? job.step_id;
        return (
          <button
            type="button"
            key={job.id}
            className="timeline-row"
            aria-pressed={job.id === selected}
            onClick={() => select(job)}
          >
            <span className="clip" style={{ paddingLeft: `${Math.min(depth, MAX_INDENT)}rem` }}>
              {name}
              {job.index !== undefined && <span className="quiet"> {job.index + 1}</span>}
            </span>
            <span className="timeline-bar" data-tone={tone}>
              <i className="wait" style={{ left: percent(asked - from), width: percent(began - asked) }} />
              <i className="work" style={{ left: percent(began - from), width: percent(ended - began) }} />
            </span>
            <span className="quiet timeline-took">
              {job.duration_ms === undefined ? word : formatDuration(job.duration_ms)}
            </span>
          </button>
        );
      })}
      {rows.length > shown && (
        <Center p="sm">
          <Button variant="default" size="xs" onClick={() => setShown(shown + PAGE)}>
            Show {Math.min(PAGE, rows.length - shown)} more
          </Button>
        </Center>
      )}
    </div>
  );
}
