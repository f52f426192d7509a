/** Scatter plot of start times and durations. Dragging selects a time range, a click opens the run of a dot. */
import { useElementSize } from "@mantine/hooks";
import { type PointerEvent, useState } from "react";
import type { Job } from "../../api/interface.d.ts";
import { formatDuration } from "../../parts/elements/time.tsx";
import { formatRunName, getRunState, STATES } from "../../parts/runs/run-state.tsx";

const HEIGHT_PX = 112;
const TOP_PX = 24;
const BOTTOM_PX = 88;
const PADDING_PX = 14;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const DAY_MS = 86_400_000;
/** Shorter drags count as clicks. */
const MIN_DRAG_PX = 8;
/** How far from a dot a click may be. */
const REACH_PX = 9;

interface Props {
  runs: Job[];
  choose: (after: string, before: string) => void;
  open: (id: string) => void;
}

export function Strip({ runs, choose, open }: Props) {
  const { ref, width } = useElementSize();
  const [span, setSpan] = useState<[number, number]>();
  const dots = runs.flatMap((job) => {
    if (!job.started_at) return [];
    const at = Date.parse(job.started_at);
    return [{ job, at, ms: job.duration_ms ?? Date.now() - at }];
  });
  if (dots.length < 2) return null;
  const times = dots.map(({ at }) => at);
  const first = Math.min(...times);
  const last = Math.max(...times, first + 1_000);
  const longest = Math.max(...dots.map(({ ms }) => ms), 10);
  const x = (at: number) => PADDING_PX + ((at - first) / (last - first)) * (width - 2 * PADDING_PX);
  // Logarithmic: durations range from milliseconds to hours.
  const y = (ms: number) =>
    BOTTOM_PX - (Math.log10(Math.max(ms, 1)) / Math.log10(longest)) * (BOTTOM_PX - TOP_PX);
  const place = (event: PointerEvent<SVGSVGElement>) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const moment = (at: number) =>
    new Date(first + ((at - PADDING_PX) / (width - 2 * PADDING_PX)) * (last - first)).toISOString();
  const finish = (event: PointerEvent<SVGSVGElement>) => {
    if (span && Math.abs(span[1] - span[0]) >= MIN_DRAG_PX) {
      const [from, until] = span[0] < span[1] ? span : [span[1], span[0]];
      choose(moment(from), moment(until));
    } else if (span) {
      const down = event.clientY - event.currentTarget.getBoundingClientRect().top;
      const [nearest] = dots
        .map(({ job, at, ms }) => ({ id: job.id, far: Math.hypot(x(at) - span[0], y(ms) - down) }))
        .sort((a, b) => a.far - b.far);
      if (nearest && nearest.far <= REACH_PX) open(nearest.id);
    }
    setSpan(undefined);
  };
  const label = (at: number) => (last - first > DAY_MS ? dayAndClock : clock).format(at);
  return (
    <div ref={ref}>
      <svg
        className="strip"
        role="img"
        aria-label={`${dots.length} runs between ${label(first)} and ${label(last)}, the longest ${formatDuration(longest)}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setSpan([place(event), place(event)]);
        }}
        onPointerMove={(event) => {
          const at = place(event);
          setSpan((before) => before && [before[0], at]);
        }}
        onPointerUp={finish}
        onPointerCancel={() => setSpan(undefined)}
      >
        <line className="rule" x1={0} x2={width} y1={BOTTOM_PX + 4} y2={BOTTOM_PX + 4} />
        <text x={PADDING_PX} y={HEIGHT_PX - 7}>
          {label(first)}
        </text>
        <text x={width - PADDING_PX} y={HEIGHT_PX - 7} textAnchor="end">
          {label(last)}
        </text>
        <text x={width - PADDING_PX} y={13} textAnchor="end">
          {formatDuration(longest)}
        </text>
        {dots.map(({ job, at, ms }) => {
          const { tone, word } = STATES[getRunState(job)];
          return (
            <circle key={job.id} className="dot" data-tone={tone} cx={x(at)} cy={y(ms)} r={3.2}>
              <title>{`${formatRunName(job)}: ${word}, ${formatDuration(ms)}`}</title>
            </circle>
          );
        })}
        {span && (
          <rect
            className="span"
            x={Math.min(...span)}
            width={Math.abs(span[1] - span[0])}
            y={0}
            height={HEIGHT_PX}
          />
        )}
      </svg>
    </div>
  );
}
