import { IconCircleCheck, IconCircleX } from "@tabler/icons-react";
import { Link } from "wouter";
import { formatDuration } from "../../../parts/elements/time.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";

interface Props {
  workspace: string;
  /** Newest first. */
  jobs: { id: string; success: boolean; duration_ms: number }[];
}

const MAX_SHOWN = 6;

/** Outcomes of the last runs, newest at the right. */
export function Outcomes({ workspace, jobs }: Props) {
  if (jobs.length === 0) return <span className="quiet">none yet</span>;
  return (
    <span className="outcomes">
      {jobs
        .slice(0, MAX_SHOWN)
        .reverse()
        .map(({ id, success, duration_ms }) => {
          const Icon = success ? IconCircleCheck : IconCircleX;
          const said = `${success ? "Succeeded" : "Failed"} after ${formatDuration(duration_ms)}`;
          return (
            <Link
              key={id}
              href={linkTo.run(workspace, id)}
              aria-label={said}
              title={said}
              data-tone={success ? "good" : "bad"}
            >
              <Icon size={16} aria-hidden />
            </Link>
          );
        })}
    </span>
  );
}
