import { Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { nextTimesQuery } from "./queries.ts";
import { formatInZone } from "./time-zones.ts";

interface Props {
  schedule: string;
  timezone: string;
  version: string | null | undefined;
  /** Times until then are left out. */
  pausedUntil?: string | null | undefined;
}

/** The next times of a cron expression, in its time zone. */
export function NextTimes({ schedule, timezone, version, pausedUntil }: Props) {
  const { data, error } = useQuery(nextTimesQuery(schedule, timezone, version, pausedUntil));
  if (error) return <Problem error={error} />;
  const times = data ?? [];
  const shown = formatInZone(times, timezone);
  return (
    <section className="panel" aria-label="Next times">
      <div className="panel-head">
        <Title order={2}>Next times</Title>
        <span className="quiet">{timezone}</span>
      </div>
      <ol className="times">
        {times.map((at, nth) => (
          <li key={at}>
            <time dateTime={at}>{shown[nth]}</time>
          </li>
        ))}
      </ol>
    </section>
  );
}
