import { UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usePolling } from "../../api/live.ts";
import type { Status } from "./filters.ts";
import { queueDepthQuery } from "./queries.ts";

const POLL_INTERVAL_MS = 5_000;

const STATES = [
  { name: "waiting", status: "waiting", label: "waiting for a worker", tone: "waiting" },
  { name: "running", status: "running", label: "running", tone: "busy" },
  { name: "suspended", status: "suspended", label: "waiting for approval or a timer", tone: "quiet" },
] as const;

interface Props {
  workspace: string;
  /** Called to show the jobs that a number counts. */
  choose: (tag: string, status: Status) => void;
}

/** Number of jobs in the queue, by tag; renders nothing if it is empty. */
export function QueueDepth({ workspace, choose }: Props) {
  const depth = useQuery({ ...queueDepthQuery(workspace), ...usePolling(POLL_INTERVAL_MS) }).data;
  const tags = (depth ?? []).filter((each) => STATES.some(({ name }) => each[name] > 0));
  if (tags.length === 0) return null;
  return (
    <ul className="queue" aria-label="Queue">
      {tags.map((each) => (
        <li key={each.tag}>
          <b>{each.tag}</b>
          {STATES.filter(({ name }) => each[name] > 0).map(({ name, status, label, tone }) => (
            <UnstyledButton key={name} fz="sm" data-tone={tone} onClick={() => choose(each.tag, status)}>
              {each[name]} {label}
            </UnstyledButton>
          ))}
        </li>
      ))}
    </ul>
  );
}
